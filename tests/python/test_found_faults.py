"""Faults that random programs beside NumPy have found, each as the smallest program that had it."""

from __future__ import annotations

import threading
from typing import Any

import numpy
import pytest
from generate import fitted

import partita as pt

# Its types are stricter than what tests give to it.
np: Any = numpy
RANKS = [1, 2, 3, 4]


def same(found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found.gather(), wanted)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_one_position_is_read_and_written_once(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        x = np.arange(42).reshape(7, 6)
        for layout in ("block", "*, block", "cyclic", "*"):
            y, a = x.copy(), pt.asarray(x.copy(), layout)
            for index in (np.array(-2), pt.asarray(np.array(-2))):
                same(a[index, 1:], y[-2, 1:])
                same(a[index, 3], y[-2, 3])
                a[index, 1:] = 5
                a[index, 0] += 7
                y[-2, 1:] = 5
                y[-2, 0] += 7
                same(a, y)

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_medians_leave_out_complex_numbers_that_are_none(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        z = np.array(
            [-2 + 2j, np.inf, 2, np.nan, 1.5 + 2j, 1.5 - 2j, complex(1, np.nan), 0, 0, -1j]
        )
        same(pt.nanmedian(pt.asarray(z, "block")), np.nanmedian(z))
        assert np.isnan(pt.median(pt.asarray(z, "block")).gather())

    pt.spmd(body, n_ranks)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("n_ranks", [1, 3])
def test_quantiles_of_nothing_are_numpys(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        x = np.empty((4, 0))
        same(pt.nanquantile(pt.asarray(x), 0.5, axis=1), np.full(4, np.nan))
        same(pt.nanquantile(pt.asarray(x), [0.5, 0.1], axis=1), np.full((2, 4), np.nan))
        same(pt.nanquantile(pt.asarray(x), [], axis=1), np.empty((0, 4)))
        same(pt.quantile(pt.asarray(x), [0.5, 0.1], axis=0), np.quantile(x, [0.5, 0.1], axis=0))

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_the_middle_of_a_correlation_is_numpys(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        for short in (1, 2, 3, 4):
            x, y = np.arange(short) * (1 + 2j), np.arange(9) - 4j
            for mode in ("same", "full", "valid"):
                for a, b in ((x, y), (y, x)):
                    found = pt.correlate(pt.asarray(a, "block"), pt.asarray(b), mode)
                    np.testing.assert_allclose(found.gather(), np.correlate(a, b, mode))

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_parts_that_are_no_boxes_see_what_is_written_at_positions(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for size in (1, 6, 11):
            x = np.arange(float(size))
            a = pt.asarray(x.copy(), "cyclic")
            a[[0, -1]] = [7.0, 8.0]
            x[[0, -1]] = [7.0, 8.0]
            same(a, x)
            a[::-1][[0]] = 9.0
            x[-1] = 9.0
            # What the ranks hold, and not only what they compute with.
            mine = np.concatenate(team.allgather_data(a.local))
            np.testing.assert_array_equal(np.sort(mine), np.sort(x))

    pt.spmd(body, n_ranks)


@pytest.mark.filterwarnings("ignore::partita.GatherWarning")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_transforms_of_nothing_are_zeros(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        for shape, axis in (((0, 5), 0), ((4, 0), 1), ((0,), 0), ((0, 1), 0)):
            for layout in ("block", "*, block", "cyclic"):
                x = np.empty(shape, complex)
                a = pt.asarray(x, fitted(layout, x.ndim))
                same(pt.fft.fft(a, 6, axis), np.fft.fft(x, 6, axis))

    pt.spmd(body, n_ranks)


def test_threads_of_one_rank_write_at_positions() -> None:
    a = pt.asarray(np.zeros(400))
    failures: list[BaseException] = []

    def work(number: int) -> None:
        own = np.arange(number * 100, number * 100 + 100)
        try:
            for step in range(200):
                a[own] = float(step + number)
        except BaseException as error:  # a thread's own would be lost
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    same(a, np.repeat(np.arange(4.0) + 199, 100))


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_dealt_out_arrays_are_changed_at_positions(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        for layout in ("cyclic", "*, cyclic(2)", "block"):
            x, a = np.ones((4, 5)), pt.ones((4, 5), layout=layout)
            # What has been computed with is computed with where parts are boxes.
            a += 1
            x += 1
            inside, part = x[1:], a[1:]
            for one, ours in ((x, a), (inside, part)):
                np.add.at(one, [1, 1], 2)
                pt.add.at(ours, [1, 1], 2)
                np.negative.at(one, (2, [0, 3]))
                pt.negative.at(ours, (2, [0, 3]))
                np.multiply.at(one, [0], np.arange(5.0))
                pt.multiply.at(ours, [0], pt.arange(5.0))
                same(a, x)
                same(part, inside)
                np.testing.assert_array_equal(a.copy().gather(), x)

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_reductions_are_cast_to_where_they_are_written(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        x, n = np.arange(12.0).reshape(4, 3) + 0.5, np.arange(12).reshape(4, 3) - 3
        a, m = pt.asarray(x, "block", copy=True), pt.asarray(n, "block", copy=True)
        for name in ("sum", "prod", "max", "mean", "var", "median"):
            for kind in ("int64", "int32", "float32"):
                made = getattr(pt, name)(a, axis=0, out=pt.zeros(3, dtype=kind))
                same(made, getattr(np, name)(x, axis=0, out=np.zeros(3, kind)))
        same(pt.cumsum(a, out=pt.zeros(12, dtype=int)), np.cumsum(x, out=np.zeros(12, int)))
        # Functions of each element stay strict.
        with pytest.raises(TypeError, match="can hold it"):
            pt.add(a, 1, out=pt.zeros((4, 3), dtype=int))
        with pytest.raises(TypeError, match="can hold it"):
            pt.std(a, axis=0, out=pt.zeros(3, dtype=int))
        for kind in ("int64", "int8", "uint8"):
            same(pt.mean(m, dtype=kind), np.mean(n, dtype=kind))
            same(pt.mean(a, axis=1, dtype=kind), np.mean(x, axis=1, dtype=kind))

    pt.spmd(body, n_ranks)


def test_integers_and_truth_values_are_computed_as_by_numpy() -> None:
    with np.errstate(all="ignore"):
        for kind in "?bBhHiIlLdF":
            x = np.array([1, 2, 0, -1, -2, 3]).astype(kind)
            same(pt.reciprocal(pt.asarray(x)), np.reciprocal(x))
            same(pt.conj(pt.asarray(x)), np.conj(x))
    for work in (pt.positive, pt.clip):
        with pytest.raises(TypeError, match="truth values"):
            work(pt.asarray([True]))
    same(pt.clip(pt.asarray([True]), False), np.clip(np.array([True]), False, None))


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_other_shapes_of_results_are_views(n_ranks: int) -> None:
    works: list[Any] = [
        pt.sort,
        pt.argsort,
        pt.maximum.accumulate,
        lambda a, axis: pt.partition(a, 1, axis=axis),
        lambda a, axis: pt.take(a, [0, 2, 1], axis),
        lambda a, axis: pt.compress([True, False, True], a, axis),
        lambda a, axis: pt.quantile(a, [0.2, 0.5], axis=axis),
        lambda a, axis: pt.lexsort((a, a), axis=axis),
        lambda a, axis: pt.ascontiguousarray(pt.moveaxis(a, axis, -1)),
    ]

    def body(_: pt.Team) -> None:
        x = (np.arange(60) * 7 % 31).reshape(3, 4, 5)
        for layout in ("*", "block", "*, cyclic"):
            for axis in range(3):
                for work in works:
                    made: Any = work(pt.asarray(x, layout, copy=True), axis=axis)
                    row, wanted = made.reshape(-1), made.gather()
                    row[7] = 99
                    wanted.reshape(-1)[7] = 99
                    same(made, wanted)
                    made += 1
                    same(row, wanted.reshape(-1) + 1)

    pt.spmd(body, n_ranks)


def test_contiguous_arrays_are_not_copied() -> None:
    a = pt.ones((3, 4))
    pt.ascontiguousarray(a)[0, 0] = 5
    assert float(a[0, 0]) == 5


@pytest.mark.parametrize("n_ranks", RANKS)
def test_what_numpy_refuses_on_one_rank_is_refused_on_all(n_ranks: int) -> None:
    def body(_: pt.Team) -> str:
        x = np.full((8, 2), 2)
        x[0, 1] = -1
        a: Any = pt.asarray(x, "block")
        words = ""
        for method in (pt.power.reduce, pt.power.accumulate):
            with pytest.raises(ValueError, match="negative integer powers") as caught:
                method(a, axis=1)
            words += str(caught.value)
        # All ranks go on alike.
        same(pt.power.reduce(a[1:], axis=1), np.power.reduce(x[1:], axis=1))
        return words

    assert len(set(pt.spmd(body, n_ranks))) == 1


@pytest.mark.parametrize("n_ranks", RANKS)
def test_integers_without_a_common_type_are_told_apart(n_ranks: int) -> None:
    signed = np.array([2**62 + 1, 5, -1, 2**63 - 1, -(2**63), 2**53 + 1], "i8")
    unsigned = np.array([2**62, 5, 2**64 - 1, 2**63 - 1, 2**63, 2**53, 2**53 + 1], "u8")

    def body(_: pt.Team) -> None:
        for own, others in ((signed, unsigned), (unsigned, signed)):
            wanted = np.asarray([one in others.tolist() for one in own.tolist()])
            for layout in ("block", "*"):
                a, b = pt.asarray(own, layout), pt.asarray(others, layout)
                same(pt.isin(a, b), wanted)
                same(pt.isin(a, b, invert=True), ~wanted)
                same(pt.setdiff1d(a, b), np.sort(own[~wanted]))
        same(pt.isin(pt.asarray(unsigned), [5, -1]), unsigned == 5)

    pt.spmd(body, n_ranks)


@pytest.mark.filterwarnings("ignore:.*bins estimated may be suboptimal:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:.*are the most that bins='stone' tries:RuntimeWarning")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_bins_are_found_by_trials_as_by_numpy(n_ranks: int) -> None:
    rng = np.random.default_rng(3)
    apart = np.concatenate([rng.normal(size=200), rng.normal(9, 0.2, size=300)])
    rows = [apart, apart.astype("f4"), rng.integers(0, 50, 300), np.ones(5), np.ones(1), apart[:0]]
    rows += [rng.random(11_000), (apart > 1).astype("u1")]

    def body(_: pt.Team) -> None:
        for row in rows:
            for limits in (None, (-1, 2.5)):
                found = pt.histogram(pt.asarray(row, "block"), "stone", limits)
                for ours, theirs in zip(found, np.histogram(row, "stone", limits), strict=True):
                    same(ours, theirs)

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_one_middle_element_is_not_added_to_itself(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        for x in (np.full(9, 1e308), np.full(7, 3e38, "f4"), np.array([1.0, np.inf, np.inf])):
            same(pt.median(pt.asarray(x, "block")), np.median(x))
            same(pt.nanmedian(pt.asarray(x, "block")), np.nanmedian(x))

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_positions_beside_an_empty_slice_are_looked_at(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        for index in ((slice(5, 2), [4]), ([4], slice(5, 2)), ([-4], slice(0))):
            with pytest.raises(IndexError, match="outside of dimension"):
                pt.ones((3, 3))[index]
        same(pt.ones((3, 3))[5:2, [2]], np.ones((3, 3))[5:2, [2]])

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_chosen_numbers_take_the_type_of_arrays(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        for dtype in ("u1", "f4", "c8", "u8"):
            x = np.asarray([2**53 + 1 if dtype == "u8" else 3, 2]).astype(dtype)
            for choices in ([x, 7], [7, x], [True, x], [x, x[::-1]], [x, np.float64(2)]):
                ours = [pt.asarray(one) if isinstance(one, np.ndarray) else one for one in choices]
                same(pt.choose(pt.asarray([0, 1]), ours), np.choose([0, 1], choices))
        with pytest.raises(OverflowError, match="300"):
            pt.choose(pt.asarray([0, 1]), [pt.asarray([1, 2], dtype="u1"), 300])

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_condition_numbers_of_singular_matrices_are_infinite(n_ranks: int) -> None:
    stack = np.stack([np.eye(3), np.zeros((3, 3)), np.diag([1.0, 2.0, 3.0])])
    given = [np.zeros((2, 2)), stack, np.ones((70, 70)), stack[:2]]

    def body(_: pt.Team) -> None:
        for x in given:
            for p in (1, -1, np.inf, -np.inf, "fro"):
                found = pt.linalg.cond(pt.asarray(x, "block"), p).gather()
                with np.errstate(all="ignore"):
                    np.testing.assert_allclose(found, np.linalg.cond(x, p))

    pt.spmd(body, n_ranks)


def test_elements_at_odd_addresses_are_multiplied_and_transformed() -> None:
    records = np.zeros(36, dtype=[("tag", "i1"), ("value", "f8")])
    records["value"] = np.arange(36.0) + 40 * np.eye(6).reshape(-1)
    odd = records["value"].reshape(6, 6)
    assert not odd.flags.aligned
    a, x = pt.asarray(odd), odd.copy()
    pairs = [
        (a @ a, x @ x),
        (pt.fft.rfft(a), np.fft.rfft(x)),
        (pt.fft.fft(a, axis=0), np.fft.fft(x, axis=0)),
        (pt.linalg.inv(a), np.linalg.inv(x)),
        (pt.linalg.svdvals(a), np.linalg.svdvals(x)),
        (pt.linalg.solve(a, a[0]), np.linalg.solve(x, x[0])),
        (pt.linalg.det(a), np.linalg.det(x)),
    ]
    for found, wanted in pairs:
        np.testing.assert_allclose(found.gather(), wanted, atol=1e-12)
