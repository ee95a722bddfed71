"""The guides for neighbours: their snippets run."""

from __future__ import annotations

import sys
from pathlib import Path

from launch import launch

sys.path.append(str(Path(__file__).parents[1] / "python"))

from snippets import script


def test_the_guide_for_heat(tmp_path: Path) -> None:
    launch(tmp_path, script("guides/heat.md"), 3)
