"""What README.md shows: every Python block and every `partita` command runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def test_python_blocks_run_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    namespace: dict[str, Any] = {"__name__": "readme"}
    found = blocks("python")
    assert len(found) >= 2
    for block in found:
        exec(compile(block, "README.md", "exec"), namespace)
    assert namespace["results"][3] == ((1, 1), [0, 1, 2, 3])


def test_comments_in_the_python_blocks_are_true() -> None:
    namespace: dict[str, Any] = {"__name__": "readme"}
    shown = "".join(blocks("python")[:2])
    exec(shown, namespace)
    claims = re.findall(r"^(\w[^#\n]*?)\s+# (\d+|\([\d, ]+\))(?::|$)", shown, flags=re.MULTILINE)
    assert len(claims) >= 2
    for expression, value in claims:
        assert eval(expression, namespace) == eval(value), expression


def test_the_pictures_are_those_of_the_first_block() -> None:
    namespace: dict[str, Any] = {"__name__": "readme"}
    exec(blocks("python")[0], namespace)
    shown = re.findall(r"\(docs/(\w+)\.svg\)", README)
    assert shown == ["rows", "tiles"]
    for name in shown:
        # Written by `partita show 8192x8192 NOTATION --svg docs/NAME.svg`.
        picture = (ROOT / "docs" / f"{name}.svg").read_text()
        assert picture == namespace[name].draw(), name


def test_commands_run(tmp_path: Path) -> None:
    command = str(Path(sys.executable).parent / "partita")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    shown = [shlex.split(line, comments=True) for line in lines if line.startswith("partita ")]
    assert len(shown) >= 4
    for _, *args in shown:
        done = subprocess.run(
            [command, *args], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, (args, done.stderr)
        assert done.stdout
