"""Linear algebra on the ranks of a team beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bodies_products import numbers, put

import partita as pt

ours: Any = pt.linalg
theirs: Any = np.linalg
LAYOUTS = ["block, *", "*, block", "cyclic, *", None]
# Sizes: one element, fewer rows than ranks, one panel and a little, several panels.
SIZES = [1, 3, 66, 150]
DTYPES = ["float64", "complex128", "float32", "int16"]


def near(found: Any, wanted: Any, tolerance: float = 1e-8) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    precision = 1e-3 if wanted.dtype in (np.float32, np.complex64) else tolerance
    scale = float(abs(wanted).max(initial=1e-30))
    np.testing.assert_allclose(found.gather(), wanted, rtol=precision, atol=precision * scale)


def random(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    made = rng.standard_normal(shape)
    if dtype.startswith("c"):
        made = made + 1j * rng.standard_normal(shape)
    return (made * 10 if dtype.startswith("i") else made).astype(dtype)


def well(n: int, dtype: str) -> Any:
    """A matrix far from singular."""
    return random((n, n), dtype) + (4 * np.sqrt(n) * np.eye(n)).astype(dtype)


def cases() -> list[tuple[int, str | None, str]]:
    """Every size in every layout and type, but not all of their products."""
    return [
        (n, LAYOUTS[(number + at) % 4], DTYPES[at])
        for number, n in enumerate(SIZES)
        for at in range(4)
    ]


def solutions(team: pt.Team) -> None:
    for n, how, dtype in cases():
        x, b = well(n, dtype), random((n, 5), dtype, 1)
        a = put(x, how)
        near(ours.solve(a, put(b, how)), theirs.solve(x, b))
        near(ours.solve(a, b[:, 0]), theirs.solve(x, b[:, 0]))
        near(ours.inv(a), theirs.inv(x))
        found, wanted = ours.slogdet(a), theirs.slogdet(x)
        near(found.sign, wanted.sign)
        near(found.logabsdet, wanted.logabsdet)
        if n < 10:
            near(ours.det(a), theirs.det(x))
    # Rows must be exchanged here, in the first panel and in later ones.
    x = np.roll(np.eye(130), 71, axis=0) * np.arange(1, 131)
    near(ours.inv(put(x, "block, *")), theirs.inv(x))
    near(ours.slogdet(put(x, "*, block")).sign, theirs.slogdet(x)[0])
    near(ours.det(put(np.diag(np.full(80, -1.0)), "block, *")), 1.0)


def determinants_out_of_range(team: pt.Team) -> None:
    """Products of pivots may pass through numbers that no type can hold."""
    for how in ("block, *", "*, block", None):
        for dtype in ("float64", "complex128"):
            sizes = np.repeat(np.array([1e10, 1e-10], dtype), 100)
            near(ours.det(put(np.diag(sizes), how)), np.asarray(1.0, dtype))
            near(ours.det(put(np.diag(sizes[::-1]), how)), np.asarray(1.0, dtype))
        near(ours.det(put(np.diag(np.full(700, 1e-2j)), how)), np.asarray(0j))
        assert ours.det(put(np.diag(np.full(200, -1e10)), how)).item() == np.inf
        small = np.diag(np.repeat([1e30, 1e-30], 40).astype(np.float32))
        near(ours.det(put(small, how)), np.float32(1))
        singular = 1000 * random((97, 97), "float32")
        singular[:, 40] = 0
        assert ours.det(put(singular, how)).item() == 0
        assert ours.slogdet(put(singular, how)).sign.item() == 0
        assert np.isnan(ours.det(put(np.full((80, 80), np.nan), how)).item())


def triangles(team: pt.Team) -> None:
    for n, how, dtype in cases():
        y = random((n, n), dtype).astype(np.result_type(dtype, "float32"))
        x = y @ y.conj().T + n * np.eye(n, dtype=y.dtype)
        near(ours.cholesky(put(x, how)), theirs.cholesky(x))
        # The other half is not read.
        upper = ours.cholesky(put(np.triu(x), how), upper=True)
        near(upper, theirs.cholesky(x).conj().T)
        assert not np.tril(upper.gather(), -1).any()


def check_qr(found: Any, x: Any, mode: str) -> None:
    q, r = found
    wanted = theirs.qr(x, mode)
    assert (q.shape, r.shape) == (wanted[0].shape, wanted[1].shape)
    assert q.dtype == r.dtype == wanted[0].dtype
    bound = 1e-4 if wanted[0].dtype == np.float32 else 1e-12
    q, r = q.gather(), r.gather()
    assert abs(q @ r - x).max(initial=0) < bound * max(1, abs(x).max(initial=0)) * 10
    assert abs(q.conj().T @ q - np.eye(q.shape[1])).max(initial=0) < bound * 10
    assert not np.tril(r, -1).any()


def orthonormal_columns(team: pt.Team) -> None:
    shapes = [(1, 1), (66, 66), (150, 40), (40, 150), (130, 100), (300, 70), (700, 6), (2, 70)]
    shapes += [(70, 2), (0, 3), (3, 0), (90, 1)]
    for number, shape in enumerate(shapes):
        for at in (number, number + 1) if max(shape) < 100 else (number,):
            how, dtype = LAYOUTS[at % 4], DTYPES[at % 4]
            x = random(shape, dtype)
            for mode in ("reduced", "complete"):
                if mode == "reduced" or shape[0] < 200:
                    check_qr(ours.qr(put(x, how), mode=mode), x, mode)
            near(abs(ours.qr(put(x, how), "r")), abs(theirs.qr(x, "r")))
    # Columns that are not independent, or nothing at all, still have orthonormal ones.
    for x in (np.ones((150, 100)), np.zeros((300, 70)), np.zeros((100, 100))):
        check_qr(ours.qr(put(x, "block, *")), x, "reduced")


def singular_values(team: pt.Team) -> None:
    shapes = [(1, 1), (70, 66), (66, 70), (700, 8), (8, 700), (3, 2)]
    for number, shape in enumerate(shapes):
        how, dtype = LAYOUTS[number % 3], DTYPES[number % 2]
        x = random(shape, dtype)
        a, values = put(x, how), theirs.svd(x, compute_uv=False)
        for full in (False, True):
            u, s, vh = ours.svd(a, full_matrices=full)
            shown = theirs.svd(x, full_matrices=full)
            assert [one.shape for one in (u, s, vh)] == [one.shape for one in shown]
            near(s, values)
            u, vh, k = u.gather(), vh.gather(), min(shape)
            for one in (u.conj().T @ u, vh @ vh.conj().T):
                assert abs(one - np.eye(len(one))).max() < 1e-12
            assert abs((u[:, :k] * values) @ vh[:k] - x).max() < 1e-11
        near(ours.svdvals(a), values)
        near(ours.pinv(a), theirs.pinv(x))
        near(ours.cond(a), theirs.cond(x))
        near(ours.matrix_norm(a, ord=2), theirs.norm(x, 2))
        near(ours.norm(a, "nuc"), theirs.norm(x, "nuc"))
        b = random((shape[0], 2), dtype, 1)
        for right in (b, b[:, 0]):
            found, wanted = ours.lstsq(a, put(right, "block")), theirs.lstsq(x, right)
            near(found.x, wanted[0])
            near(found.residuals, wanted[1])
            assert found.rank == wanted[2]
            near(found.s, wanted[3])
    low = random((90, 3), "float64") @ random((3, 80), "float64", 1)
    assert int(ours.matrix_rank(put(low, "block, *"))) == 3
    near(ours.pinv(put(low, "*, block")), theirs.pinv(low))


def full_ranks_are_seen_in_parts(team: pt.Team) -> None:
    before = pt.gathers()
    for number, shape in enumerate([(90, 90), (130, 100), (100, 130), (70, 69)]):
        for dtype in DTYPES:
            x = random(shape, dtype, number)
            a = put(x, LAYOUTS[number % 3])
            near(ours.pinv(a), theirs.pinv(x))
            near(ours.pinv(a, rcond=1e-6), theirs.pinv(x, rcond=1e-6))
            for options in ({}, {"tol": 1e-9}, {"rtol": 1e-9}):
                found = ours.matrix_rank(a, **options)
                assert found.shape == ()
                assert int(found) == theirs.matrix_rank(x, **options)
    assert pt.gathers() == before
    # What is not clear from norms is seen from singular values.
    x = random((100, 90), "float64")
    x[:, 7] = x[:, 3]
    values = np.linalg.svd(x, compute_uv=False)
    for name, y in [("deficient", x), ("zeros", np.zeros((90, 80))), ("tiny", x * 1e-300)]:
        a = put(y, "block, *")
        assert int(ours.matrix_rank(a)) == theirs.matrix_rank(y), name
        size = abs(theirs.pinv(y)).max() or 1.0
        assert abs(ours.pinv(a).gather() - theirs.pinv(y)).max() / size < 1e-11, name
    between = (values[40] + values[41]) / 2
    near(ours.pinv(put(x, "*, block"), between / values[0]), theirs.pinv(x, between / values[0]))
    assert int(ours.matrix_rank(put(x, "*, block"), between)) == 41
    x[3, 4] = np.nan
    with pytest.raises(np.linalg.LinAlgError):
        ours.pinv(put(x, "block, *"))


def eigenvalues(team: pt.Team) -> None:
    for n, how, dtype in [
        (1, None, "int16"),
        (70, "block, *", "complex128"),
        (5, "*, block", "float64"),
    ]:
        y = random((n, n), dtype)
        x = y + y.conj().T
        values, vectors = ours.eigh(put(x, how))
        near(values, theirs.eigvalsh(x))
        near(ours.eigvalsh(put(np.triu(x), how), "U"), theirs.eigvalsh(x))
        v = vectors.gather()
        assert abs(x @ v - v * values.gather()).max() < 1e-11
        found = ours.eig(put(y, how))
        v, e = found.eigenvectors.gather(), found.eigenvalues.gather()
        assert found.eigenvalues.dtype.kind == "c"
        assert abs(y @ v - v * e).max() < 1e-10
        key = np.sort_complex(np.round(ours.eigvals(put(y, how)).gather(), 8))
        np.testing.assert_allclose(key, np.sort_complex(np.round(theirs.eigvals(y), 8)))
    if team.size > 1:
        before = pt.gathers().get("linalg.eigh", 0)
        ours.eigh(put(np.eye(70), "block, *"))
        assert pt.gathers()["linalg.eigh"] > before


def stacks(team: pt.Team) -> None:
    for shape in [(5, 3, 3), (2, 3, 4, 4), (0, 3, 3), (1, 2, 2), (4, 0, 0)]:
        x = random(shape, "float64") + 5 * np.eye(shape[-1])
        h = x @ np.swapaxes(x, -1, -2)
        for how in ("block", "*, block", "*, *, block", "cyclic", "block, block", None):
            a, b = put(x, how), put(h, how)
            near(ours.inv(a), theirs.inv(x))
            near(ours.det(a), theirs.det(x))
            near(ours.cholesky(b), theirs.cholesky(h))
            near(ours.eigvalsh(b), theirs.eigvalsh(h))
            near(ours.solve(a, a[..., :2]), theirs.solve(x, x[..., :2]))
        near(ours.svdvals(a), theirs.svd(x, compute_uv=False))
        near(ours.qr(a)[1], theirs.qr(x)[1])
        near(ours.pinv(a), theirs.pinv(x))
        near(ours.matrix_rank(a), theirs.matrix_rank(x))
    # One right side for all, and one matrix for several.
    x, b = random((4, 3, 3), "float64") + 5 * np.eye(3), random((3,), "float64")
    near(ours.solve(put(x, "block"), b), theirs.solve(x, b))
    near(ours.solve(x[0], put(x, "block")), theirs.solve(x[0], x))
    # Few and large ones, which all ranks factorise together.
    x, b = np.stack([well(70, "float64"), 2 * well(70, "float64")]), random((70, 2), "float64")
    a, h = put(x, "*, block"), x @ np.swapaxes(x, -1, -2)
    near(ours.inv(a), theirs.inv(x))
    near(ours.solve(a, b), theirs.solve(x, b))
    near(ours.slogdet(a[None]).logabsdet, theirs.slogdet(x[None]).logabsdet)
    near(ours.det(a / 50), theirs.det(x / 50))
    near(ours.cholesky(put(h, "block")), theirs.cholesky(h))
    q, r = ours.qr(a)
    near(q @ r, x)
    if team.size > 1:
        own = put(random((4, 3, 3), "float64"), "block")
        assert ours.inv(own).layout == own.layout


def odd_layouts(team: pt.Team) -> None:
    """Rows in any order, halos, several pieces on a rank; more entries than ranks, and fewer."""
    n = team.size
    places = [
        list(map(int, own)) for own in np.array_split(np.random.default_rng(2).permutation(12), n)
    ]
    boxes: list[Any] = [[] for _ in range(n)]
    for at in range(4):
        boxes[at % n].append(((3 * at, 0), (3, 12)))
    layouts = [
        pt.Layout((12, 12), [pt.Unstructured(places), pt.Whole()], grid=(n, 1)),
        pt.Layout((12, 12), [pt.Block(halo=(1, 1), periodic=True), pt.Whole()], grid=(n, 1)),
        pt.Layout.from_boxes((12, 12), boxes),
    ]
    x = well(12, "float64")
    for layout in layouts:
        a = pt.asarray(x).redistribute(layout)
        near(a @ a, x @ x)
        near(a.T @ a, x.T @ x)
        near(ours.inv(a), theirs.inv(x))
        near(ours.norm(a), theirs.norm(x))
    y = np.stack([x[:5, :5] + at for at in range(12)])
    for by in (pt.Unstructured(places), pt.Block(halo=(1, 1))):
        layout = pt.Layout((12, 5, 5), [by, pt.Whole(), pt.Whole()], grid=(n, 1, 1))
        near(ours.inv(pt.asarray(y).redistribute(layout)), theirs.inv(y))
    tall = random((400, 3), "float64")
    lonely = pt.asarray(tall).redistribute(
        pt.Layout((400, 3), [pt.Whole(), pt.Whole()], ranks=[n - 1])
    )
    check_qr(ours.qr(lonely), tall, "reduced")
    near(lonely.T @ lonely, tall.T @ tall)


def norms(team: pt.Team) -> None:
    for dtype in DTYPES:
        x = random((6, 5), dtype)
        for how in ("block, *", "*, block"):
            a = put(x, how)
            near(ours.norm(a), theirs.norm(x))
            for order in (None, "fro", 1, -1, np.inf, -np.inf):
                near(ours.norm(a, order, keepdims=True), theirs.norm(x, order, keepdims=True))
            for order in (None, 0, 1, 2, 3, -2, 0.5, np.inf, -np.inf):
                with np.errstate(divide="ignore"):
                    wanted = theirs.norm(x, order, axis=0)
                near(ours.norm(a, order, 0), wanted)
            near(
                ours.vector_norm(a, axis=(0, 1), keepdims=True),
                theirs.vector_norm(x, keepdims=True),
            )
            near(ours.matrix_norm(a, ord=-1), theirs.matrix_norm(x, ord=-1))
            near(ours.norm(a[None], 1, axis=(2, 1)), theirs.norm(x[None], 1, axis=(2, 1)))
    near(np.linalg.norm(put(np.ones((4, 4)), "block, *")), 4.0)


def chains(team: pt.Team) -> None:
    given = [numbers(shape, "float64") for shape in [(4, 7), (7, 2), (2, 9), (9, 3)]]
    spread = [put(one, "block, *") for one in given]
    near(ours.multi_dot(spread), theirs.multi_dot(given))
    near(ours.multi_dot([given[0][0], *spread[1:]]), theirs.multi_dot([given[0][0], *given[1:]]))
    x = numbers((5, 5), "int64") + 9 * np.eye(5, dtype="int64")
    for n in (0, 1, 2, 5, -2):
        near(ours.matrix_power(put(x, "block, *"), n), theirs.matrix_power(x, n))
    near(ours.diagonal(put(x, "block, *")[None], offset=1), theirs.diagonal(x[None], offset=1))
    near(ours.trace(put(x, "*, block")[None]), theirs.trace(x[None]))
    near(ours.outer(put(x, "block")[0], [1, 2]), theirs.outer(x[0], [1, 2]))
    near(ours.cross(put(x, "block")[:3], x[2:], axis=0), theirs.cross(x[:3], x[2:], axis=0))
    t = random((2, 3, 6), "float64")
    near(
        ours.tensorsolve(put(t, "block"), numbers((2, 3), "float64")),
        theirs.tensorsolve(t, numbers((2, 3), "float64")),
    )
    near(ours.tensorinv(put(t, "block")), theirs.tensorinv(t))


def refused(team: pt.Team) -> None:
    """What one rank alone finds wrong is an error of all, and the team goes on."""
    bad = np.eye(100)
    bad[80, 80] = 0
    stack = np.stack([np.eye(3)] * 5)
    stack[4, 1, 1] = 0
    for x, how in ((bad, "block, *"), (stack, "block"), (np.zeros((3, 3)), "*, block")):
        a = put(x, how)
        for call in (ours.inv, lambda a: ours.solve(a, a), ours.cholesky):
            with pytest.raises(np.linalg.LinAlgError):
                call(a)
        assert float(ours.det(a).sum()) == (4.0 if x is stack else 0.0)
    team.barrier()
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        ours.cholesky(put(-np.eye(70), "block, *"))
    if team.size > 1:
        with pytest.raises(np.linalg.LinAlgError, match="pivot 80 is zero"):
            ours.inv(put(bad, "*, block"))
    a = put(np.ones((4, 5)), "block, *")
    for call in (ours.inv, ours.det, ours.cholesky, ours.eigh, lambda a: ours.matrix_power(a, 2)):
        with pytest.raises(np.linalg.LinAlgError, match="square"):
            call(a)
    for call in (ours.svd, ours.qr):
        with pytest.raises(np.linalg.LinAlgError, match="no matrix"):
            call(a[0])
    for call in (
        lambda: ours.solve(pt.eye(3), pt.ones(4)),
        lambda: ours.qr(a, "raw"),
        lambda: ours.norm(a, "strange"),
        lambda: ours.norm(pt.ones((2, 2, 2)), 1),
        lambda: ours.eigh(pt.eye(3), "X"),
        lambda: ours.outer(a, a),
    ):
        with pytest.raises(ValueError, match=r"use|name"):
            call()
    with pytest.raises(TypeError, match="float16"):
        ours.inv(pt.eye(3, dtype="float16"))
    near(ours.inv(put(2 * np.eye(70), "block, *")), np.eye(70) / 2)
    assert ours.solve(put(np.eye(70), "block, *"), np.zeros((70, 0))).shape == (70, 0)
    lost = np.full((300, 4), np.nan)
    with pytest.raises(np.linalg.LinAlgError):
        ours.svd(put(lost, "block, *"), full_matrices=False)
    assert np.isnan(ours.inv(put(np.full((70, 70), np.nan), "block, *")).gather()).all()


BODIES = [
    solutions,
    determinants_out_of_range,
    triangles,
    orthonormal_columns,
    singular_values,
    full_ranks_are_seen_in_parts,
    eigenvalues,
    stacks,
    odd_layouts,
    norms,
    chains,
    refused,
]
