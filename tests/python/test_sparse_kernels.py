"""Sparse matrices in one rank's memory beside SciPy and dense matrices."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from partita._local import sparse
from partita._local.sparse import Csr
from partita._types import Local

VALUES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
VALUES += ["float32", "float64", "complex64", "complex128"]
INDICES = ["int32", "int64"]
SHAPES = [(0, 0), (0, 3), (3, 0), (1, 1), (7, 5), (40, 300), (300, 40)]
# Large enough for two threads.
LARGE = (12_000, 30)
THREADS = [1, 2]

every_index = pytest.mark.parametrize("index", INDICES)
every_shape = pytest.mark.parametrize("shape", [*SHAPES, LARGE], ids=str)
CASES = [(shape, index, value) for shape in SHAPES for index in INDICES for value in VALUES]
CASES += [(LARGE, "int32", value) for value in ("bool", "int8", "float64", "complex64")]
every_case = pytest.mark.parametrize(("shape", "index", "value"), CASES)


def numbers(rng: np.random.Generator, n: int | tuple[int, ...], value: str) -> Local:
    """Small whole numbers: their sums are exact in every type, whatever the order."""
    kind = np.dtype(value).kind
    if kind == "b":
        return rng.random(n) < 0.7
    low = 0 if kind == "u" else -3
    found = rng.integers(low, 4, n).astype(value)
    return found + 1j * rng.integers(-3, 4, n).astype(value) if kind == "c" else found


def triplets(shape: tuple[int, int], index: str, value: str, seed: int = 0) -> Csr:
    """Random entries with duplicates; some rows are empty, one is long."""
    rng = np.random.default_rng([seed, *shape])
    n = 0 if 0 in shape else 6 * max(shape)
    rows = rng.integers(0, max(shape[0], 1), n)
    rows[: n // 4] = shape[0] // 2
    columns = rng.integers(0, max(shape[1], 1), n)
    return rows.astype(index), columns.astype(index), numbers(rng, n, value)


def matrix(shape: tuple[int, int], index: str, value: str, seed: int = 0) -> Csr:
    return sparse.compressed(*triplets(shape, index, value, seed), shape, threads=1)


def dense(csr: Csr, shape: tuple[int, int]) -> Local:
    """The matrix as SciPy sees it, duplicates added."""
    indptr, indices, data = csr
    rows = np.repeat(np.arange(shape[0]), np.diff(indptr))
    return summed(rows, indices, data, shape)


def summed(rows: Local, columns: Local, values: Local, shape: tuple[int, int]) -> Local:
    out = np.zeros(shape, values.dtype)
    if values.dtype == bool:
        np.logical_or.at(out, (rows, columns), values)
    else:
        np.add.at(out, (rows, columns), values)
    return out


def same(found: Csr, wanted: Csr) -> None:
    for one, two in zip(found, wanted, strict=True):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)


def on_threads(run: Callable[[int], Csr]) -> Csr:
    """What one thread finds; two must find the same."""
    first = run(1)
    same(run(2), first)
    return first


@every_case
def test_compressed(shape: tuple[int, int], index: str, value: str) -> None:
    rows, columns, values = triplets(shape, index, value)
    found = on_threads(lambda n: sparse.compressed(rows, columns, values, shape, threads=n))
    np.testing.assert_array_equal(dense(found, shape), summed(rows, columns, values, shape))
    assert sparse.is_tidy(found[0], found[1])
    assert len(found[1]) == len({*zip(rows.tolist(), columns.tolist(), strict=True)})
    assert {one.dtype for one in found[:2]} == {np.dtype(index)}


def test_compressed_sums_in_the_order_of_entries() -> None:
    rng = np.random.default_rng(3)
    rows, columns = (rng.integers(0, 50, 200_000).astype(np.int32) for _ in range(2))
    values = rng.standard_normal(200_000)
    found = on_threads(lambda n: sparse.compressed(rows, columns, values, (50, 50), threads=n))
    wanted = np.zeros((50, 50))
    np.add.at(wanted, (rows, columns), values)
    np.testing.assert_array_equal(dense(found, (50, 50)), wanted)


@every_case
def test_tidy(shape: tuple[int, int], index: str, value: str) -> None:
    rows, columns, values = triplets(shape, index, value)
    order = np.argsort(rows, kind="stable")
    indptr = np.searchsorted(rows[order], np.arange(shape[0] + 1)).astype(index)
    given = (indptr, columns[order], values[order])
    found = on_threads(lambda n: sparse.tidy(*given, threads=n))
    same(found, matrix(shape, index, value))
    again = sparse.tidy(*found)
    assert all(one is two for one, two in zip(again, found, strict=True))
    if values.size:
        assert not sparse.is_tidy(indptr, columns[order])


@every_case
def test_transposed(shape: tuple[int, int], index: str, value: str) -> None:
    given = matrix(shape, index, value)
    found = on_threads(lambda n: sparse.transposed(*given, shape[1], threads=n))
    np.testing.assert_array_equal(dense(found, shape[::-1]), dense(given, shape).T)
    assert sparse.is_tidy(found[0], found[1])
    order = on_threads(lambda n: sparse.transposed_order(given[0], given[1], shape[1], threads=n))
    assert order[2].dtype == np.int64
    same((order[0], order[1], given[2][order[2]]), found)


@every_index
def test_large_transposed(index: str) -> None:
    shape = (3000, 70_000)
    rng = np.random.default_rng(1)
    rows, columns = (rng.integers(0, n, 300_000).astype(index) for n in shape)
    given = sparse.compressed(rows, columns, rng.standard_normal(300_000), shape)
    found = on_threads(lambda n: sparse.transposed(*given, shape[1], threads=n))
    wanted = sp.csr_array(given[::-1], shape).T.tocsr()
    for one, two in zip(found, (wanted.indptr, wanted.indices, wanted.data), strict=True):
        np.testing.assert_array_equal(one, two)


@every_index
@every_shape
def test_rows_of(shape: tuple[int, int], index: str) -> None:
    indptr = matrix(shape, index, "float64")[0]
    for n in THREADS:
        found = sparse.rows_of(indptr, threads=n)
        assert found.dtype == indptr.dtype
        np.testing.assert_array_equal(found, np.repeat(np.arange(shape[0]), np.diff(indptr)))


def multiplied(a: Local, b: Local) -> Local:
    return (a.astype(int) @ b.astype(int) > 0) if a.dtype == bool else a @ b


@every_case
@pytest.mark.parametrize("width", [None, 0, 1, 3, 45])
def test_times(shape: tuple[int, int], index: str, value: str, width: int | None) -> None:
    rng = np.random.default_rng(5)
    given = matrix(shape, index, value)
    tail = () if width is None else (width,)
    right = numbers(rng, (shape[1], *tail), value)
    before = numbers(rng, (shape[0], *tail), value)
    wanted = multiplied(dense(given, shape), right)
    for n in THREADS:
        for n_own in {0, shape[1] // 3, shape[1]}:
            own, ghosts = right[:n_own].copy(), right[n_own:].copy()
            out = before.copy()
            sparse.times(*given, own, ghosts, out, threads=n)
            np.testing.assert_array_equal(out, wanted)
            out = before.copy()
            sparse.times(*given, own, ghosts, out, add=True, threads=n)
            np.testing.assert_array_equal(out, before + wanted)


@every_case
@pytest.mark.parametrize("width", [None, 3, 45])
def test_times_transposed(
    shape: tuple[int, int], index: str, value: str, width: int | None
) -> None:
    rng = np.random.default_rng(6)
    given = matrix(shape, index, value)
    tail = () if width is None else (width,)
    right = numbers(rng, (shape[0], *tail), value)
    before = numbers(rng, (shape[1], *tail), value)
    for conjugate in (False, True):
        turned = dense(given, shape).T
        wanted = before + multiplied(
            np.conj(turned) if conjugate and value[0] == "c" else turned, right
        )
        for n in THREADS:
            n_own = shape[1] // 3
            own, ghosts = before[:n_own].copy(), before[n_own:].copy()
            sparse.times_transposed(*given, right, own, ghosts, conjugate, threads=n)
            np.testing.assert_array_equal(np.concatenate([own, ghosts]), wanted)


@every_case
@pytest.mark.parametrize("width", [0, 1, 21, 64])
def test_sampled(shape: tuple[int, int], index: str, value: str, width: int) -> None:
    rng = np.random.default_rng(7)
    indptr, indices, _ = matrix(shape, index, value)
    left, right = (numbers(rng, (n, width), value) for n in shape)
    rows = np.repeat(np.arange(shape[0]), np.diff(indptr))
    wanted = multiplied(left, right.T)[rows, indices]
    n_own = shape[1] // 2
    for n in THREADS:
        out = np.empty(len(indices), value)
        sparse.sampled(indptr, indices, left, right[:n_own], right[n_own:], out, threads=n)
        np.testing.assert_array_equal(out, wanted)


@every_case
def test_product(shape: tuple[int, int], index: str, value: str) -> None:
    n_columns = 80
    a, b = matrix(shape, index, value), matrix((shape[1], n_columns), index, value, seed=1)
    n_own = shape[1] // 3
    own = sparse.taken_rows(*b, np.arange(n_own))
    ghosts = sparse.taken_rows(*b, np.arange(n_own, shape[1]))
    found = on_threads(lambda n: sparse.product(a, own, ghosts, n_columns, threads=n))
    wanted = multiplied(dense(a, shape), dense(b, (shape[1], n_columns)))
    np.testing.assert_array_equal(dense(found, (shape[0], n_columns)), wanted)
    assert sparse.is_tidy(found[0], found[1])


def test_products_of_many_columns_and_of_long_rows() -> None:
    rng = np.random.default_rng(8)
    none = (np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(0))
    for n_rows, n_columns, n_entries in [
        (30, 10**6, 60),
        (400, 3000, 60_000),
        (900, 10**5, 20_000),
    ]:
        rows, columns = (rng.integers(0, n_rows, n_entries).astype(np.int32) for _ in range(2))
        a = sparse.compressed(rows, columns, rng.standard_normal(n_entries), (n_rows, n_rows))
        columns = rng.integers(0, n_columns, n_entries).astype(np.int32)
        b = sparse.compressed(rows, columns, rng.standard_normal(n_entries), (n_rows, n_columns))
        found = on_threads(lambda n: sparse.product(a, b, none, n_columns, threads=n))  # noqa: B023
        wanted = sp.csr_array(a[::-1], (n_rows, n_rows)) @ sp.csr_array(
            b[::-1], (n_rows, n_columns)
        )
        wanted.sort_indices()
        np.testing.assert_array_equal(found[0], wanted.indptr)
        np.testing.assert_array_equal(found[1], wanted.indices)
        np.testing.assert_allclose(found[2], wanted.data, atol=1e-12)


@every_case
@pytest.mark.parametrize("operation", ["add", "subtract", "multiply", "maximum", "minimum"])
def test_combined(shape: tuple[int, int], index: str, value: str, operation: str) -> None:
    a, b = matrix(shape, index, value), matrix(shape, index, value, seed=1)
    found = on_threads(lambda n: sparse.combined(a, b, operation, shape[1], threads=n))
    x, y = dense(a, shape), dense(b, shape)
    wanted = np.logical_xor(x, y) if (operation, value) == ("subtract", "bool") else None
    wanted = getattr(np, operation)(x, y) if wanted is None else wanted
    np.testing.assert_array_equal(dense(found, shape), wanted)
    assert sparse.is_tidy(found[0], found[1])
    ones = [dense((one[0], one[1], np.ones(len(one[1]), bool)), shape) for one in (a, b)]
    kept = ones[0] & ones[1] if operation == "multiply" else ones[0] | ones[1]
    np.testing.assert_array_equal(
        dense((found[0], found[1], np.ones(len(found[1]), bool)), shape), kept
    )


@every_case
def test_taken_rows_and_chosen_columns(shape: tuple[int, int], index: str, value: str) -> None:
    rng = np.random.default_rng(9)
    given = matrix(shape, index, value)
    rows = rng.integers(0, max(shape[0], 1), 0 if shape[0] == 0 else 2 * shape[0])
    found = on_threads(lambda n: sparse.taken_rows(*given, rows, threads=n))
    np.testing.assert_array_equal(dense(found, (len(rows), shape[1])), dense(given, shape)[rows])
    keep = rng.random(shape[1]) < 0.5
    new = np.where(keep, np.cumsum(keep) - 1, -1)
    found = on_threads(lambda n: sparse.chosen_columns(*given, new, threads=n))
    wanted = dense(given, shape)[:, keep]
    np.testing.assert_array_equal(dense(found, wanted.shape), wanted)


@every_index
def test_rows_of_several_matrices_in_any_order(index: str) -> None:
    rng = np.random.default_rng(19)
    for value in ("bool", "float32", "complex128"):
        sources = [matrix((n, 6), index, value) for n in (5, 0, 9)]
        owners = rng.choice([0, 2], 40)
        places = np.array([rng.integers(0, (5, 0, 9)[owner]) for owner in owners])
        wanted = np.array(
            [
                dense(sources[owner], ((5, 0, 9)[owner], 6))[at]
                for owner, at in zip(owners, places, strict=True)
            ]
        )
        given: list[Any] = [sources[0], None, sources[2]]
        found, starts = sparse.taken_from(given, owners, places)
        np.testing.assert_array_equal(dense(found, (40, 6)), wanted)
        values = sparse.values_from([given[0][2], None, given[2][2]], owners, starts, found[0])
        np.testing.assert_array_equal(values, found[2])
    refusals: list[tuple[Any, ...]] = [
        ([1, 0], [0, 0], "matrix 1, which is absent"),
        ([0, 3], [0, 0], "matrix 3, which is absent"),
        ([0, -1], [0, 0], "absent"),
        ([0, 0], [0, 5], "row 5 of 5"),
        ([0, 0], [0, -1], "row -1 of 5"),
        ([0], [0, 1], "there are 1 owners; give 2"),
    ]
    for owners_given, places_given, problem in refusals:
        with pytest.raises(ValueError, match=problem):
            sparse.taken_from(given, np.array(owners_given), np.array(places_given))
    with pytest.raises(ValueError, match="give all of them"):
        sparse.values_from([np.ones(3)], np.zeros(1, int), np.ones(1, int), np.array([0, 3]))
    with pytest.raises(ValueError, match="never fall"):
        sparse.values_from([np.ones(3)], np.zeros(2, int), np.zeros(2, int), np.array([0, 3, 2]))


@every_index
def test_triplets_in_lists_and_grouped(index: str) -> None:
    rng = np.random.default_rng(20)
    for n, cuts in ((0, [0, 3, 9]), (50_000, [0, 3, 3, 9]), (50_000, [*range(10)])):
        rows, columns = (rng.integers(0, 9, n).astype(index) for _ in range(2))
        values = rng.integers(-3, 4, n).astype("float64")
        wanted = np.zeros((9, 9))
        np.add.at(wanted, (rows, columns), values)
        lists = [(rows[at::3], columns[at::3], values[at::3]) for at in range(3)]
        found = on_threads(lambda n: sparse.compressed_lists(lists, (9, 9), threads=n))  # noqa: B023
        np.testing.assert_array_equal(dense(found, (9, 9)), wanted)
        ends = np.array(cuts, index)
        grouped, counts = sparse.divided(rows, columns, values, ends)
        several, _ = sparse.divided(rows, columns, values, ends, threads=3)
        for one, two in zip(grouped, several, strict=True):
            np.testing.assert_array_equal(one, two)
        start = 0
        for low, high, count in zip(cuts, cuts[1:], counts, strict=False):
            inside = (rows >= low) & (rows < high)
            here = slice(start, start + count)
            np.testing.assert_array_equal(grouped[0][here], rows[inside] - low)
            np.testing.assert_array_equal(grouped[1][here], columns[inside])
            np.testing.assert_array_equal(grouped[2][here], values[inside])
            start += count
        assert start == n
        # Two have entries, each stretch is made of what both have.
        both = [
            sparse.grouped(rows[at::2], columns[at::2], values[at::2], cuts, n) for at in range(2)
        ]
        begins = [0, 0]
        for stretch, (low, high) in enumerate(pairwise(cuts)):
            groups = []
            for at, (entries, told) in enumerate(both):
                end = begins[at] + sum(told[stretch])
                groups.append((entries[begins[at] : end], told[stretch]))
                begins[at] = end
            kinds = np.dtype(index), values.dtype
            made = sparse.compressed_groups(groups, kinds, (cuts, stretch), (n, 9))
            np.testing.assert_array_equal(dense(made, (high - low, 9)), wanted[low:high])
    with pytest.raises(ValueError, match="row 9 of 9"):
        sparse.grouped(np.full(1, 9, index), np.zeros(1, index), np.ones(1), cuts, 1)
    short = np.zeros(3, np.uint8)
    with pytest.raises(ValueError, match="there are 3 bytes"):
        sparse.compressed_groups([(short, [1])], kinds, (cuts, 0), (1, 9))
    with pytest.raises(ValueError, match="row 9 of 9"):
        sparse.divided(np.full(1, 9, index), np.zeros(1, index), np.ones(1), ends)
    with pytest.raises(ValueError, match="never fall"):
        sparse.divided(rows, columns, values, np.array([0, 5, 4, 9], index))


@every_index
@pytest.mark.parametrize("value", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("width", [None, 45])
def test_sums_of_products_do_not_depend_on_threads(
    index: str, value: str, width: int | None
) -> None:
    shape = (20_000, 300_000)
    rng = np.random.default_rng(10)
    rows, columns = (rng.integers(0, n, 200_000).astype(index) for n in shape)
    given = sparse.compressed(rows, columns, rng.standard_normal(200_000).astype(value), shape)
    tail = () if width is None else (width,)
    right = rng.standard_normal((shape[1], *tail)).astype(value)
    wanted = sp.csr_array(given[::-1], shape) @ right
    outs = []
    for n in THREADS:
        out = np.empty((shape[0], *tail), value)
        sparse.times(*given, right[:1000], right[1000:], out, threads=n)
        outs.append(out)
        np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(outs[0], outs[1])


def test_values_of_a_stranger_are_true() -> None:
    """Any byte but 0 is true, also where it is not 1."""
    odd = np.array([2, 0, 4], np.uint8).view(bool)
    indptr, indices = np.array([0, 3]), np.array([0, 1, 2])
    out = np.zeros(1, bool)
    sparse.times(indptr, indices, odd, np.ones(3, bool), np.zeros(0, bool), out)
    assert out.view(np.uint8).tolist() == [1]


GOOD = (np.array([0, 1, 3]), np.array([2, 0, 1]), np.array([1.0, 2.0, 3.0]))


def calls(csr: Csr) -> dict[str, Callable[[], object]]:
    """Every function that looks at the rows of a matrix of 2 rows and 3 columns."""
    x, y, m, n = np.zeros(3), np.zeros(2), np.zeros((3, 4)), np.zeros((2, 4))
    index = csr[0].dtype
    none = (np.zeros(1, index), np.zeros(0, index), np.zeros(0))
    square = (np.arange(4, dtype=index), np.arange(3, dtype=index), np.ones(3))
    turned = (square[0], np.array([0, 1, 0], index), np.ones(3))
    return {
        "tidy": lambda: sparse.tidy(*csr),
        "is_tidy": lambda: sparse.is_tidy(*csr[:2]),
        "transposed": lambda: sparse.transposed(*csr, 3),
        "transposed_order": lambda: sparse.transposed_order(*csr[:2], 3),
        "times": lambda: sparse.times(*csr, x, x[:0], y),
        "times rows": lambda: sparse.times(*csr, m, m[:0], n),
        "times_transposed": lambda: sparse.times_transposed(*csr, y, x, x[:0]),
        "sampled": lambda: sparse.sampled(*csr[:2], n, m, m[:0], np.zeros(max([0, *csr[0][-1:]]))),
        "product": lambda: sparse.product(csr, none, square, 3),
        "product with": lambda: sparse.product(turned, none, csr, 3),
        "combined": lambda: sparse.combined(csr, csr, "add", 3),
        "taken_rows": lambda: sparse.taken_rows(*csr, np.array([1, 0])),
        "chosen_columns": lambda: sparse.chosen_columns(*csr, np.arange(3)),
    }


@pytest.mark.parametrize("name", list(calls(GOOD)))
@every_index
def test_wrong_matrices_are_refused(name: str, index: str) -> None:
    wrong = {
        "falls": [0, 3, 1],
        "begins with": [1, 1, 3],
        "ends with 4": [0, 1, 4],
        "-5": [0, -5, 3],
        "no elements": [],
    }
    for words, indptr in wrong.items():
        csr = (np.array(indptr, index), GOOD[1].astype(index), GOOD[2])
        words = "never fall" if words in ("falls", "-5") else words
        with pytest.raises(ValueError, match=words):
            calls(csr)[name]()
    far = (GOOD[0].astype(index), GOOD[1].astype(index), GOOD[2][:2])
    if name not in ("is_tidy", "transposed_order", "sampled"):
        with pytest.raises(ValueError, match="2 values"):
            calls(far)[name]()


@pytest.mark.parametrize("column", [-1, 3, 2**31 - 1, -(2**31)])
@every_index
def test_wrong_columns_are_refused(column: int, index: str) -> None:
    csr = (GOOD[0].astype(index), np.array([2, column, 1], index), GOOD[2])
    for name, call in calls(csr).items():
        if name in ("tidy", "is_tidy", "taken_rows"):
            call()
        else:
            with pytest.raises(ValueError, match=str(column)):
                call()


def test_other_wrong_arguments_are_refused() -> None:
    rows, columns, values = np.array([0, 1]), np.array([0, 5]), np.ones(2)
    with pytest.raises(ValueError, match="column 5 of 5"):
        sparse.compressed(rows, columns, values, (2, 5))
    with pytest.raises(ValueError, match="row 1 of 1"):
        sparse.compressed(rows, columns, values, (1, 6))
    with pytest.raises(ValueError, match="-1"):
        sparse.taken_rows(*GOOD, np.array([-1]))
    with pytest.raises(ValueError, match="row 2 of 2"):
        sparse.taken_rows(*GOOD, np.array([0, 2]))
    with pytest.raises(ValueError, match="become -2"):
        sparse.chosen_columns(*GOOD, np.array([0, -2, 1]))
    short = (GOOD[0].astype(np.int32), GOOD[1].astype(np.int32), GOOD[2])
    with pytest.raises(ValueError, match="become 2147483648"):
        sparse.chosen_columns(*short, np.array([0, 2**31, 1]))
    untidy = (GOOD[0], np.array([0, 1, 0]), GOOD[2])
    with pytest.raises(ValueError, match="column 0 follows 1"):
        sparse.combined(untidy, GOOD, "add", 3)
    with pytest.raises(ValueError, match="power"):
        sparse.combined(GOOD, GOOD, "power", 3)
    with pytest.raises(ValueError, match="int64 beside int32"):
        sparse.is_tidy(short[0], GOOD[1])
    with pytest.raises(ValueError, match="use int32 or int64"):
        sparse.is_tidy(GOOD[0].astype(np.int16), GOOD[1].astype(np.int16))
    with pytest.raises(ValueError, match="use float32"):
        sparse.tidy(np.array([0, 2]), np.array([1, 1]), np.ones(2, np.float16))
    with pytest.raises(ValueError, match="float32 beside float64"):
        sparse.times(*GOOD, np.ones(3, np.float32), np.ones(0, np.float32), np.ones(2, np.float32))
    both = np.ones(3)
    with pytest.raises(ValueError, match="shares memory"):
        sparse.times(*GOOD, both, both[:0], both[:2])
    with pytest.raises(ValueError, match="one width"):
        sparse.times(*GOOD, np.ones((3, 2)), np.ones((0, 2)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="3 numbers of the result"):
        sparse.times(*GOOD, np.ones(3), np.ones(0), np.ones(3))
    crooked = np.frombuffer(bytes(25), np.uint8)[1:].view(np.float64)
    with pytest.raises(ValueError, match="odd addresses"):
        sparse.times(GOOD[0], GOOD[1], crooked, np.ones(3), np.ones(0), np.ones(2))
    fixed = np.frombuffer(bytes(16))
    with pytest.raises(ValueError, match="read-only"):
        sparse.times(*GOOD, np.ones(3), np.ones(0), fixed)
