"""Ready-made preconditioners, which need no other rank when they are applied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.parts import array_of, part
from partita._functions.elementwise import conj
from partita._functions.products import diagonal
from partita._functions.searching import count_nonzero
from partita._partita import Layout, Whole
from partita._team.together import together
from partita.linalg.given import float_type
from partita.sparse.base import Base
from partita.sparse.linalg.operators import LinearOperator, MatrixOperator, aslinearoperator
from partita.sparse.linalg.system import rows_layout
from partita.sparse.slices import Slices
from partita.sparse.teams import part_on
from partita.sparse.telling import telling

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._team.team import Team

Local = np.ndarray[Any, Any]


@telling
def jacobi(A: Any) -> LinearOperator:
    """Return the inverse of a matrix's diagonal. Collective."""
    matrix = _matrix(A)
    # A sparse tensor has its own diagonal.
    entries: Any = diagonal(matrix) if isinstance(matrix, Array) else matrix.diagonal()
    n = entries.shape[0]
    n_zeros = n - int(count_nonzero(entries))
    if n_zeros:
        message = f"a diagonal with {n_zeros} zeros has no inverse"
        raise ValueError(f"{message}; use block_jacobi, or a matrix without them")
    inverse = 1 / entries
    inverse.sync()
    back = conj(inverse) if inverse.dtype.kind == "c" else inverse
    return LinearOperator(
        (n, n),
        lambda x: x * inverse,
        lambda x: x * back,
        lambda x: x * inverse[:, None],
        inverse.dtype,
        lambda x: x * back[:, None],
        team=matrix.team,
    )


@telling
def block_jacobi(A: Any) -> LinearOperator:
    """Return the inverse of what each rank's rows have in its own columns. Collective.

    Blocks are factorised by SciPy where it is installed, else inverted as dense matrices. More
    ranks have smaller blocks: the steps that a solver needs depend on their number.
    """
    matrix = _matrix(A)
    operator = MatrixOperator(matrix)
    n = operator.shape[0]
    team: Team = matrix.team
    layout = rows_layout(operator, n, team)
    dtype = float_type(matrix.dtype)
    rows, columns, values = _own_block(matrix, layout, team)
    side = layout.local_shape(team.rank)[0]
    solve, solve_back = together(
        team, lambda: _factorised(rows, columns, values.astype(dtype), side)
    )

    def applied(work: Callable[[Local], Local], x: Array) -> Array:
        own = part_on(x, layout, team)
        kind = np.result_type(own.dtype, dtype)
        made = _in_parts(work, own) if kind.kind == "c" and dtype.kind != "c" else work(own)
        return array_of(np.ascontiguousarray(made, kind), layout, team)

    return LinearOperator(
        (n, n),
        lambda x: applied(solve, x),
        lambda x: applied(solve_back, x),
        dtype=dtype,
        team=team,
    )


def _in_parts(work: Callable[[Local], Local], own: Local) -> Local:
    """Real blocks solve for both parts of complex numbers."""
    real, imaginary = (np.ascontiguousarray(one) for one in (own.real, own.imag))
    return work(real) + 1j * work(imaginary)


def _matrix(given: Any) -> Any:
    operator = aslinearoperator(given)
    if not isinstance(operator, MatrixOperator):
        message = "an operator shows no elements"
        raise TypeError(f"{message}; make the preconditioner of a sparse or dense matrix")
    if operator.shape[0] != operator.shape[1]:
        raise ValueError(f"a matrix of shape {operator.shape}; expected a square matrix")
    return operator.matrix


def _own_block(matrix: Any, layout: Layout, team: Team) -> tuple[Local, Local, Local]:
    """Entries of this rank's rows and columns, by their positions among these. Collective."""
    axis = Slices(layout)
    if isinstance(matrix, Base):
        held: Any = matrix
        # Where its rows lie well, no rank asks another: the next meeting finds what differs.
        team.say(f"block_jacobi of {held._words}")
        rows_here = _rows_of(matrix.shape, layout, team)
        if held.layout != rows_here:
            held = held.redistribute(layout=rows_here)
        coords = held._slices.globalized(held.slice_id, held._block.all_coords())
        values = held._block.data
    else:
        own = part(matrix, _rows_of(matrix.shape, layout, team))
        places = np.nonzero(own)
        mine = layout.globalize(team.rank, np.arange(len(own))[:, None])[:, 0]
        coords, values = [mine[places[0]], places[1]], own[places]
    (row_owner, (rows,)), (column_owner, (columns,)) = (axis.ranks([one]) for one in coords)
    here = (row_owner == team.rank) & (column_owner == team.rank)
    return rows[here], columns[here], values[here]


def _rows_of(shape: tuple[int, ...], layout: Layout, team: Team) -> Layout:
    return Layout(shape, [*(layout.maps or ()), Whole()], grid=(team.size, 1))


def _factorised(
    rows: Local, columns: Local, values: Local, side: int
) -> tuple[Callable[[Local], Local], Callable[[Local], Local]]:
    """Functions that solve with a block, and with its conjugate transposed."""
    if side == 0:
        return (lambda x: x), (lambda x: x)
    try:
        import scipy.sparse as sp
        from scipy.sparse.linalg import splu
    except ImportError:
        return _inverted(rows, columns, values, side)
    block = sp.coo_array((values, (rows, columns)), shape=(side, side)).tocsc()
    try:
        factors = splu(block)
    except RuntimeError as error:
        raise np.linalg.LinAlgError(f"a diagonal block has no inverse ({error})") from error
    kind = values.dtype
    return (
        lambda x: factors.solve(x.astype(kind)),
        lambda x: factors.solve(x.astype(kind), "H"),
    )


def _inverted(
    rows: Local, columns: Local, values: Local, side: int
) -> tuple[Callable[[Local], Local], Callable[[Local], Local]]:
    dense = np.zeros((side, side), values.dtype)
    np.add.at(dense, (rows, columns), values)
    inverse = np.linalg.inv(dense)
    back = np.ascontiguousarray(inverse.conj().T)
    return (lambda x: inverse @ x), (lambda x: back @ x)
