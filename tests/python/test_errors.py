"""Wrong input: one row per mistake, then rubbish by the thousand."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np
import pytest

import partita as pt
from partita import dist

# Wrong types are passed on purpose.
layout: Any = pt.Layout
plan: Any = pt.plan
block: Any = pt.Block
cyclic: Any = pt.Cyclic
lists: Any = pt.Unstructured
boxes: Any = pt.Layout.from_boxes

GOOD: Any = pt.Layout((8, 6), "block, cyclic(2) @ 2x2")
CROWD: Any = pt.Layout(5, "block @ 9000000000")
LINE: Any = pt.Layout(10, "block @ 2")
BOXED: Any = pt.Layout.from_boxes((4,), [[((0,), (1,)), ((2,), (1,))], []])
SPARSE: Any = pt.Layout(3, [pt.Unstructured([[-5, 9], [1]])], grid=2)
FROZEN = np.zeros(1, dtype=np.int64)
FROZEN.flags.writeable = False


def make(shape: object, notation: object, **kwargs: object) -> Callable[[], object]:
    return lambda: layout(shape, notation, **kwargs)


Row = tuple[str, str, Callable[[], object]]

# Reason, a value that the message names, the mistake.
SHAPES: list[Row] = [
    ("shape-negative", "-3", make((-3,), "*")),
    ("shape-not-integer", "2.0", make((2.0,), "*")),
    ("shape-not-integer", "'4'", make(("4",), "*")),
    ("shape-not-sequence", "None", make(None, "*")),
    ("shape-not-sequence", "'16x16'", make("16x16", "*, *")),
    ("shape-overflow", "9223372036854775809", make((2**63 + 1,), "*")),
    ("shape-overflow", str(2**64), make((2**64,), "*")),
    ("shape-overflow", "1267650600228229401496703205376", make((2**100,), "*")),
    ("shape-overflow", "4294967296", make((2**32, 2**32), "*, *")),
    (
        "shape-overflow",
        "4611686018427387904",
        make((2**62, 2), f"block+halo({2**60})+periodic, block+halo(9)+periodic @ 1x1"),
    ),
    ("maps-count", "2 maps for 1", make((8,), "*, *")),
    ("maps-count", "0 maps for 1", make((8,), "")),
    ("maps-count", "1 maps for 0", make((), "*")),
    ("maps-not-sequence", "7", make((8,), 7)),
    ("maps-not-sequence", "None", make((8,), None)),
    ("map-type", "block", make((8,), ["block"], grid=2)),
    ("map-type", "None", make((8,), [None], grid=2)),
]

GRIDS: list[Row] = [
    ("grid-missing", "1 distributed", make((8,), "block")),
    ("grid-axis-zero", "column 9", make((8,), "block @ 0")),
    ("cyclic-block", "column 8", make((8,), "cyclic(0) @ 2")),
    ("grid-axis-zero", "[2, 0]", make((8,), [pt.Block()], grid=(2, 0))),
    ("grid-overflow", "4294967296", make((8, 8), "block, block @ 4294967296x4294967296")),
    ("grid-axes", "[4]", make((8, 8), "block, block @ 4")),
    ("grid-axes", "[2, 2]", make((8, 8, 8), "block, block, * @ 2x2 partial 0")),
    ("grid-twice", "grid", make((8,), "block @ 2", grid=2)),
    ("grid-negative", "-2", make((8,), "block", grid=-2)),
    ("grid-not-integer", "2.5", make((8,), "block", grid=(2.5,))),
    ("grid-not-sequence", "'2x2'", make((8,), "block", grid="2x2")),
    ("grid-overflow", str(2**65), make((8,), "block", grid=2**65)),
    ("ranks-count", "3 ranks for the grid [2]", make((8,), "block @ 2 on 0..3")),
    ("ranks-count", "1 ranks for the grid [2]", make((8,), "block @ 2", ranks=[4])),
    ("ranks-duplicate", "rank 5", make((8,), "block @ 2 on 5,5")),
    ("ranks-duplicate", "rank 1", make((8,), "block @ 3", ranks=[1, 0, 1])),
    ("ranks-twice", "ranks", make((8,), "block @ 2 on 5,6", ranks=[5, 6])),
    ("ranks-negative", "-1", make((8,), "block @ 2", ranks=[0, -1])),
    ("ranks-not-integer", "'a'", make((8,), "block @ 2", ranks=["a", "b"])),
    ("ranks-overflow", str(2**63), make((8,), "block @ 2", ranks=[0, 2**63])),
    ("ranks-overflow", str(2**64 - 1), make((8,), f"block @ 2 on 0,{2**64 - 1}")),
    ("ranks-overflow", str(2**63), make((8,), f"block @ 2 on {2**63 - 1}..{2**63 + 1}")),
    ("partial-axis", "axis 1", make((8,), "* @ 2 partial 1")),
    ("partial-duplicate", "axis 0", make((8,), "* @ 2 partial 0,0")),
    ("partial-in-use", "axis 0", make((8,), "block @ 2 partial 0")),
    ("partial-twice", "partial", make((8,), "* @ 2 partial 0", partial=[0])),
    ("partial-negative", "-1", make((8,), "* @ 2", partial=[-1])),
    ("partial-axis", str(2**63), make((8,), "* @ 2", partial=[2**63])),
]

MAPS: list[Row] = [
    ("sizes-count", "2 block sizes", make((8,), "block(4,4) @ 3")),
    ("sizes-sum", "add up to 9", make((8,), "block(4,5) @ 2")),
    ("sizes-sum", str(2**65 - 2), make((8,), [pt.Block(sizes=[2**64 - 1] * 2)], grid=2)),
    ("sizes-negative", "-1", lambda: block(sizes=[-1, 9])),
    ("sizes-not-integer", "1.5", lambda: block(sizes=[1.5])),
    ("sizes-not-sequence", "'44'", lambda: block(sizes="44")),
    ("block-rule", '"frist"', lambda: block("frist")),
    ("block-rule-and-sizes", '"last"', lambda: block("last", sizes=[8])),
    ("halo-count", "3 halos", make((8,), "block+halo(1;1;1) @ 2")),
    ("halo-width", "2000000000000000000", make((8,), "block+halo(2000000000000000000) @ 2")),
    ("halo-pair", "(1, 2, 3)", lambda: block(halo=[(1, 2, 3), (1, 1)])),
    ("halo-pair", "4", lambda: block(halo=(4, 4, 4))),
    ("halo-negative", "-1", lambda: block(halo=(-1, 0))),
    ("halo-not-integer", "0.5", lambda: block(halo=(0.5, 0))),
    ("halo-not-sequence", "3", lambda: block(halo=3)),
    ("cyclic-block", "0", make((8,), "cyclic(0) @ 2")),
    ("cyclic-block", "0", make((8,), [pt.Cyclic(0)], grid=2)),
    ("cyclic-negative", "-4", lambda: cyclic(-4)),
    ("cyclic-not-integer", "'4'", lambda: cyclic("4")),
    ("cyclic-overflow", str(2**64), lambda: cyclic(2**64)),
    ("indices-count", "2 index lists", make((3,), [lists([[0], [1, 2]])], grid=3)),
    ("indices-duplicate", "index 7", make((3,), [lists([[7, 1, 7], [2]])], grid=2)),
    (
        "indices-not-one-to-one",
        "index 1",
        make((3,), [lists([[0, 1], [1, 2]], one_to_one=True)], grid=2),
    ),
    ("indices-total", "2 distinct", make((3,), [lists([[0], [1]])], grid=2)),
    ("indices-not-sequence", "'ab'", lambda: lists("ab")),
    ("index-dtype", "float64", lambda: lists([[0.5], [1.5]])),
    ("index-dtype", "object", lambda: lists([[2**80]])),
    ("index-overflow", str(2**63), lambda: lists([np.array([2**63], dtype=np.uint64)])),
    ("index-ndim", "[1, 2]", lambda: lists([[[0, 1]]])),
    ("index-ragged", "[[0, 1], [2]]", lambda: lists([[[0, 1], [2]]])),
]

BOXES: list[Row] = [
    ("box-ndim", "2 dimensions", lambda: boxes((4,), [[((0, 0), (1, 1))]])),
    ("box-ndim", "1 dimensions", lambda: boxes((4, 4), [[((0,), (1, 1))]])),
    ("box-outside", "[2, 5)", lambda: boxes((4,), [[((2,), (3,))]])),
    ("box-outside", str(2**64 - 1), lambda: boxes((4,), [[((2**64 - 1,), (2,))]])),
    ("box-owned-outside", "piece 0", lambda: boxes((4,), [[((1,), (2,), (0,), (2,))]])),
    ("box-overlap", "pieces 0 and 1", lambda: boxes((4,), [[((0,), (3,)), ((2,), (1,))]])),
    ("box-parts", "3 parts", lambda: boxes((4,), [[(0, 1, 2)]])),
    ("box-negative", "-1", lambda: boxes((4,), [[((-1,), (2,))]])),
    ("box-not-integer", "0.5", lambda: boxes((4,), [[((0.5,), (2,))]])),
    ("box-not-sequence", "7", lambda: boxes((4,), [[7]])),
    ("boxes-not-sequence", "'abc'", lambda: boxes((4,), "abc")),
    ("boxes-not-sequence", "3", lambda: boxes((4,), [3])),
    ("ranks-count", "1 ranks", lambda: boxes((4,), [[], []], ranks=[3])),
    ("ranks-duplicate", "rank 3", lambda: boxes((4,), [[], []], ranks=[3, 3])),
    ("shape-overflow", str(2**63 + 1), lambda: boxes((2**63 + 1,), [])),
]

QUESTIONS: list[Row] = [
    ("index-ndim", "1 numbers", lambda: GOOD.owner((1,))),
    ("index-ndim", "3 numbers", lambda: GOOD.locate_one((1, 1, 1))),
    ("index-out-of-range", "index 8", lambda: GOOD.owner((8, 0))),
    ("index-out-of-range", "index -1", lambda: GOOD.owner((0, -1))),
    ("index-out-of-range", "entry 1", lambda: GOOD.locate([[0, 0], [0, 6]])),
    ("index-out-of-range", "index 4", lambda: BOXED.owner((4,))),
    ("index-not-held", "index 1", lambda: BOXED.owner((1,))),
    ("index-not-held", "index 0", lambda: SPARSE.owner((0,))),
    ("index-not-held", "entry 2", lambda: SPARSE.locate([[-5], [9], [2]])),
    ("index-not-integer", "1.0", lambda: GOOD.owner((1.0, 0))),
    ("index-not-sequence", "'ab'", lambda: GOOD.owner("ab")),
    ("index-not-sequence", "None", lambda: GOOD.owner(None)),
    ("index-overflow", str(2**63), lambda: GOOD.owner((2**63, 0))),
    ("index-overflow", str(2**130), lambda: GOOD.owner((2**130, 0))),
    ("index-dtype", "float64", lambda: GOOD.locate([[1.5, 0.5]])),
    ("index-dtype", "bool", lambda: GOOD.locate([[True, False]])),
    ("index-dtype", "object", lambda: GOOD.locate(None)),
    ("index-dtype", "<U1", lambda: GOOD.locate([["a", "b"]])),
    ("index-ndim", "[2, 3]", lambda: GOOD.locate(np.zeros((2, 3), dtype=int))),
    ("index-ndim", "[4]", lambda: GOOD.locate(np.zeros(4, dtype=int))),
    ("index-ndim", "[]", lambda: GOOD.locate(3)),
    ("index-ragged", "[[1, 2], [3]]", lambda: GOOD.locate([[1, 2], [3]])),
    ("index-overflow", str(2**63 + 5), lambda: LINE.locate(np.array([2**63 + 5], dtype="u8"))),
    ("local-out-of-range", "local index 4", lambda: GOOD.globalize(0, [[4, 0]])),
    ("local-out-of-range", "local index -1", lambda: GOOD.globalize(0, [[0, 0], [0, -1]])),
    ("index-ndim", "[1, 1]", lambda: GOOD.globalize(0, [[0]])),
    ("rank-unknown", "rank 4", lambda: GOOD.n_owned(4)),
    ("rank-unknown", "rank 9", lambda: GOOD.pieces(9)),
    ("rank-unknown", "rank 9", lambda: GOOD.globalize(9, [[0, 0]])),
    ("rank-unknown", "rank 9", lambda: GOOD.meet_slice(9, (0, 0), (1, 1), (1, 1))),
    ("rank-negative", "-1", lambda: GOOD.local_shape(-1)),
    ("rank-not-integer", "'0'", lambda: GOOD.n_held("0")),
    ("rank-not-integer", "0.0", lambda: GOOD.n_buffers(0.0)),
    ("rank-overflow", str(2**70), lambda: GOOD.n_owned(2**70)),
    ("piece-unknown", "piece 1", lambda: GOOD.local_shape(0, buffer=1)),
    ("piece-unknown", "piece 0", lambda: BOXED.globalize(1, [[0]])),
    ("buffer-negative", "-1", lambda: GOOD.local_shape(0, buffer=-1)),
    ("buffer-not-integer", "'x'", lambda: GOOD.globalize(0, [[0, 0]], buffer="x")),
    ("out-array", "[1]", lambda: LINE.locate([0], out=(3, 4))),
    ("out-not-sequence", "3", lambda: LINE.locate([0], out=3)),
    ("out-items", "1 items", lambda: LINE.locate([0], out=[np.zeros(1, int)])),
    (
        "out-array",
        "[2]",
        lambda: LINE.locate([0, 1], out=(np.zeros(1, int), np.zeros((2, 1), int))),
    ),
    ("out-array", "[1, 1]", lambda: LINE.locate([0], out=(np.zeros(1, int), np.zeros(1, int)))),
    ("out-array", "int64", lambda: LINE.locate([0], out=(np.zeros(1), np.zeros((1, 1), int)))),
    ("out-array", "writable", lambda: LINE.locate([0], out=(FROZEN, np.zeros((1, 1), int)))),
    ("out-overlap", "out", lambda: _overlapping()),
]


def _overlapping() -> object:
    indices = np.zeros((3, 1), dtype=np.int64)
    return LINE.locate(indices, out=(np.zeros(3, dtype=np.int64), indices))


PLANS: list[Row] = [
    ("shapes-differ", "[10]", lambda: plan(LINE, GOOD)),
    ("layout-type", "NoneType", lambda: plan(LINE, None)),
    ("too-many-ranks", "9000000000", lambda: plan(CROWD, CROWD).bytes_moved),
    ("too-many-ranks", "9000000000", lambda: plan(CROWD, CROWD).explain()),
    ("too-many-ranks", "9000000000", lambda: plan(CROWD, CROWD).draw()),
    ("source-not-covering", "1 elements", lambda: plan(BOXED, boxes((4,), [[((1,), (2,))]]))),
    ("source-not-covering", "index 0", lambda: plan(SPARSE, layout(3, "block @ 2"))),
    ("source-not-covering", "index 9", lambda: plan(layout(3, "*"), _lists_of(0, 1, 9))),
    ("source-not-covering", "index 2", lambda: plan(_lists_of(0, 1, 9), _lists_of(0, 1, 2))),
    ("dtype-unknown", "float99", lambda: plan(LINE, LINE, "float99")),
    ("dtype-unknown", "float128", lambda: plan(LINE, LINE, np.longdouble)),
    ("dtype-unknown", "str", lambda: plan(LINE, LINE, str)),
    ("dtype-unknown", "object at", lambda: plan(LINE, LINE, object())),
    ("rank-unknown", "rank 2", lambda: plan(LINE, LINE).moves(2)),
    ("rank-unknown", "rank 2", lambda: plan(LINE, LINE).sends(2)),
    ("rank-unknown", "rank 2", lambda: plan(LINE, LINE).receives(2)),
    ("rank-negative", "-1", lambda: plan(LINE, LINE).moves(-1)),
    ("rank-not-integer", "None", lambda: plan(LINE, LINE).moves(None)),
]


def _lists_of(*indices: int) -> object:
    return layout(len(indices), [lists([indices])], grid=1)


part: Any = dist.default_partition
target: Any = dist.local_target_of_slice
bounds: Any = dist.local_bounding_box
core: Any = dist.local_core

DIST: list[Row] = [
    ("team-empty", "0 members", lambda: part(0, 0, (8,))),
    ("team-member", "member 3", lambda: part(3, 3, (8,))),
    ("team-negative", "-1", lambda: part(-1, 0, (8,))),
    ("shape-negative", "-8", lambda: part(2, 0, (-8,))),
    ("slice-outside", "index 16", lambda: target(16, (0, 5), (3, 14, 1))),
    ("slice-outside", "index -1", lambda: target(16, (0, 5), (3, 5, -1))),
    ("slice-stride-zero", "0", lambda: target(16, (0, 5), (3, 5, 0))),
    ("slice-stride-zero", "0", lambda: bounds((3, 5, 0), (0, 5))),
    ("slice-stride-zero", "0", lambda: core((0, 5), (0, 5), (3, 5, 0))),
    ("slice-outside", "index -2", lambda: bounds((2, 5, -1), (0, 5))),
    ("slice-outside", "index -2", lambda: core((0, 5), (0, 5), (2, 5, -1))),
    ("owned-negative", "-1", lambda: core((-1, 5), (0, 5), (2, 5, 1))),
    ("owned-overflow", str(2**63), lambda: core((2**63, 1), (0, 5), (2, 5, 1))),
    ("target-overflow", str(2**64), lambda: bounds((2, 5, 1), (0, 2**64))),
    ("view-items", "(2, 5)", lambda: bounds((2, 5), (0, 5))),
    ("owned-items", "(1, 2, 3)", lambda: core((1, 2, 3), (0, 5), (2, 5, 1))),
    ("before-not-integer", "'a'", lambda: bounds((2, 5, 1), (0, 5), ("a", 1))),
]

TABLES = {
    "shapes": SHAPES,
    "grids": GRIDS,
    "maps": MAPS,
    "boxes": BOXES,
    "questions": QUESTIONS,
    "plans": PLANS,
    "dist": DIST,
}
ROWS = [
    pytest.param(*row, id=f"{table}-{at}-{row[0]}")
    for table, rows in TABLES.items()
    for at, row in enumerate(rows)
]


@pytest.mark.parametrize(("reason", "value", "mistake"), ROWS)
def test_mistakes_have_a_reason(reason: str, value: str, mistake: Callable[[], object]) -> None:
    with pytest.raises(pt.LayoutError) as caught:
        mistake()
    error = caught.value
    assert isinstance(error, ValueError)
    assert isinstance(error, pt.PartitaError)
    assert error.reason == reason
    assert value in str(error)
    assert ";" in str(error), "a message says what was wrong; what to do"
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.reason) == (type(error), str(error), reason)


# Notation, reason, the part that the carets stand under; "" is one caret behind the end.
NOTATIONS = [
    ("blok @ 2", "notation-unknown-map", "blok"),
    ("Block @ 2", "notation-unknown-map", "Block"),
    ("block, blok @ 2", "notation-unknown-map", "blok"),
    ("bløck @ 2", "notation-unknown-map", "bløck"),
    ("unstructured @ 2", "notation-objects-only", "unstructured"),
    ("boxes @ 2", "notation-objects-only", "boxes"),
    ("block(3,,4) @ 2", "notation-unexpected", ",4"),
    ("block(3 @ 2", "notation-unexpected", "@"),
    ("block(first) @ 2", "notation-unexpected", "first"),
    ("block() @ 2", "notation-unexpected", ")"),
    ("block(-3,11) @ 2", "notation-unexpected", "-"),
    ("block @ 2x", "notation-unexpected", ""),
    ("block @", "notation-unexpected", ""),
    ("block,", "notation-unexpected", ""),
    (",", "notation-unexpected", ","),
    ("@ x2", "notation-unexpected", "x2"),
    ("block block", "notation-unexpected", "block"),
    ("block @ 2 2", "notation-unexpected", "2"),
    ("block @ -2", "notation-unexpected", "-"),
    ("block @ 2.5", "notation-unexpected", "."),
    ("block @ 2 on", "notation-unexpected", ""),
    ("block @ 2 on 1.2", "notation-unexpected", "2"),
    ("block @ 2 off 1", "notation-unexpected", "off"),
    ("block @ 2 partial", "notation-unexpected", ""),
    ("block+halo @ 2", "notation-unexpected", "@"),
    ("block+halo(1,2,3) @ 2", "notation-unexpected", ",3"),
    ("cyclic() @ 2", "notation-unexpected", ")"),
    ("cyclic(two) @ 2", "notation-unexpected", "two"),
    ("cyclic+halo(1,1) @ 2", "notation-halo-needs-block", "+halo"),
    ("*+halo(1) @ 2", "notation-halo-needs-block", "+halo"),
    ("*+periodic @ 2", "notation-periodic-needs-block", "+periodic"),
    ("block+ghost @ 2", "notation-unknown-suffix", "+ghost"),
    ("cyclic+ghost @ 2", "notation-unknown-suffix", "+ghost"),
    ("block+halo(1)+halo(1) @ 2", "notation-repeated", "+halo"),
    ("block+periodic+periodic @ 2", "notation-repeated", "+periodic"),
    ("block @ 2 on 1,2 on 1,2", "notation-repeated", "on"),
    ("* @ 2 partial 0 partial 0", "notation-repeated", "partial"),
    ("block @ 99999999999999999999", "notation-number-too-large", "99999999999999999999"),
    ("block @ 2 on 5..3", "notation-range-reversed", "5..3"),
    ("block\n@ 2x", "notation-unexpected", ""),
    ("日本, block @ 2", "notation-unknown-map", "日本"),
]


@pytest.mark.parametrize(("notation", "reason", "under"), NOTATIONS)
def test_notation_errors_point_at_the_column(notation: str, reason: str, under: str) -> None:
    with pytest.raises(pt.LayoutError) as caught:
        pt.Layout((8,), notation)
    assert caught.value.reason == reason
    first, line, carets = str(caught.value).splitlines()
    shown = notation.replace("\n", " ")
    assert line == "  " + shown
    column = carets.index("^")
    width = carets.count("^")
    assert carets == " " * column + "^" * width
    assert first.startswith(f"column {column - 1}: ")
    pointed = line[column : column + width]
    assert pointed == under or (under.startswith(",") and pointed == ",")
    assert line[column:].startswith(under)
    repeated = reason == "notation-repeated" or under in ("2", "block")
    at = shown.rindex(under) if repeated else shown.index(under) if under else len(shown)
    assert column - 2 == at


WORDS = [
    *("block", "cyclic", "*", "last", "ceil", "halo", "periodic", "on", "partial", "unstructured"),
    *("(", ")", ",", ";", "+", "@", "x", ".", "..", " ", "\t", "\n", "-", "_", "'", '"', "\\"),
    *("0", "1", "2", "3", "8", "64", str(2**63), str(2**64), "1" * 30, "é", "日", "\0", "\ud800"),
]


def rubbish(rng: Random) -> str:
    return "".join(rng.choice(WORDS) for _ in range(rng.randint(0, 5)))


def nearly(rng: Random) -> str:
    """A good notation with a few characters changed."""
    text = list("block(3,0,5)+halo(1,2), cyclic(4) @ 3x2 on 1..7")
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text))
        text[at : at + rng.randint(0, 2)] = [rng.choice(WORDS)]
    return "".join(text)


@pytest.mark.parametrize(("writer", "shape"), [(rubbish, (8,)), (rubbish, ()), (nearly, (8, 8))])
def test_rubbish_is_refused_politely(
    writer: Callable[[Random], str], shape: tuple[int, ...]
) -> None:
    n_refused = 0
    for seed in range(4000):
        notation = writer(Random(seed))
        error = refusal(layout, shape, notation)
        if error is None:
            continue
        n_refused += 1
        assert error.reason, notation
        if error.reason.startswith("notation-"):
            assert str(error).startswith("column "), notation
    assert 2000 < n_refused < 4000


def refusal(ask: Callable[..., object], *args: object) -> pt.LayoutError | None:
    """The error that a question is refused with; errors of other kinds are the test's failure."""
    try:
        ask(*args)
    except pt.LayoutError as error:
        return error
    return None


OBJECTS: list[Any] = [
    *(None, True, 0, 1, 2, -1, 3.5, float("nan"), 1j, 2**63, 2**64, -(2**63) - 1, 2**200),
    *("", "block @ 2", "x", b"block", (), [], {}, set(), (2,), [2, 2], (0,), (-1,), (None,)),
    *(("a",), ((1, 1), (2, 2)), [[0, 1], [2]], [[0], [1]], [((0,), (4,))], [[((0,), (4,))]]),
    *(range(3), iter([1, 2]), slice(1), object(), type, print, Ellipsis),
    *(np.int64(2), np.uint64(2**64 - 1), np.float32(1), np.array(2), np.array([2, 2])),
    *(np.zeros((2, 2), int), np.zeros((0, 2)), np.array(["a"]), np.array([None, 1], dtype=object)),
    *(np.arange(8)[::-2], np.ma.masked_array([1, 2], [True, False])),
    *(pt.Block(), pt.Cyclic(0), pt.Whole(), pt.Unstructured([[0, 1], [2, 3]]), pt.Block("last")),
    *([pt.Block()], [pt.Block(), pt.Whole()], LINE, GOOD, BOXED, SPARSE, pt.plan(LINE, LINE)),
]

QUESTIONERS: list[Callable[..., object]] = [
    lambda a, b, c, d, e: layout(a, b),
    lambda a, b, c, d, e: layout(a, b, grid=c, ranks=d, partial=e),
    lambda a, b, c, d, e: layout((4,), [pt.Block()], grid=c, ranks=d, partial=e),
    lambda a, b, c, d, e: layout((4,), b, grid=c),
    lambda a, b, c, d, e: boxes(a, b, ranks=c),
    lambda a, b, c, d, e: boxes((4,), [[(a, b)], [(c, d, a, b)]]),
    lambda a, b, c, d, e: block(a, sizes=b, halo=c, periodic=d),
    lambda a, b, c, d, e: block(sizes=a, halo=b),
    lambda a, b, c, d, e: cyclic(a),
    lambda a, b, c, d, e: lists(a, one_to_one=b),
    lambda a, b, c, d, e: lists([a, b]),
    lambda a, b, c, d, e: plan(a, b, c),
    lambda a, b, c, d, e: plan(LINE, LINE, a).moves(b),
    lambda a, b, c, d, e: plan(LINE, LINE).sends(a),
    lambda a, b, c, d, e: plan(LINE, LINE).receives(a),
    lambda a, b, c, d, e: GOOD.owner(a),
    lambda a, b, c, d, e: GOOD.locate_one(a),
    lambda a, b, c, d, e: GOOD.locate(a),
    lambda a, b, c, d, e: LINE.locate(a, out=(b, c)),
    lambda a, b, c, d, e: LINE.locate([0], out=a),
    lambda a, b, c, d, e: GOOD.globalize(a, b, buffer=c),
    lambda a, b, c, d, e: BOXED.globalize(0, a, buffer=b),
    lambda a, b, c, d, e: GOOD.local_shape(a, buffer=b),
    lambda a, b, c, d, e: GOOD.n_owned(a),
    lambda a, b, c, d, e: GOOD.n_held(a),
    lambda a, b, c, d, e: GOOD.n_buffers(a),
    lambda a, b, c, d, e: list(GOOD.pieces(a)),
    lambda a, b, c, d, e: GOOD.meet_slice(a, b, c, d),
    lambda a, b, c, d, e: LINE.meet_slice(0, a, b, c),
    lambda a, b, c, d, e: part(a, b, c),
    lambda a, b, c, d, e: target(a, b, c),
    lambda a, b, c, d, e: target(8, (a, b), (c, d, e)),
    lambda a, b, c, d, e: bounds(a, b, c),
    lambda a, b, c, d, e: bounds((a, b, c), (d, e)),
    lambda a, b, c, d, e: core((a, b), (c, d), (1, 2, 1)),
    lambda a, b, c, d, e: core((0, 4), (0, 4), (a, b, c), (d, e)),
    lambda a, b, c, d, e: a in {GOOD: 1, LINE: 2} if isinstance(a, pt.Layout) else a == GOOD,
]


@pytest.mark.parametrize("at", range(len(QUESTIONERS)))
def test_any_argument_is_refused_politely(at: int) -> None:
    """Wrong values give LayoutError, wrong objects TypeError at most; never anything else."""
    ask = QUESTIONERS[at]
    for seed in range(600):
        rng = Random(1000 * at + seed)
        args = [rng.choice(OBJECTS) for _ in range(5)]
        with suppress(TypeError):
            error = refusal(ask, *args)
            assert error is None or error.reason, args


def test_errors_are_public() -> None:
    assert issubclass(pt.LayoutError, pt.PartitaError)
    assert issubclass(pt.LayoutError, ValueError)
    error = pt.PartitaError("words", "some-reason")
    assert (str(error), error.reason) == ("words", "some-reason")
