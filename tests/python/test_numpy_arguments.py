"""Arguments that partita once took, or refused, where NumPy does not."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest
from numpy_corners import RANKS, Work, called, check, spread, written

import partita

# Their types are stricter than what tests give to them.
np: Any = numpy
pt: Any = partita
nan, inf = np.nan, np.inf


@pytest.mark.filterwarnings("ignore::partita.GatherWarning")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_types_are_refused_and_kept_as_by_numpy(n_ranks: int) -> None:
    def put(dtype: str, np: Any, array: Any) -> Any:
        made = array(numpy.zeros(3))
        np.put(made, array(numpy.asarray([1], dtype)), 5.0)
        return made

    truths, halves = np.asarray([True, False, True]), np.ones(3, np.float16)
    works: dict[str, Work] = {dtype: partial(put, dtype) for dtype in ("uint64", "uint32", "int64")}
    works["sign"] = lambda np, array: np.sign(array(truths))
    works["round"] = lambda np, array: np.round(array(truths), 1)
    works["round to tens"] = lambda np, array: array(truths).round(-1)
    works["irfft"] = lambda np, array: np.fft.irfft(array(halves))
    works["hfft"] = lambda np, array: np.fft.hfft(array(halves))
    works["rfft"] = lambda np, array: np.fft.rfft(array(halves))
    works["irfft2"] = lambda np, array: np.fft.irfft2(array(numpy.ones((4, 3), numpy.float16)))
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_fractions_are_no_positions(n_ranks: int) -> None:
    x = np.arange(12.0).reshape(4, 3)
    keys: dict[str, Callable[[Any], Any]] = {
        "floats": lambda array: array([1.0, 0.0]),
        "fractions": lambda array: array([1.5]),
        "complex": lambda array: array([1 + 0j]),
        "one": lambda array: array(1.0),
        "behind": lambda array: (slice(None), array([1.0])),
        "beside": lambda array: (array([1.0]), array([1])),
        "none": lambda array: array([]),
        "list": lambda _: [],
        "integers": lambda array: array([1, 0]),
    }
    for name, key in keys.items():

        def read(_: Any, array: Any, key: Any = key) -> Any:
            return array(x)[key(array)]

        def write(made: Any, array: Any, key: Any = key) -> None:
            made[key(array)] = 9

        check({f"{name} read": read, name: written(write, x)}, n_ranks)
    positions: dict[str, Work] = {
        "outside": lambda _, array: array(x)[[], 7],
        "of nothing": lambda _, array: array(np.zeros((0, 4))).T[[], 2],
        "behind nothing": lambda _, array: array(np.zeros((5, 1, 2))).T[4, :, False],
        "inside": lambda _, array: array(x)[[], -3],
    }
    check(positions, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_numbers_of_python_that_do_not_fit_are_refused(n_ranks: int) -> None:
    works: dict[str, Work] = {
        "too large": lambda m, _: m.asarray([300, -1], dtype="uint8"),
        "negative": lambda m, _: m.array([[-1]], dtype="uint64"),
        "one": lambda m, _: m.asarray(300, dtype="uint8"),
        "complex": lambda m, _: m.asarray([1j, 2], dtype="float32"),
        "no number": lambda m, _: m.asarray([nan], dtype="uint8"),
        "infinite": lambda m, _: m.asarray([inf], dtype="int64"),
        "uneven": lambda m, _: m.asarray([[1], [2, 3]], dtype="uint8"),
        "of NumPy": lambda m, _: m.asarray([np.int64(300)], dtype="uint8"),
        "cut": lambda m, _: m.asarray([1.7, -2.7], dtype="int8"),
        "wide": lambda m, _: m.asarray([2**70], dtype=float),
        "before": lambda m, _: m.arange(-3, 1, dtype="uint32"),
        "behind": lambda m, _: m.arange(255, 258, dtype="uint8"),
        "cut before": lambda m, _: m.arange(-1.5, 3, dtype="uint8"),
        "none": lambda m, _: m.arange(300, 200, dtype="uint8"),
        "one alone": lambda m, _: m.arange(255, 256, dtype="uint8"),
    }
    check(works, n_ranks)
    small, mask = np.zeros(5, "uint8"), np.array([True, False, True, False, False])
    for values in ([300, 1], [-1, 2], [nan, 1], [1j, 0], [1.7, 2], np.array([300, -1])):
        keys: dict[str, Any] = {"mask": mask, "list": [0, 3], "slice": slice(0, 2)}
        for name, key in keys.items():

            def write(made: Any, _: Any, key: Any = key, values: Any = values) -> None:
                made[key] = values

            check({f"{name} {values}": written(write, small)}, n_ranks)


def test_what_is_no_array_is_said() -> None:
    for given, words in (
        (None, "nan where one is missing"),
        ({1, 2}, "list"),
        ((n for n in range(3)), "list"),
        ([None], "no arrays of objects"),
        ([1, {}], "dict are no numbers"),
        ({}, "dict shows no memory"),
        (b"ab", "frombuffer"),
        ("ab", "text"),
    ):
        with pytest.raises(ValueError, match=words):
            pt.asarray(given)
    assert pt.asarray(bytearray(b"ab")).tolist() == [97, 98]


@pytest.mark.parametrize("n_ranks", RANKS)
def test_a_copy_is_refused_where_none_is_allowed(n_ranks: int) -> None:
    def body(_: Any) -> None:
        a = pt.ones(8)
        for options in ({"layout": "cyclic"}, {"dtype": "float32"}):
            with pytest.raises(ValueError, match="copy=None"):
                pt.asarray(a, copy=False, **options)
        assert pt.asarray(a, copy=False, dtype=float) is a
        assert pt.asarray(a, copy=False, layout=a.layout) is a

    pt.spmd(body, n_ranks)


@pytest.mark.filterwarnings("ignore::partita.GatherWarning")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_arrays_to_write_to_have_the_shape_of_results(n_ranks: int) -> None:
    x = np.arange(24.0).reshape(4, 6)
    functions: dict[str, Callable[[Any, Any, Any], Any]] = {
        "add": lambda m, a, out: m.add(a, a, out=out),
        "masked": lambda m, a, out: m.add(a, a, out=out, where=a > 2),
        "mask": lambda m, a, out: m.add(a[0], 1, out=out, where=a > 2),
        "clip": lambda m, a, out: m.clip(a, 1, 2, out=out),
        "round": lambda m, a, out: m.round(a, out=out),
        "sum": lambda m, a, out: m.sum(a, axis=0, out=out),
        "method": lambda m, a, out: a.sum(axis=0, out=out),
        "std": lambda m, a, out: m.std(a, axis=0, out=out),
        "nanstd": lambda m, a, out: m.nanstd(a, axis=0, out=out),
        "ptp": lambda m, a, out: m.ptp(a, axis=0, out=out),
        "cumsum": lambda m, a, out: m.cumsum(a, axis=0, out=out),
        "reduce": lambda m, a, out: m.subtract.reduce(a, out=out),
        "dot": lambda m, a, out: m.dot(a.T, a[:, 0], out=out),
        "einsum": lambda m, a, out: m.einsum("ij->j", a, out=out),
        "concatenate": lambda m, a, out: m.concatenate([a[0]], out=out),
    }
    for shape in ((6,), (1, 6), (4, 6), (2, 4, 6), (6, 4), ()):
        for name, function in functions.items():

            def work(m: Any, array: Any, shape: Any = shape, function: Any = function) -> Any:
                return function(m, array(x), array(np.zeros(shape)))

            def to_numpy(m: Any, array: Any, shape: Any = shape, function: Any = function) -> Any:
                return function(m, array(x), np.zeros(shape))

            check({f"{name} {shape}": work, f"{name} {shape} of NumPy": to_numpy}, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_functions_that_make_arrays_take_layouts(n_ranks: int) -> None:
    def body(team: Any) -> None:
        x = np.arange(12).reshape(3, 4)
        options = {"layout": "*, block", "device": "cpu", "team": team}
        for made, wanted in (
            (pt.tri(3, 4, 1, **options), np.tri(3, 4, 1)),
            (pt.tril(x, **options), np.tril(x)),
            (pt.triu(pt.asarray(x), 1, layout="*, block"), np.triu(x, 1)),
            (pt.meshgrid([1, 2, 3, 4], [5, 6, 7], **options)[1], np.meshgrid(x[0], [5, 6, 7])[1]),
        ):
            assert made.layout.notation == f"*, block @ 1x{team.size}"
            np.testing.assert_array_equal(made.gather(), wanted, strict=True)

    pt.spmd(body, n_ranks)


def test_a_notation_serves_arrays_of_any_number_of_dimensions() -> None:
    def body(team: Any) -> None:
        made: list[Any] = [
            pt.zeros(4, layout="block, block, block"),
            pt.asarray(np.zeros(4), layout="block, *"),
            pt.zeros(4).redistribute("block, *"),
        ]
        with pt.default_layout("block, *"):
            made.append(pt.zeros(4))
        assert [one.local.shape for one in made] == [(2,)] * 4
        assert pt.zeros((), layout="block").shape == ()

    pt.spmd(body, 2)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_methods_take_what_functions_take(n_ranks: int) -> None:
    x = np.array([[0.0, 2, 0], [0, 0.5, 3]])
    works: dict[str, Work] = {
        "sum": lambda _, array: array(x).sum(axis=0, dtype=bool),
        "prod": lambda _, array: array(x).prod(axis=0, dtype=bool),
        "mean": lambda _, array: array(x).mean(axis=0, dtype="uint16"),
        "kept": lambda _, array: array(x).sum(axis=0, keepdims=1),
        "not kept": lambda _, array: array(x).max(axis=0, keepdims=0),
    }
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_lists_and_numbers_are_joined_by_index(n_ranks: int) -> None:
    small = np.arange(3, dtype=np.int8)
    works: dict[str, Work] = {
        "lists": lambda np, array: np.c_[[1, 2], [3, 4]],
        "tuples": lambda np, array: np.c_[(1, 2), (3.5, 4)],
        "mixed": lambda np, array: np.r_[0, [5, 6], array([7.5])],
        "axis": lambda np, array: np.r_["0,2", [1, 2], [3, 4]],
        "columns": lambda np, array: np.r_["1,2,0", [1, 2], [3, 4]],
        "types of numbers": lambda np, array: np.r_[array(small), 1],
        "types of lists": lambda np, array: np.r_[array(small), [1]],
        "slices": lambda np, array: np.r_[1:5:3j, [1], 0:2],
    }
    check(works, n_ranks)

    def too_large(_: Any) -> None:
        with pytest.raises(OverflowError):
            pt.r_[spread(small), 300]

    pt.spmd(too_large, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_numbers_that_a_type_cannot_hold_become_no_array(n_ranks: int) -> None:
    def body(_: Any) -> None:
        for make in (pt.asarray, pt.array):
            for given in (300, [1, 300], [[-129]]):
                with pytest.raises(OverflowError):
                    make(given, dtype=np.int8)
            with pytest.raises(TypeError):
                make([1j], dtype=float)
            with pytest.raises(ValueError, match="no memory to share"):
                make([1, 2], dtype=np.int64, copy=False)
            with pytest.raises(TypeError, match="no element type"):
                make([1, 2], dtype=object)
            assert make([1.5, 2], dtype=np.int8).tolist() == [1, 2]
            assert make([spread([1, 2])], dtype=np.int8).tolist() == [[1, 2]]

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_numbers_are_set_in_arrays_of_small_types(n_ranks: int) -> None:
    mask = np.asarray([True, False, True, True])

    def put(name: str, given: Any, np: Any, array: Any) -> Any:
        a = array(numpy.ones(4, numpy.uint8))
        where = [0, 2, 3] if name == "put" else array(mask)
        getattr(np, name)(a, where, given)
        return a

    works: dict[str, Work] = {}
    for name in ("put", "place", "putmask"):
        for given in (9, [9], [8, 9], [7.5], np.asarray([3, 4], np.uint8)):
            works[f"{name} {given}"] = partial(put, name, given)
        works[f"{name} complex"] = partial(put, name, [1j])
    check(works, n_ranks)

    def too_large(_: Any) -> None:
        for name in ("put", "place", "putmask"):
            with pytest.raises(OverflowError):
                put(name, [300], pt, spread)

    pt.spmd(too_large, n_ranks)


def test_positions_outside_name_their_dimension() -> None:
    a = pt.ones((2, 5, 7))
    for key in ((slice(None), slice(None), [9]), (..., [9]), (None, [0], None, 0, [9])):
        with pytest.raises(IndexError, match="index 9 is outside of dimension 2 with 7 entries"):
            a[key]
        with pytest.raises(IndexError, match="index 9 is outside of dimension 2 with 7 entries"):
            a[key] = 1
    with pytest.raises(IndexError, match="dimension 2"):
        pt.take(a, [9], axis=2)
    with pytest.raises(IndexError, match="there is nothing to choose"):
        pt.take(pt.ones(0), [0])


def test_the_class_by_numpys_name_has_methods() -> None:
    assert float(pt.ndarray.sum(pt.ones(3))) == 3.0
    with pytest.raises(AttributeError, match="no 'base' here"):
        _ = pt.ndarray.base
    with pytest.raises(TypeError, match="use asarray"):
        pt.ndarray((2,), buffer=np.ones(2))


@pytest.mark.parametrize("n_ranks", RANKS)
def test_reductions_to_truth_values_have_no_other_type(n_ranks: int) -> None:
    def reduced(name: str, method: str, dtype: Any, np: Any, array: Any) -> Any:
        given = ([0],) if method == "reduceat" else ()
        return getattr(getattr(np, name), method)(array([1.0, 0, 2]), *given, dtype=dtype)

    works: dict[str, Work] = {
        f"{name} {method} {dtype}": partial(reduced, name, method, dtype)
        for name in ("logical_and", "logical_or", "logical_xor")
        for method in ("reduce", "accumulate", "reduceat")
        for dtype in ("float32", "int8", bool, None)
    }
    check(works, n_ranks)
    with pytest.raises(TypeError, match=r"logical_or.reduce makes truth values, not float32"):
        pt.logical_or.reduce(pt.ones(3), dtype="f4")


def test_universal_functions_have_numpys_names_and_options() -> None:
    for name in ("pow", "atan2", "abs", "bitwise_invert", "conj", "add"):
        assert getattr(pt, name).__name__ == getattr(np, name).__name__
        assert pickle.loads(pickle.dumps(getattr(pt, name))) is getattr(pt, name)
    with pytest.raises(ValueError, match=r"arctan2.reduce of no elements"):
        pt.atan2.reduce(pt.ones(0))
    with pytest.raises(TypeError, match=r"add\(\) takes no option foo; use out, where,"):
        pt.add(pt.ones(3), 1, foo=1)


@pytest.mark.filterwarnings("ignore::partita.GatherWarning")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_axes_and_orders_are_refused_as_by_numpy(n_ranks: int) -> None:
    row, square, one = np.arange(9.0), np.ones((2, 3)), np.asarray(3.0)
    works: dict[str, Work] = {}
    for sorter in ([0, 1], [[*range(9)]], [], row, row > 3, list(range(8, -1, -1))):
        works[f"sorter {sorter}"] = called("searchsorted", -row, -row, sorter=sorter)
    for axis in (3, -5, 1, 0, -1, 0.5, None):
        for x in (row, row[:0], square, one):
            works[f"unique {x.shape} {axis}"] = called("unique", x, axis=axis)
        works[f"squeeze {axis}"] = called("squeeze", one, axis=axis)
    works["squeeze several"] = called("squeeze", one, axis=(0,))
    names = ["sum", "prod", "max", "min", "mean", "std", "var", "any", "all", "count_nonzero"]
    names += ["argmax", "cumsum", "cumprod", "ptp", "nansum", "nanmean", "nanvar", "nanmax"]
    for name in names:
        works[f"{name} over truth"] = called(name, square, axis=True)
    works["several truths"] = called("sum", square, axis=(False, True))
    for name in ("add", "power", "maximum", "gcd"):
        works[f"{name}.reduce"] = partial(_over_truth, name, "reduce", square)
        works[f"{name}.accumulate"] = partial(_over_truth, name, "accumulate", square)
    check(works, n_ranks)
    with pytest.raises(ValueError, match="2 positions for 9 elements"):
        pt.searchsorted(row, row, sorter=[0, 1])


def _over_truth(name: str, method: str, x: Any, module: Any, array: Callable[..., Any]) -> Any:
    return getattr(getattr(module, name), method)(array(x), axis=True)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_wrong_arguments_are_refused_as_by_numpy(n_ranks: int) -> None:
    works: dict[str, Work] = {
        "negative size": lambda np, array: np.broadcast_to(array([1.0, 2.0]), (2, -1)),
        "vectors of two": lambda np, array: np.linalg.cross(array([1, 2]), array([3, 4])),
        "vectors of three": lambda np, array: np.linalg.cross(array([1, 2, 0]), array([3, 4, 1])),
        "two divisors": lambda np, array: np.var(array([1.0, 2.0]), ddof=1, correction=1),
        "kind": lambda np, array: np.isin(array([1, 2]), [1], kind="other"),
        "nowhere": lambda np, array: np.put(array([]), [1], []),
        "no matrix": lambda np, array: np.linalg.matrix_norm(array([1.0, 2.0])),
        "truth": lambda np, array: array([[1.0, 2.0]]).sum(True),
        "some truth": lambda np, array: array([[1.0, 2.0]]).max((0, True)),
        "mean of truth": lambda np, array: array([[1.0, 2.0]]).mean(axis=True),
    }
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_no_numbers_are_compared_and_written_as_by_numpy(n_ranks: int) -> None:
    ones = np.ones(3)
    texts = np.asarray(["1", "1", "1"])
    works: dict[str, Work] = {}
    for name in ("array_equal", "array_equiv"):
        for odd in (None, "a", b"a", [None], [1, None, 1], ["1", "1", "1"]):
            works[f"{name} of two {odd!r}"] = called(name, odd, odd)
            works[f"{name} {odd!r}"] = called(name, ones, odd)
            works[f"{name} {odd!r} first"] = called(name, odd, ones)
    works["array of texts"] = lambda np, array: np.array_equal(array(ones), texts)
    works["arrays of texts"] = lambda np, _: np.array_equiv(texts, texts)
    for dtype in ("float64", "float16", "complex64", "int64"):
        keys: dict[str, Any] = {"one": 0, "slice": slice(1, None), "list": [0, 2]}
        keys |= {"mask": np.asarray([True, False, True]), "all": ...}
        for name, key in keys.items():

            def write(made: Any, _: Any, key: Any = key) -> None:
                made[key] = None

            works[f"{name} of {dtype}"] = written(write, ones.astype(dtype))
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_too_many_and_complex_numbers_are_refused(n_ranks: int) -> None:
    huge = 10**30
    works: dict[str, Work] = {
        "linspace": called("linspace", 0, 1, huge),
        "between": called("linspace", np.zeros(2), 1, huge),
        "logspace": called("logspace", 0, 1, huge),
        "ones": called("ones", huge),
        "eye": called("eye", huge),
    }
    check(works, n_ranks)
    for given in ((1 + 2j,), (0, 5, 1j), (np.complex64(2),)):
        with pytest.raises(TypeError, match=r"arange with .*j.*, a complex number; use real"):
            pt.arange(*given)


def test_files_name_the_package_that_they_need(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = pt.ones(3)
    for name in ("zarr", "h5py"):
        monkeypatch.setitem(sys.modules, name, None)
    works: dict[str, Callable[[], Any]] = {
        "from_zarr": lambda: pt.from_zarr(tmp_path / "a.zarr"),
        "to_zarr": lambda: a.to_zarr(tmp_path / "a.zarr"),
        "from_hdf5": lambda: pt.from_hdf5(tmp_path / "a.h5", "a"),
        "to_hdf5": lambda: a.to_hdf5(tmp_path / "b.h5", "a"),
    }
    for name, work in works.items():
        package = "zarr" if name.endswith("zarr") else "h5py"
        with pytest.raises(
            ImportError, match=f"needs {package}; install it with 'pip install {package}'"
        ):
            work()


def test_only_arrays_are_computed() -> None:
    for given in (3, [pt.ones(3)], np.ones(3), None):
        kind = type(given).__name__
        with pytest.raises(TypeError, match=f"a {kind} is no array of partita; use compute"):
            pt.compute(pt.ones(3), given)


def test_profiles_are_pictures_or_traces(tmp_path: Any) -> None:
    with pt.profile() as noted:
        pt.ones(3).sync()
    for name in ("x.png", "x", "run.txt"):
        with pytest.raises(pt.LayoutError, match="neither a picture nor a trace") as caught:
            noted.save(tmp_path / name)
        assert caught.value.reason == "timeline"
    noted.save(tmp_path / "x.json")
    noted.save(tmp_path / "x.SVG")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["x.SVG", "x.json"]
