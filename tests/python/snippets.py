"""The Python blocks of a page, as one script."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def script(page: str) -> str:
    """All blocks of a page one after the other."""
    text = (DOCS / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    return "\n".join(blocks)
