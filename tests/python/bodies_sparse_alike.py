"""Bodies of tests of sparse tensors whose ranks do not do the same: all of them are told."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import raised, tensor

import partita as pt
import partita.sparse as ps
from partita.sparse import DistTensor

Work = Callable[[DistTensor], Any]


def _tensor(layout: str = "block(last), *", seed: int = 1) -> DistTensor:
    return DistTensor.from_scipy(tensor((7, 6), "float64", seed), layout=layout)


def _refused(team: pt.Team, work: Callable[[], Any]) -> None:
    """With one rank nobody differs."""
    if team.size == 1:
        work()
    else:
        raised(work, pt.MismatchError)


def indices(team: pt.Team) -> None:
    """Each rank has another index: a number, a list, a longer list, a slice, a mask."""
    last = team.rank == team.size - 1 and team.size > 1
    keys: list[Any] = [
        (0, team.rank),
        (team.rank, slice(None)),
        (slice(None), [team.rank]),
        list(range(team.rank + 1)),
        slice(0, 2 + last),
        ([0, 1], [1, team.rank]),
        [last] * 7,
    ]
    for layout in ["block(last), *", "*, block", "*, *"]:
        t = _tensor(layout)
        for key in keys:
            _refused(team, lambda t=t, key=key: t[key])  # type: ignore[misc]
    # What says the same in other words is the same.
    assert _tensor()[-7 if last else 0, 0 if last else -6] == _tensor()[0, 0]
    wanted = _tensor()[[0, 1]].gather().toarray()
    assert (_tensor()[[-7, -6] if last else [0, 1]].gather().toarray() == wanted).all()


PAIRS: list[tuple[Work, Work]] = [
    (lambda t: t.nnz, lambda t: t.sum()),
    (lambda t: t.max(), lambda t: t.sum()),
    (lambda t: t.max(), lambda t: t.min()),
    (lambda t: t.sum(), lambda t: t.mean()),
    (lambda t: t.sum(axis=1), lambda t: t.max(axis=1)),
    (lambda t: t.argmax(), lambda t: t.argmin()),
    (lambda t: t.norm(), lambda t: t.count_nonzero()),
    (lambda t: t.get_slices([]), lambda t: t.get_rows([0])),
    (lambda t: t.get_slices([]), lambda t: t.redistribute(layout="*, block")),
    (lambda t: t.get_slices([]), lambda t: t.set_slice(None, None)),
    (lambda t: t.get_rows([0]), lambda t: t[[0]]),
    (lambda t: t.gather(), lambda t: t.find()),
    (lambda t: t.nnz, lambda t: t.allclose(t)),
    (lambda t: t.diagonal(), lambda t: t.diagonal(1)),
    (lambda t: t.kron([[1]]), lambda t: t.with_diagonal(1)),
]


def calls(team: pt.Team) -> None:
    """One rank makes another call than the others."""
    for one, other in PAIRS:
        t = _tensor("*, cyclic")
        mine = other if team.rank == team.size - 1 else one
        _refused(team, lambda t=t, mine=mine: mine(t))  # type: ignore[misc]


def tensors(team: pt.Team) -> None:
    """One rank makes the same call on another tensor, of the same form or of another one."""
    works: list[Work] = [
        lambda t: t.gather(),
        lambda t: t.nnz,
        lambda t: t.sum(),
        lambda t: t.get_rows([0]),
        lambda t: t[0, 0],
        lambda t: t.get_slices([]),
        lambda t: t.redistribute(layout="*, block"),
        lambda t: t.share().sum() if t._window is None else t.sum(),
    ]
    for work in works:
        t = _tensor()
        for u in (_tensor(seed=2), _tensor("cyclic, *"), t.astype("float32"), t.tocsc(), t.T):
            mine = u if team.rank == team.size - 1 else t
            _refused(team, lambda work=work, mine=mine: work(mine))  # type: ignore[misc]


def products(team: pt.Team) -> None:
    """One rank multiplies by another tensor, though what is planned once is planned already."""
    t, u = (DistTensor.from_scipy(tensor((9, 9), "float64", seed)) for seed in (1, 2))
    for one in (t, u):
        assert (t @ one).shape == (9, 9)
    _refused(team, lambda: t @ (u if team.rank == team.size - 1 else t))


DENSE: list[Work] = [
    lambda t: t.to_dense(),
    lambda t: t.sum(axis=1),
    lambda t: t.mean(axis=1),
    lambda t: t.max(axis=1),
    lambda t: t.norm(axis=1),
    lambda t: t.count_nonzero(axis=1),
    lambda t: t + pt.ones(t.shape),
    lambda t: t - np.ones(t.shape),
    lambda t: t > np.ones(t.shape),
    lambda t: t.maximum(pt.ones(t.shape)),
    lambda t: t / t,
]


def preconditioners(team: pt.Team) -> None:
    """Blocks of different matrices are told when ranks solve with them."""
    t, u = (DistTensor.from_scipy(sp.csr_array(np.eye(8) * k)) for k in (1, 2))
    mine = u if team.rank == team.size - 1 else t
    for made in (pt.sparse.linalg.jacobi, pt.sparse.linalg.block_jacobi):
        _refused(team, lambda made=made: made(mine).matvec(pt.ones(8)).gather())  # type: ignore[misc]
        team.barrier()


def dense_results(team: pt.Team) -> None:
    """Dense results of different tensors, for which ranks do not meet, are told when they do."""
    is_last = team.rank == team.size - 1
    for layout in ("block, *", "cyclic, *"):
        t, u = _tensor(layout), _tensor(layout, seed=2)
        pairs = [(t * 2, t * 3), (t, u), (t[1:5], t[2:6]), (t[:, 1:4], t[:, 2:5])]
        for work in DENSE:
            for mine in (pair[is_last] for pair in pairs):
                _refused(team, lambda work=work, mine=mine: work(mine).gather())  # type: ignore[misc]
                team.barrier()


def _inside(team: pt.Team, work: Work, t: DistTensor) -> None:
    with team:
        work(t)


def planned_of_another(team: pt.Team) -> None:
    """What is planned for one tensor is not for another one; the error names both."""
    x, wide = pt.ones(9), pt.ones((9, 2))
    works: list[Work] = [
        lambda t: t @ x,
        lambda t: t.rmatvec(x),
        lambda t: pt.sparse.sddmm(t, wide, wide),
        lambda t: t.get_rows([1]),
        lambda t: t.plan_rows([1])(t),
    ]
    for layout in ("block, *", "*, block"):
        t, u = (
            DistTensor.from_scipy(tensor((9, 9), "float64", seed), layout=layout) for seed in (1, 2)
        )
        mine = u if team.rank == team.size - 1 else t
        for work in works:
            work(t)
            if team.size > 1:
                said = raised(lambda work=work, mine=mine: work(mine), pt.MismatchError)
                assert f"tensor {mine._number}: (9, 9)" in said, said
                team.barrier()
                _refused(team, lambda work=work, mine=mine: _inside(team, work, mine))  # type: ignore[misc]
                # All know of it: nobody is told again.
                team.barrier()


PRODUCTS: list[Callable[[DistTensor, Any], Any]] = [
    lambda t, x: t @ x,
    lambda t, x: t.T @ x,
    lambda t, x: t.rmatvec(x),
]


def products_with_dense(team: pt.Team) -> None:
    """The same where tensors share a pattern, hence all plans, and where nothing travels."""
    last = team.rank == team.size - 1
    for whole in (tensor((9, 9), "float64", 1), sp.eye_array(9, format="csr")):
        t = DistTensor.from_scipy(whole)
        u = t.with_values(2 * t.values)
        for x in (pt.ones(9), np.ones(9), pt.ones((9, 3))):
            for work in PRODUCTS:
                assert work(t, x).shape == work(u, x).shape
                _refused(team, lambda t=t, u=u, x=x, work=work: work(u if last else t, x))  # type: ignore[misc]
        _refused(team, lambda t=t: t @ pt.ones(9) if last else t.rmatvec(pt.ones(9)))  # type: ignore[misc]
        plan = t.plan_rows([0, 8])
        assert plan(u).shape == plan(t).shape
        _refused(team, lambda t=t, u=u, plan=plan: plan(u if last else t))  # type: ignore[misc]


def origins(team: pt.Team) -> None:
    """What was computed of one tensor without a word between ranks is told apart when they meet."""
    last = team.rank == team.size - 1
    t, u = _tensor(), _tensor(seed=2)
    pairs: list[tuple[Callable[[], Any], Callable[[], Any]]] = [
        (lambda: t * 2, lambda: t),
        (lambda: t + u, lambda: t - u),
        (lambda: t + u, lambda: t + t),
        (lambda: t.sin(), lambda: t.tan()),
        (lambda: t > 0, lambda: t < 0),
        (lambda: t.maximum(u), lambda: t.minimum(u)),
        (lambda: abs(t), lambda: -t),
        (lambda: t.tril(), lambda: t.triu()),
        (lambda: t.tril(1), lambda: t.tril(2)),
        (lambda: t.triu(-1), lambda: t.triu()),
        (lambda: t * 2, lambda: t * 3),
        (lambda: t / 2, lambda: t / np.float32(3)),
        (lambda: t**2, lambda: t**3),
        (lambda: t > 0.5, lambda: t > 1.5),
        (lambda: t.maximum(-1), lambda: t.maximum(-2)),
        (lambda: t.with_diagonal(9.0), lambda: t.with_diagonal(9.0, 1)),
        (lambda: t.with_diagonal(9.0), lambda: t.with_diagonal(8.0)),
        (lambda: t.kron([[1]]), lambda: t.kron([[2]])),
        (lambda: t @ u.T, lambda: t @ t.T),
    ]
    for one, other in pairs:
        # A product meets by itself; whoever made the other one is told there.
        _refused(team, lambda one=one, other=other: (other() if last else one()).gather())  # type: ignore[misc]
        assert one().gather().shape == one().gather().shape
    # One number in several types is one number.
    for number in (2, 2.0, np.float32(2), np.int8(2), np.array(2), 2 + 0j):
        mine = number if last else 2
        assert (t > mine).gather().shape == t.shape
        assert (t * (mine if isinstance(mine, int | float) else 2)).nnz == t.nnz


# A call, a wrong argument, a right one, and what the wrong one raises.
ARGUMENTS: list[tuple[Callable[[Any, Any], Any], Any, Any, type[Exception]]] = [
    (lambda t, k: t.tril(k), None, 0, TypeError),
    (lambda t, k: t.triu(k), 0.5, 0, TypeError),
    (lambda t, k: t.diagonal(k), None, 0, TypeError),
    (lambda t, k: t.with_diagonal(1.0, k), None, 0, TypeError),
    (lambda t, x: t.with_diagonal(x), None, 1.0, TypeError),
    (lambda t, x: t.with_diagonal(x), 1j, 1.0, TypeError),
    (lambda t, x: t.kron(x), [["a"]], [[1]], TypeError),
    (lambda t, x: t * x, np.array(["a"] * 6), np.ones(6), TypeError),
    (lambda t, x: t**x, None, 2, NotImplementedError),
    (lambda t, x: t + x, 1, 0, NotImplementedError),
    (lambda t, axis: t.sum(axis=axis), 5, 0, ValueError),
    (lambda t, axis: t.argmax(axis=axis), (), 0, ValueError),
    (lambda t, kind: t.sum(dtype=kind), "nothing", float, TypeError),
    (lambda t, ord: t.norm(ord, 0), "x", 1, ValueError),
    (lambda t, kind: t.astype(kind), "nothing", float, TypeError),
    (lambda t, axes: t.transpose(axes), [0, 0], [1, 0], pt.LayoutError),
    (lambda t, end: t[:end], "a", 2, TypeError),
    (lambda t, k: pt.sparse.eye(3, k=k), None, 0, pt.LayoutError),
    (lambda t, kind: pt.sparse.laplacian((3,), dtype=kind), "nothing", float, TypeError),
]

# Operators, and what an operand is that all of them know.
_OPERATORS: list[tuple[Callable[[Any, Any], Any], Any]] = [
    (lambda t, x: t + x, 0),
    (lambda t, x: x + t, 0),
    (lambda t, x: t - x, 0),
    (lambda t, x: x - t, 0),
    (lambda t, x: t > x, 1),
    (lambda t, x: t < x, -1),
    (lambda t, x: x <= t, 1),
    (lambda t, x: x >= t, -1),
    (lambda t, x: t * x, 2),
    (lambda t, x: x * t, 2),
    (lambda t, x: t.multiply(x), 2),
    (lambda t, x: t / x, 2),
    (lambda t, x: t @ x, np.ones(6)),
    (lambda t, x: x @ t, np.ones(6)),
]
ARGUMENTS += [
    (work, wrong, right, TypeError) for work, right in _OPERATORS for wrong in (None, "a", object())
]
# Integers that the tensor's type does not have.
ARGUMENTS += [
    (lambda t, x: t.astype(int).maximum(x), 2**63, -1, pt.LayoutError),
    (lambda t, x: t.astype(int).maximum(x), 2**20000, -1, pt.LayoutError),
    (lambda t, x: t.maximum(x), 2**63, -1, NotImplementedError),
    (lambda t, x: t.astype(int).maximum(x), -(2**63) - 1, -1, pt.LayoutError),
    (lambda t, x: t.astype(int).minimum(x), 2**63, 1, pt.LayoutError),
    (lambda t, x: t.astype(int).minimum(x), 2**20000, 1, pt.LayoutError),
    (lambda t, x: t.astype("u1") * x, 300, 2, pt.LayoutError),
    (lambda t, x: t / x, 2**2000, 2, OverflowError),
]


class _Odd:
    """Something that cannot be compared."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("cannot be compared")

    __hash__ = None  # type: ignore[assignment]


ARGUMENTS += [
    (lambda t, x: t.asformat(x), np.ones(3), "csr", pt.LayoutError),
    (lambda t, x: t.asformat(x), _Odd(), "csr", pt.LayoutError),
    (lambda t, x: t == x, _Odd(), 1, RuntimeError),
    (lambda t, x: t != x, _Odd(), 0, RuntimeError),
]


def arguments(team: pt.Team) -> None:
    """Wrong arguments are refused on every rank, also on those without entries.

    Where one rank gives them, it does not leave the others waiting.
    """
    first, last = team.rank == 0, team.rank == team.size - 1
    coords = ([0, 1], [0, 3]) if first else ([], [])
    t = DistTensor.from_coo((6, 6), coords, [1.0, 2.0][: 2 * first])

    def met(work: Callable[[Any, Any], Any], given: Any) -> None:
        found = work(t, given)
        if hasattr(found, "gather"):
            found.gather()

    for work, wrong, right, kind in ARGUMENTS:
        raised(lambda work=work, wrong=wrong: work(t, wrong), kind)
        met(work, right)
        mine = wrong if last else right
        kinds = (kind,) if last else (pt.RemoteError, kind)
        raised(lambda work=work, mine=mine: met(work, mine), *kinds)
        team.barrier()


GENERATED: list[tuple[Callable[[], Any], Callable[[], Any]]] = [
    (lambda: ps.laplacian((3, 4)), lambda: ps.laplacian((4, 3))),
    (lambda: ps.laplacian((3, 4)), lambda: ps.laplacian((3, 4), dtype="float32")),
    (lambda: ps.eye(4), lambda: ps.eye(4, k=1)),
    (lambda: ps.random_array((10, 8), rng=1), lambda: ps.random_array((10, 8), rng=2)),
    (
        lambda: ps.random_array((10, 8), rng=1),
        lambda: ps.random_array((10, 8), rng=1, density=0.9),
    ),
    (lambda: ps.random_array((10, 8), rng=None), lambda: ps.random_array((10, 8), rng=2)),
    (lambda: ps.rmat(4, seed=1), lambda: ps.rmat(4, seed=2)),
    (lambda: ps.rmat(4, 8), lambda: ps.rmat(4, 2)),
    (lambda: ps.rmat(4), lambda: ps.rmat(4, a=0.25)),
    (lambda: ps.diags([1.0, 2.0], shape=(2, 2)), lambda: ps.diags([1.0, 3.0], shape=(2, 2))),
    (
        lambda: ps.diags([1.0, 2.0], offsets=[0, 1], shape=(4, 4)),
        lambda: ps.diags([1.0, 2.0], offsets=[0, 2], shape=(4, 4)),
    ),
]


def generated(team: pt.Team) -> None:
    """One rank names other arguments of a matrix that all make together."""
    is_last = team.rank == team.size - 1
    for ours, theirs in GENERATED:
        _refused(team, theirs if is_last else ours)
    # What says the same in other words is the same.
    one: Any = np.int64(1) if is_last else 1
    assert ps.eye(4, k=one).nnz == 3
    assert ps.diags([1 if is_last else 1.0], shape=(2, 2), dtype=float).nnz == 2
    assert ps.random_array((10, 8), density=0.5, rng=pt.random.default_rng(3)).nnz == 40


def options(team: pt.Team) -> None:
    """One rank names another tolerance, or another way to write a file."""
    is_last = team.rank == team.size - 1
    near = 1e-2 if is_last else 1e-9
    t = _tensor()
    whole = t.gather().toarray()
    _refused(team, lambda: t.allclose(t * 1.001, rtol=near))
    _refused(team, lambda: t.allclose(whole * 1.001, rtol=near))
    assert t.allclose(t * 1.001, rtol=1 / 100 if is_last else np.float64(1e-2))
    with tempfile.TemporaryDirectory() as folder:
        path = team.broadcast_data(folder)
        _refused(team, lambda: ps.save_npz(f"{path}/t.npz", t, compressed=is_last))
        team.barrier()


def wrong(team: pt.Team) -> None:
    """What one rank has wrong raises the same on all."""
    is_last = team.rank == team.size - 1
    t = _tensor()
    x, y = np.ones((7, 3)), np.ones((6, 2 if is_last else 3))
    raised(lambda: ps.sddmm(t, x, y), ValueError)
    if team.size > 1:
        x, y = x[:, : y.shape[1]], y
        assert "the length of rows" in raised(lambda: ps.sddmm(t, x, y), pt.MismatchError)
    raised(lambda: t.gather(99 if is_last else 0), pt.LayoutError)
    raised(lambda: t[[99] if is_last else [0]], IndexError)
    raised(lambda: t[0, 0.5 if is_last else 1], IndexError)
    cube = DistTensor.from_coo((3, 2, 4), ([], [], []), np.zeros(0), team=team)
    raised(lambda: cube[9 if is_last else 0], IndexError)
    _refused(team, lambda: cube[1 if is_last else 0])
    # Nothing is left behind of what went wrong.
    assert t.gather().shape == (7, 6)


def roots(team: pt.Team) -> None:
    """Ranks that do not agree whether one has the matrix are told that."""
    m, is_last = tensor((7, 6), "float64", 1), team.rank == team.size - 1
    for one, other in ((0, None), (None, 0)):
        if team.size > 1:
            words = raised(
                lambda one=one, other=other: DistTensor.from_scipy(
                    m, root=other if is_last else one, team=team
                ),
                pt.MismatchError,
            )
            assert "root is" in words


def operands(team: pt.Team) -> None:
    """Operands that know tensors answer themselves; large integers are used where they can be."""

    class Answering:
        def __radd__(self, other: Any) -> str:
            return "added"

        def __gt__(self, other: Any) -> str:
            return "compared"

        def __eq__(self, other: object) -> Any:
            return "equal"

        __hash__ = None  # type: ignore[assignment]

    t, one = _tensor(), Answering()
    assert (t + one, t < one, t == one) == ("added", "compared", "equal")
    assert (t == None, t != None, t == "a") == (False, True, False)  # noqa: E711
    large = (t * 0).eliminate_zeros().astype("u8").with_diagonal(2**63)
    assert large.minimum(2**63).sum() == large.sum()
    assert (t.astype(int) > 2**70).nnz == 0
    assert t.minimum(2**70).sum() == t.sum()


# A call, what is no tensor there, and what is right for a matrix, its plan of rows and these.
_NO_TENSOR: list[tuple[Callable[..., Any], Any, Callable[..., Any]]] = [
    (lambda t, rows, given: rows(given), None, lambda t, came: t),
    (lambda t, rows, given: rows(given), np.ones(3), lambda t, came: t),
    (lambda t, rows, given: rows.adjoint(given), slice(None), lambda t, came: came),
    (lambda t, rows, given: rows.adjoint(given), None, lambda t, came: came.data),
    (lambda t, rows, given: rows.adjoint(given), "a", lambda t, came: came),
    (lambda t, rows, given: ps.sddmm(given, *_factors(np)), None, lambda t, came: t),
    (lambda t, rows, given: ps.sddmm(given, *_factors(pt)), "a", lambda t, came: t),
]


def _factors(library: Any) -> tuple[Any, Any]:
    """What `sddmm` takes beside the matrix."""
    return library.ones((7, 2)), library.ones((6, 2))


def no_tensors(team: pt.Team) -> None:
    """What is no tensor is refused by its type, on one rank and on all."""
    last = team.rank == team.size - 1
    matrix = _tensor()
    rows: Any = matrix.plan_rows([0, 3])
    coords = ([0, 2], [1, 1], [3, 0]) if team.rank == 0 else ([], [], [])
    cube = DistTensor.from_coo((3, 2, 4), coords, np.ones(len(coords[0])), team=team)
    planned: Any = cube.plan_rows([0, 2])
    works = [(matrix, rows, *one) for one in _NO_TENSOR]
    works += [(cube, planned, *one) for one in _NO_TENSOR[:-2]]
    for t, plan, work, odd, right in works:
        came = plan(t)
        given = odd if last else right(t, came)
        with pytest.raises(pt.LayoutError) as caught:
            work(t, plan, odd)
        assert caught.value.reason == "sparse-type"
        team.barrier()
        words = raised(
            lambda t=t, plan=plan, work=work, given=given: work(t, plan, given),
            *(pt.LayoutError, pt.RemoteError),
        )
        assert type(odd).__name__ in words
        team.barrier()


BODIES = [
    operands,
    no_tensors,
    indices,
    calls,
    tensors,
    products,
    dense_results,
    preconditioners,
    planned_of_another,
    products_with_dense,
    origins,
    arguments,
]
BODIES += [generated, options, wrong, roots]
