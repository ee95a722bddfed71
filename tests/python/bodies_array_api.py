"""Functions of the Array API on the ranks of a team, beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import partita as pt

LAYOUTS = ["block, *", "*, block", "cyclic, *", "*, *"]


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(found.gather(), wanted, strict=True)


def picked(team: pt.Team) -> None:
    """Elements at positions, and differences of neighbours, wherever the parts lie."""
    theirs = np.resize([3.0, -0.0, np.nan, 7.0, -np.inf, 2.0, 1.0], (6, 5))
    at = np.resize([2, 0, -1, 1], (6, 5))
    for layout in LAYOUTS:
        ours = pt.asarray(theirs, layout)
        same(pt.take(ours, [5, 0, -6, 5], axis=0), theirs[[5, 0, -6, 5]])
        same(pt.take(ours, pt.arange(5)[::-1], axis=1), theirs[:, ::-1])
        same(pt.take_along_axis(ours, pt.asarray(at, layout)), np.take_along_axis(theirs, at, -1))
        for axis in (0, 1):
            with np.errstate(invalid="ignore"):
                same(pt.diff(ours, axis=axis), np.diff(theirs, axis=axis))
    with pytest.raises(IndexError):
        pt.take(pt.asarray(theirs, "block, *"), [6], axis=0).gather()


def handed_over(team: pt.Team) -> None:
    """DLPack has no split arrays: they are refused, without a word to the other ranks."""
    whole = np.arange(12.0).reshape(4, 3)
    same(pt.from_dlpack(whole), whole)
    split = pt.asarray(whole, "block, *")
    same(pt.from_dlpack(split, copy=True), whole)
    if team.size > 1 and team.rank == 0:
        with pytest.raises(BufferError, match=r"use \.gather"):
            split.__dlpack__()


def like_others(team: pt.Team) -> None:
    """Arrays like those of which most ranks have nothing."""
    for shape in ((1, 1), (0, 3), (1, 1, 1), (2, 1)):
        for notation in ("block", "*, block", "cyclic"):
            one = pt.zeros(shape, layout=notation) + 1
            one.sync()
            same(pt.full_like(one, 3), np.full(shape, 3.0))
