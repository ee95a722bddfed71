"""The programs in `examples/` on the ranks of a team beside NumPy."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

import partita as pt

EXAMPLES = Path(__file__).parents[2] / "examples"


@functools.cache
def example(name: str) -> ModuleType:
    """A script as a module; under a name of its own, because Python has a module `wave`, too."""
    if str(EXAMPLES) not in sys.path:
        sys.path.append(str(EXAMPLES))
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def agrees(
    team: pt.Team, name: str, function: str, numbers: dict[str, int], tolerance: float
) -> None:
    """A program gives with partita what it gives with NumPy; equal if the tolerance is 0."""
    program = getattr(example(name), function)
    gathers = pt.gathers()
    found, wanted = program(pt, **numbers), program(np, **numbers)
    assert pt.gathers() == gathers, "an array was brought to every rank"
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        if isinstance(one, pt.Array):
            assert one.dtype == other.dtype
            assert one.team.size == team.size
            one = one.gather()
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def agrees_elsewhere(
    team: pt.Team, layout: str, name: str, function: str, numbers: dict[str, int], tolerance: float
) -> None:
    """A program gives the same where new arrays are divided in another way."""
    with pt.default_layout(layout):
        agrees(team, name, function, numbers, tolerance)
