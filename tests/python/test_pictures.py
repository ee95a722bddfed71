"""Pictures of layouts: what they show is true, and they are well-formed and quick."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import generate
import numpy as np
import oracle
import pytest

import partita as pt

SVG = "{http://www.w3.org/2000/svg}"

LAYOUTS = [
    ((), ""),
    ((), "@ 3"),
    ((0,), "block @ 3"),
    ((0, 5), "block, * @ 2"),
    ((1,), "block @ 5"),
    ((20,), "block+halo(2,2) @ 3"),
    ((20,), "block+halo(2,30)+periodic @ 3"),
    ((12, 12), "cyclic(2), block @ 2x2"),
    ((12, 12), "block+halo(1,1), block+halo(1,1) @ 2x2"),
    ((12, 12), "block, * @ 2x3 partial 1"),
    ((4, 4, 4), "block, block, * @ 2x2"),
    ((3, 3, 3, 3), "block, *, cyclic, * @ 2x2"),
    ((2, 2, 2, 2, 2), "block, *, *, *, block @ 2x2"),
    ((500, 700), "block, cyclic(64) @ 7x5"),
    ((10**6,), "block @ 1000000"),
    ((10**4, 10**4), "block, block @ 1000x1000"),
    ((10**4, 10**4), "cyclic(3), cyclic(7) @ 1000x1000 on 5..1000005"),
    ((10**9,), "block+halo(3,3)+periodic @ 1000000"),
    ((2**63,), "cyclic @ 1000000"),
    ((2**63,), "block+halo(9,9)+periodic @ 1000000000000"),
]


def check_picture(layout: pt.Layout) -> None:
    text = str(layout)
    assert text
    assert max(map(len, text.splitlines())) <= 120
    root = ElementTree.fromstring(layout.draw())
    assert root.tag == SVG + "svg"
    assert float(root.attrib["width"]) > 0
    assert float(root.attrib["height"]) > 0
    assert layout._repr_svg_() == layout.draw()
    html = ElementTree.fromstring(layout._repr_html_())
    assert html.find(f".//{SVG}svg") is not None
    cells = {row.findtext("th"): row.findtext("td") for row in html.iter("tr")}
    assert cells["ranks"] == str(layout.n_ranks)


@pytest.mark.parametrize(("shape", "notation"), LAYOUTS)
def test_pictures_are_well_formed(shape: tuple[int, ...], notation: str) -> None:
    layout = pt.Layout(shape, notation)
    check_picture(layout)
    header = str(layout).splitlines()[0]
    assert f"{layout.n_ranks} rank" in header
    assert notation[:30] in header


@pytest.mark.parametrize("seed", range(generate.n_cases(200)))
def test_any_layout_has_a_picture(seed: int) -> None:
    check_picture(generate.build(generate.case(50_000 + seed)))


def test_many_boxes_are_not_listed() -> None:
    boxes = [[((k,), (1,))] for k in range(20_000)]
    layout = pt.Layout.from_boxes((20_000,), boxes)
    check_picture(layout)


GRIDS = [
    ((7, 9), "block, block @ 2x2"),
    ((7, 9), "cyclic(2), cyclic @ 2x3"),
    ((7, 9), "block(last), block(ceil) @ 3x2"),
    ((7, 9), "block(3,0,4), * @ 3x1"),
    ((6, 8), "*, cyclic(3) @ 1x2 on 9,4"),
    ((5, 6), "block+halo(1,0), * @ 2x1"),
    ((1, 1), "block, block @ 2x2"),
]


@pytest.mark.parametrize(("shape", "notation"), GRIDS)
def test_every_cell_shows_its_owner(shape: tuple[int, int], notation: str) -> None:
    """The letters of the text picture, read back with its legend, against `owner`."""
    layout = pt.Layout(shape, notation)
    lines = str(layout).splitlines()
    legend = dict(re.findall(r"^(\w)  rank (\d+) ", str(layout), re.MULTILINE))
    rows = [re.fullmatch(r" *(\d+)  (.*)", line) for line in lines[1:]]
    shown = {
        int(row[1]): [cell.strip("'") for cell in re.findall("[A-Z]'?", row[2])]
        for row in rows
        if row is not None and not row[2].startswith("0 ")
    }
    for i, j in np.ndindex(shape):
        assert int(legend[shown[i][j]]) == layout.owner((i, j))
    assert len(legend) == layout.n_ranks


def test_text_pictures_stay_as_they_are() -> None:
    picture = """
2x8  *, block @ 3  3 ranks

   0     3     6
0  A A A B B B C C
1  A A A B B B C C

A  rank 0 at (0)  local 2x3  owns 6
B  rank 1 at (1)  local 2x3  owns 6
C  rank 2 at (2)  local 2x2  owns 4"""
    assert "\n" + str(pt.Layout((2, 8), "*, block @ 3")) == picture


def test_halos_and_replicas_are_said() -> None:
    halo = str(pt.Layout(20, "block+halo(2,2) @ 3"))
    assert "A A A A A A'A'B'B'B B B B'B'C'C'C C C C" in halo
    assert "in a halo" in halo
    assert "hold the same" in str(pt.Layout(4, "* @ 3"))
    assert "hold the same" not in str(pt.Layout(4, "block @ 3"))


def test_what_is_left_out_is_said() -> None:
    text = str(pt.Layout(10**6, "block @ 1000000"))
    assert "999990 of 1000000 indices" in text
    assert "999988 more ranks" in text


def test_odd_names_are_escaped() -> None:
    case = oracle.Grid((3,), (oracle.Lists(((-5, 7), (2**40,))),), (2,), (1, 0))
    check_picture(generate.build(case))
