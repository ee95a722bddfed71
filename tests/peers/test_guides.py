"""The guides to Dask, Ray and Heat: every Python block runs, one after the other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from launch import launch

sys.path.append(str(Path(__file__).parents[1] / "python"))

from snippets import script

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["from-dask", "from-ray"])
def test_blocks_run(name: str, tmp_path: Path) -> None:
    text = (GUIDES / f"{name}.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    # Clusters start processes that import the script, so it is one with a main part.
    body = "\n".join(blocks)
    lines = [f"    {line}" if line else "" for line in body.splitlines()]
    script = tmp_path / "guide.py"
    script.write_text('if __name__ == "__main__":\n' + "\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    claimed = re.findall(r"^print\(a\) +# (<\w+Array.*?)(?:\.\.\.)?$", text, flags=re.MULTILINE)
    assert claimed
    assert claimed[0] in done.stdout


def test_the_guide_for_heat(tmp_path: Path) -> None:
    launch(tmp_path, script("guides/from-heat.md"), 3)
