"""Rows of other ranks as people write it today: mpi4py, NumPy and SciPy."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp


class AlltoallvRows:
    """Rows of a matrix whose ranks hold blocks of rows: two rounds of Alltoallv.

    The first tells owners which rows are wanted, and wanting ranks how long these are; the second
    brings columns and values.
    """

    def __init__(self, comm, own: sp.csr_array, starts: Sequence[int]) -> None:
        self.comm, self.own, self.starts = comm, own, np.asarray(starts)

    def __call__(self, wanted: np.ndarray) -> sp.csr_array:
        """The rows, in the order in which they are wanted."""
        comm, own = self.comm, self.own
        owners = np.searchsorted(self.starts, wanted, side="right") - 1
        order = np.argsort(owners, kind="stable")
        places = (wanted - self.starts[owners])[order]
        n_asked = np.bincount(owners, minlength=comm.size)
        n_given = np.empty(comm.size, np.int64)
        comm.Alltoall(n_asked, n_given)
        given = np.empty(n_given.sum(), np.int64)
        comm.Alltoallv([places, n_asked], [given, n_given])
        taken = own[given]
        lengths = np.diff(taken.indptr)
        came = np.empty(len(wanted), lengths.dtype)
        comm.Alltoallv([lengths, n_given], [came, n_asked])
        cuts = np.concatenate([[0], np.cumsum(n_given)])
        leaving = np.diff(taken.indptr[cuts])
        ends = np.concatenate([[0], np.cumsum(came)])
        coming = np.diff(ends[np.concatenate([[0], np.cumsum(n_asked)])])
        columns = np.empty(ends[-1], taken.indices.dtype)
        values = np.empty(ends[-1], taken.data.dtype)
        comm.Alltoallv([taken.indices, leaving], [columns, coming])
        comm.Alltoallv([taken.data, leaving], [values, coming])
        found = sp.csr_array((values, columns, ends), shape=(len(wanted), own.shape[1]))
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return found[back]


def petsc_product(comm, own: sp.csr_array, n: int):
    """A function that multiplies with PETSc on the same ranks; none where it is not installed."""
    try:
        from petsc4py import PETSc
    except ImportError:
        return None
    kind = PETSc.IntType
    lines = (own.indptr.astype(kind), own.indices.astype(kind), own.data)
    matrix = PETSc.Mat().createAIJ(((own.shape[0], n), (own.shape[0], n)), csr=lines, comm=comm)
    x, y = matrix.createVecs()
    x.set(1.0)
    return lambda: matrix.mult(x, y)
