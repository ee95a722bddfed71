"""Sparse matrices for the examples, by partita or by SciPy.

A generated matrix is the same for every number of ranks. With NumPy, SciPy takes it over whole.
"""

import partita


def whole_for_numpy(np, tensor):
    """A sparse tensor as it is, or as an array of SciPy."""
    return tensor if np is partita else tensor.gather()


def solvers(np):
    """The module with `cg` and its neighbours."""
    if np is partita:
        return partita.sparse.linalg
    import scipy.sparse.linalg

    return scipy.sparse.linalg


def largest_in_rows(np, matrix):
    """The largest element of each row, zeros that are not stored included."""
    found = matrix.max(axis=1)
    return found if np is partita else found.toarray().reshape(-1)
