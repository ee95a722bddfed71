"""Columns of tables as arrays that can be moved, and back.

Numbers move as they are, times as 64-bit integers, text as its characters in fixed width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita._errors import ProtocolError


@dataclass(frozen=True)
class Codec:
    """How a column's elements become plain numbers."""

    kind: str  # "number", "time" or "text"
    stored: str  # the dtype as the table has it; the width for text
    name: Any = None  # of the row labels
    given: str = ""  # the table's own word for text

    @property
    def dtype(self) -> np.dtype[Any]:
        """What moves."""
        moved = {"number": self.stored, "time": "int64", "text": "uint32"}
        return np.dtype(moved[self.kind])

    @property
    def tail(self) -> tuple[int, ...]:
        """Further dimensions of an element."""
        return (int(self.stored),) if self.kind == "text" else ()

    @property
    def tail_start(self) -> tuple[int, ...]:
        """Where they begin."""
        return (0,) * len(self.tail)

    def words(self) -> tuple[str, str, Any, str]:
        """The codec as plain data."""
        return self.kind, self.stored, self.name, self.given

    @classmethod
    def read(cls, words: tuple[str, str, Any, str]) -> Codec:
        """The codec again."""
        return cls(*words)

    @classmethod
    def widest(cls, a: Codec | None, b: Codec, what: str) -> Codec:
        """One codec for a column that two pieces have; text takes the larger width."""
        if a is None or a == b:
            return b
        if a.kind == b.kind == "text":
            return cls("text", str(max(int(a.stored), int(b.stored))), b.name, b.given)
        message = f"{what} holds {a.stored} in one piece and {b.stored} in another; use one dtype"
        raise ProtocolError(message, "data-dtypes-differ")

    def encode(self, columns: Any) -> np.ndarray[Any, Any]:
        """Columns of a table as one array."""
        if self.kind == "text":
            encoded = [self._text(columns.iloc[:, at]) for at in range(columns.shape[1])]
            shape = (columns.shape[0], columns.shape[1], *self.tail)
            return np.stack(encoded, axis=1) if encoded else np.zeros(shape, np.uint32)
        values = [np.asarray(columns.iloc[:, at].to_numpy()) for at in range(columns.shape[1])]
        if not values:
            return np.empty(columns.shape, dtype=self.dtype)
        return np.stack(values, axis=1).view(self.dtype)

    def encode_labels(self, index: Any) -> np.ndarray[Any, Any]:
        """Row labels as an array."""
        if self.kind == "text":
            return self._text(index)
        return np.ascontiguousarray(index.to_numpy()).view(self.dtype)

    def _text(self, values: Any) -> np.ndarray[Any, Any]:
        """Characters of fixed width; a mark tells empty text from a missing value."""
        width = int(self.stored)
        words = [f"\x01{word}" if isinstance(word, str) else "" for word in values]
        return np.array(words, dtype=f"U{width}").view(np.uint32).reshape(len(words), width)

    def decode(self, values: np.ndarray[Any, Any]) -> Any:
        """What the table holds."""
        if self.kind == "number":
            return values
        dense = np.ascontiguousarray(values)
        if self.kind == "time":
            return dense.view(self.stored)
        words = dense.view(f"U{self.stored}").ravel()
        decoded = np.empty(len(words), dtype=object)
        decoded[:] = [word[1:] if word else None for word in words.tolist()]
        return decoded


def codec_of(values: Any, name: Any) -> Codec:
    """The codec of a column or of row labels."""
    dtype = values.dtype
    kind = getattr(dtype, "kind", "O")
    if isinstance(dtype, np.dtype) and kind in "biufc":
        return Codec("number", dtype.newbyteorder("=").name, name if _is_label(values) else None)
    if isinstance(dtype, np.dtype) and kind in "mM":
        return Codec("time", dtype.str, name if _is_label(values) else None)
    if all(isinstance(word, str) or word is None or word != word for word in values):
        longest = max((len(word) for word in values if isinstance(word, str)), default=0)
        label = name if _is_label(values) else None
        return Codec("text", str(longest + 1), label, str(dtype))
    message = f"{name!r} holds {dtype}; use numbers, times or text"
    raise ProtocolError(message, "frame-dtype")


def _is_label(values: Any) -> bool:
    """Whether these are row labels, whose name belongs to them."""
    return not hasattr(values, "iloc")
