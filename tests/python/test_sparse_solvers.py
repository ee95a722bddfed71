"""Solvers on ranks beside SciPy's: solutions, what they tell, what they refuse."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as theirs
from systems import a_matrix, a_vector, bound, on_ranks, whole_of

import partita as pt
from partita.sparse import linalg as ours

RANKS = [1, 2, 3, 5]
SOLVERS = ["cg", "gmres", "bicgstab", "cgs", "minres"]
DTYPES = ["float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("n_ranks", RANKS)
@pytest.mark.parametrize("name", SOLVERS)
def test_solutions_are_right(name: str, n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for n, dtype in [(23, one) for one in DTYPES] + [(1, "float64"), (2, "complex128")]:
            matrix, right = a_matrix(n, dtype, is_even=name in ("cg", "minres")), a_vector(n, dtype)
            for layout in ("block, *", "*, block"):
                spread = pt.asarray(matrix, layout=layout)
                b = pt.asarray(right, layout="block")
                x, info = getattr(ours, name)(spread, b, rtol=bound(dtype) / 10)
                assert info == 0
                # SciPy's computes with doubles at least.
                least = "float64" if name == "minres" else dtype
                assert x.dtype == np.result_type(dtype, least)
                assert team.size == 1 or x.layout == b.layout
                np.testing.assert_allclose(matrix @ x.gather(), right, atol=30 * bound(dtype))

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("name", SOLVERS)
def test_steps_are_those_of_scipy(name: str) -> None:
    """Whoever is told of each step is told the same number of times, of the same vectors."""
    n = 40
    matrix, right = a_matrix(n, is_even=True) - 12 * np.eye(n), a_vector(n)
    more: dict[str, Any] = {"callback_type": "pr_norm", "restart": 7} if name == "gmres" else {}
    wanted: list[Any] = []
    told = (lambda x: wanted.append(np.copy(x))) if name != "gmres" else wanted.append
    x, info = getattr(theirs, name)(matrix, right, callback=told, **more)

    def body(team: pt.Team) -> None:
        seen: list[Any] = []
        found = getattr(ours, name)(
            pt.asarray(matrix, layout="block, *"), right, callback=seen.append, **more
        )
        assert found[1] == info == 0
        if name == "minres":
            # It ends by another rule: when the rest is short beside the right side.
            assert np.linalg.norm(matrix @ found[0].gather() - right) < 2e-5 * np.linalg.norm(right)
        else:
            assert len(seen) == len(wanted)
            np.testing.assert_allclose(found[0].gather(), x, rtol=1e-6, atol=1e-8)
        for one, other in list(zip(seen, wanted, strict=False))[:5]:
            if isinstance(one, pt.Array):
                one = one.gather()
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)

    on_ranks(3, body)


@pytest.mark.parametrize("name", SOLVERS)
def test_too_few_steps_are_told(name: str) -> None:
    matrix, right = a_matrix(30), a_vector(30)
    more: dict[str, Any] = {"restart": 1} if name == "gmres" else {}
    x, info = getattr(theirs, name)(matrix, right, maxiter=2, rtol=1e-14, **more)

    def body(team: pt.Team) -> None:
        b = pt.asarray(right)
        found = getattr(ours, name)(pt.asarray(matrix), b, maxiter=2, rtol=1e-14, **more)
        assert found[1] == info == 2
        np.testing.assert_allclose(found[0].gather(), x, rtol=1e-8, atol=1e-10)

    on_ranks(2, body)


@pytest.mark.parametrize("name", SOLVERS)
def test_starts_right_sides_and_places(name: str) -> None:
    n = 17
    matrix, right, start = a_matrix(n), a_vector(n), a_vector(n, seed=5)
    wanted = np.linalg.solve(matrix, right)

    def body(team: pt.Team) -> None:
        solve = getattr(ours, name)
        spread = pt.asarray(matrix, layout="block, *")
        for b in (right, right[:, None], pt.asarray(right).redistribute("cyclic")):
            for x0 in (None, start, pt.asarray(start, layout="block"), "Mb", wanted):
                x, info = solve(spread, b, x0, rtol=1e-10)
                assert info == 0
                np.testing.assert_allclose(x.gather(), wanted, rtol=1e-7, atol=1e-9)
                if isinstance(b, pt.Array):
                    assert x.layout == b.layout
        x, info = solve(spread, np.zeros(n))
        assert info == 0
        assert not x.gather().any()
        # Integers are solved in floating point; NumPy's matrices are taken, too.
        x, info = solve(np.diag(np.arange(1, 6)), np.arange(5), rtol=1e-12)
        assert x.dtype == np.float64
        np.testing.assert_allclose(x.gather(), np.arange(5) / np.arange(1, 6), atol=1e-9)
        x, info = solve(np.zeros((0, 0)), np.zeros(0))
        assert (x.shape, info) == ((0,), 0)

    on_ranks(3, body)


@pytest.mark.parametrize("name", SOLVERS)
def test_preconditioners_of_every_kind(name: str) -> None:
    n = 40
    matrix = a_matrix(n) * np.outer(scale := np.logspace(0, 1.2, n), scale)
    right, near = a_vector(n), 1 / np.diagonal(matrix)

    def body(team: pt.Team) -> None:
        spread = pt.asarray(matrix, layout="block, *")
        inverse = pt.asarray(near)
        given: list[Any] = [
            lambda x: x * inverse,
            ours.LinearOperator((n, n), matvec=lambda x: x * inverse, dtype=float),
            np.diag(near),
            ours.jacobi(spread),
            ours.block_jacobi(spread),
        ]
        steps: list[int] = []
        for m in [None, *given]:
            seen: list[Any] = []
            x, info = getattr(ours, name)(spread, right, M=m, callback=seen.append, rtol=1e-9)
            if m is None:
                steps.append(len(seen))
                continue
            assert info == 0
            np.testing.assert_allclose(matrix @ x.gather(), right, atol=1e-5)
            steps.append(len(seen))
        # The first four are the same, and all of them help.
        assert max(steps[1:5]) - min(steps[1:5]) <= 1
        assert steps[5] <= steps[0]
        assert max(steps[1:5]) < steps[0]

    on_ranks(3, body)


def test_block_jacobi_inverts_blocks() -> None:
    def body(team: pt.Team) -> None:
        for n, dtype in [(11, "float64"), (11, "complex128"), (2, "float32"), (1, "float64")]:
            matrix = a_matrix(n, dtype, is_even=False)
            spread = pt.asarray(matrix, layout="block(last), *")
            m = ours.block_jacobi(spread)
            cuts = np.cumsum([0, *((n + rank) // team.size for rank in range(team.size))])
            blocks = np.zeros_like(matrix)
            for lo, hi in itertools.pairwise(cuts):
                blocks[lo:hi, lo:hi] = matrix[lo:hi, lo:hi]
            x = a_vector(n, "complex128")
            near: dict[str, Any] = (
                {"rtol": 1e-4, "atol": 1e-5} if dtype == "float32" else {"atol": 1e-10}
            )
            np.testing.assert_allclose((m @ x).gather(), np.linalg.solve(blocks, x), **near)
            back = np.linalg.solve(blocks.conj().T, x)
            np.testing.assert_allclose(whole_of(m.rmatvec(x)), back, **near)

    for n_ranks in (1, 3):
        on_ranks(n_ranks, body)


def test_a_singular_block_is_refused_on_every_rank() -> None:
    matrix = np.eye(6)
    matrix[5, 5] = 0

    def body(team: pt.Team) -> None:
        spread = pt.asarray(matrix, layout="block, *")
        with pytest.raises(np.linalg.LinAlgError if team.rank == 2 else ValueError):
            ours.block_jacobi(spread)
        with pytest.raises(ValueError, match="1 zeros"):
            ours.jacobi(spread)

    on_ranks(3, body)


def test_operators_are_scipys() -> None:
    rng = np.random.default_rng(3)
    p, q = (rng.standard_normal((5, 4)) + 1j * rng.standard_normal((5, 4)) for _ in range(2))
    x, y = a_vector(4, "complex128"), a_vector(5, "complex128")
    wide = rng.standard_normal((4, 3))

    def body(team: pt.Team) -> None:
        a, b = (ours.aslinearoperator(pt.asarray(one, layout="block, *")) for one in (p, q))
        s, t = theirs.aslinearoperator(p), theirs.aslinearoperator(q)
        pairs = [
            (a @ x, s @ x),
            (a.matvec(x[:, None]), s.matvec(x[:, None])),
            (a @ wide, s @ wide),
            (a.H @ y, s.H @ y),
            (a.T @ y, s.T @ y),
            (a.rmatmat(p), s.rmatmat(p)),
            ((a + b) @ x, (s + t) @ x),
            ((a - 2j * b) @ x, (s + (-2j) * t) @ x),
            ((-a).H @ y, (-s).H @ y),
            ((a.H @ b) @ x, (s.H @ t) @ x),
            ((a.H @ b).H @ x, (s.H @ t).H @ x),
        ]
        for one, other in pairs:
            assert one.shape == other.shape
            np.testing.assert_allclose(one.gather(), other, atol=1e-12)
        plain = ours.LinearOperator((4, 4), matvec=lambda v: 2 * v)
        assert plain.dtype == np.float64
        np.testing.assert_allclose((plain @ wide).gather(), 2 * wide)
        assert (plain @ wide[:, :0]).shape == (4, 0)
        with pytest.raises(NotImplementedError):
            plain.rmatvec(x)
        with pytest.raises(ValueError, match=r"shape \(5,\)"):
            a @ y
        with pytest.raises(ValueError, match="cannot be multiplied"):
            a @ b
        with pytest.raises(TypeError, match="from_scipy"):
            ours.aslinearoperator(object())

    on_ranks(2, body)


@pytest.mark.parametrize("name", SOLVERS)
def test_what_does_not_fit_is_refused(name: str) -> None:
    matrix = a_matrix(6)

    def body(team: pt.Team) -> None:
        solve = getattr(ours, name)
        for a, b, x0, m in [
            (matrix[:, :5], np.ones(6), None, None),
            (matrix, np.ones(5), None, None),
            (matrix, np.ones((6, 2)), None, None),
            (matrix, np.ones(6), np.ones(7), None),
            (matrix, np.ones(6), None, np.eye(5)),
            # A vector that is wrong on one rank only.
            (matrix, np.ones(6 if team.rank else 7), None, None),
        ]:
            with pytest.raises(ValueError, match="shape"):
                solve(pt.asarray(a), b, x0, M=m)
        if name != "minres":
            with pytest.raises(ValueError, match="atol"):
                solve(pt.asarray(matrix), np.ones(6), atol=-1.0)
        with pytest.raises(pt.MismatchError, match="on rank 1"):
            solve(pt.asarray(matrix), np.ones(6), rtol=1e-5 * (1 + team.rank))

        def bad(x: Any) -> None:
            if team.rank == 1:
                raise RuntimeError("enough")

        with pytest.raises(RuntimeError, match="enough"):
            solve(pt.asarray(matrix), np.ones(6), callback=bad)

    on_ranks(3, body)


def test_breakdowns_are_told() -> None:
    turned = np.array([[0.0, 1.0], [-1.0, 0.0]])

    def body(team: pt.Team) -> None:
        b = np.array([1.0, 0.0])
        assert ours.bicgstab(pt.asarray(turned), b)[1] < 0
        assert ours.cgs(pt.asarray(turned), b)[1] < 0
        x, info = ours.gmres(pt.asarray(turned), b)
        assert info == 0
        np.testing.assert_allclose(whole_of(x), [0, 1], atol=1e-12)
        # No solution: nothing hangs, and it is told.
        for name in ("cg", "gmres", "bicgstab"):
            assert getattr(ours, name)(pt.asarray(np.diag([1.0, 0.0])), np.ones(2))[1] != 0
        with pytest.raises(ValueError, match="callback_type"):
            ours.gmres(pt.asarray(turned), b, callback_type="y")

    on_ranks(2, body)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
def test_what_is_no_number_has_no_solution(name: str, wrong: float) -> None:
    """An infinite rest is no shorter than an infinite bound."""

    def body(team: pt.Team) -> None:
        b = np.ones(6)
        b[1] = wrong
        for a, right, m in [
            (5 * np.eye(6), b, None),
            (np.diag(b), np.ones(6), None),
            (np.eye(6), np.ones(6), pt.asarray(np.diag(b))),
        ]:
            if name == "minres" and m is not None and wrong < 0:
                continue  # It is not definite.
            with np.errstate(all="ignore"):
                x, info = getattr(ours, name)(pt.asarray(a), right, maxiter=8, M=m)
                assert info != 0 or np.isfinite(a @ x.gather() - right).all()

    on_ranks(2, body)


def test_more_ranks_than_rows() -> None:
    def body(team: pt.Team) -> None:
        matrix, b = a_matrix(3), a_vector(3)
        wanted = np.linalg.solve(matrix, b)
        for name in SOLVERS:
            x, info = getattr(ours, name)(pt.asarray(matrix, layout="block, *"), b, rtol=1e-12)
            assert info == 0
            np.testing.assert_allclose(x.gather(), wanted, rtol=1e-9)
        values, _ = ours.eigsh(pt.asarray(matrix), 2)
        np.testing.assert_allclose(values.gather(), np.linalg.eigvalsh(matrix)[1:])

    on_ranks(5, body)


@pytest.mark.parametrize("name", SOLVERS)
def test_preconditioners_beside_ranks_without_rows(name: str) -> None:
    """Blocks that a rank has none of need no work there, but all ranks do what is recorded."""

    def body(team: pt.Team) -> None:
        few = pt.sparse.eye(2) * 2
        uneven = pt.sparse.laplacian((16,), layout="block(0,5,9,0,2), *")
        for a in (few, uneven):
            b = np.arange(1.0, 1 + a.shape[0])
            x, info = getattr(ours, name)(a, b, M=ours.block_jacobi(a), rtol=1e-12)
            assert info == 0
            np.testing.assert_allclose((a @ x).gather(), b, atol=1e-8)

    on_ranks(5, body)


def test_norms_of_dense_arrays_are_numpys() -> None:
    matrix = a_matrix(5)
    assert float(ours.norm(pt.asarray(matrix), 1)) == pytest.approx(np.linalg.norm(matrix, 1))


@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab", "cgs", "minres"])
def test_numbers_of_steps_are_whole_and_named_where_they_differ(name: str) -> None:
    matrix = a_matrix(8)

    def body(team: pt.Team) -> None:
        solver = getattr(ours, name)
        with pytest.raises(TypeError, match=r"maxiter=2\.5"):
            solver(matrix, np.ones(8), maxiter=2.5)
        with pytest.raises(pt.MismatchError, match="maxiter is"):
            solver(matrix, np.ones(8), maxiter=2 + team.rank)
        with pytest.raises(pt.MismatchError, match="rtol is"):
            solver(matrix, np.ones(8), rtol=[1e-5, 1e-6][team.rank])

    on_ranks(2, body)


def test_matrices_and_operators_of_scipy_are_refused_with_a_cure() -> None:
    for given, cure in (
        (sp.eye_array(4), r"from_scipy\(m\)"),
        (theirs.aslinearoperator(np.eye(4)), "partita.sparse.linalg.LinearOperator"),
    ):
        with pytest.raises(TypeError, match=cure):
            ours.cg(given, np.ones(4))


def test_minres_computes_with_doubles_as_scipy_does() -> None:
    for kind in ("float32", "float64"):
        matrix, right = a_matrix(8).astype(kind), np.ones(8, kind)
        wanted, _ = theirs.minres(matrix, right)
        found, _ = ours.minres(pt.asarray(matrix), right)
        assert found.dtype == wanted.dtype == np.float64


# What a function of a user returns in place of an array, and how errors call it.
RETURNED: list[tuple[Any, str]] = [
    (np.ones(6), r"a ndarray of shape \(6,\)"),
    (None, "None"),
    (2.0, "a float"),
    ([1.0] * 6, "a list"),
    ("a", "a str"),
]


def _with_functions(name: str, work: Any) -> list[tuple[str, dict[str, Any]]]:
    """What the errors of a solver name, and the arguments that have a function of the user's."""
    operators = [
        ("matvec", ours.LinearOperator((6, 6), matvec=work, dtype=float)),
        ("matmat", ours.LinearOperator((6, 6), matmat=work, dtype=float)),
    ]
    given: list[tuple[str, dict[str, Any]]] = [(word, {"A": one}) for word, one in operators]
    if name != "eigsh":
        given += [("M", {"M": work})] + [(word, {"M": one}) for word, one in operators]
    return given + [("A", {"A": work}), ("B", {"B": work})] * (name == "lobpcg")


def _solved(name: str, **given: Any) -> Any:
    given.setdefault("A", pt.asarray(a_matrix(6, is_even=True)))
    more: dict[str, Any] = {"lobpcg": {"X": np.eye(6)[:, :2]}, "eigsh": {"k": 2}}
    rest = more.get(name, {"b": np.ones(6)})
    return getattr(ours, name)(**(rest | given))


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
@pytest.mark.parametrize("name", [*SOLVERS, "lobpcg", "eigsh"])
def test_functions_that_return_no_array_are_refused(name: str, n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for made, what in RETURNED:
            for word, given in _with_functions(name, lambda x, made=made: made):
                with pytest.raises(pt.LayoutError, match=f"{word} returned {what}") as caught:
                    _solved(name, **given)
                assert caught.value.reason == "operator-result"
                assert "return a partita.Array" in str(caught.value)
        for word, given in _with_functions(name, lambda x: pt.ones(5, team=team)):
            with pytest.raises(pt.LayoutError, match=rf"{word} returned .* shape \(5,\)") as caught:
                _solved(name, **given)
            assert caught.value.reason == "operator-shape"

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("name", [*SOLVERS, "lobpcg", "eigsh"])
def test_a_function_that_returns_no_array_on_one_rank_is_told_to_all(name: str) -> None:
    for at in range(len(_with_functions(name, None))):

        def body(team: pt.Team, at: int = at) -> None:
            def work(x: Any) -> Any:
                return x * 1 if team.rank else np.ones(6)

            word, given = _with_functions(name, work)[at]
            kind = pt.RemoteError if team.rank else pt.LayoutError
            with pytest.raises(kind, match=f"{word} returned a ndarray"):
                _solved(name, **given)

        on_ranks(3, body)


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
@pytest.mark.parametrize("name", [*SOLVERS, "lobpcg", "eigsh"])
def test_sparse_vectors_are_refused_with_a_cure(name: str, n_ranks: int) -> None:
    words = {"lobpcg": ["X", "Y"], "eigsh": ["v0"]}.get(name, ["b", "x0"])

    def body(team: pt.Team) -> None:
        s = pt.sparse.DistTensor.from_scipy(sp.csr_array(a_matrix(6)), team=team)
        column = s[:, :2] if name == "lobpcg" else s[:, 3]
        for word in words:
            for given, cure in ((column, "to_dense"), (column.gather(), "toarray")):
                solve = partial(_solved, name, **{word: given})
                with pytest.raises(pt.LayoutError, match=rf"{word}\.{cure}\(\)") as caught:
                    solve()
                assert caught.value.reason == "sparse-operand"

    on_ranks(n_ranks, body)
