"""What teams send as data: plain values and arrays, in a fixed format of our own.

Nothing is pickled: what arrives can only become what is listed here.

>>> decode(encode({"a": (1, 2.5, None)}))
{'a': (1, 2.5, None)}
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from partita._errors import LayoutError

_PLAIN = (bool, int, float, str, type(None))


def encode(value: Any) -> bytes:
    """A value as bytes."""
    arrays: list[np.ndarray[Any, Any]] = []
    try:
        head = json.dumps(_plain(value, arrays)).encode()
    except RecursionError:
        message = "data nested too deep, or inside itself, cannot be sent; send it in parts"
        raise LayoutError(message, "data-depth") from None
    parts = [struct.pack("<Q", len(head)), head]
    parts += [np.ascontiguousarray(array).tobytes() for array in arrays]
    return b"".join(parts)


def _plain(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """The value as JSON, its arrays set aside."""
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        # Records would arrive without the names of their fields.
        if array.dtype.hasobject or array.dtype.kind == "V":
            message = f"an array of dtype {array.dtype} cannot be sent; use a plain dtype"
            raise LayoutError(message, "data-type")
        if hasattr(value, "mask"):
            message = "a masked array cannot be sent; send its data and its mask"
            raise LayoutError(message, "data-type")
        arrays.append(array)
        is_scalar = isinstance(value, np.generic)
        return {"a": [array.dtype.str, list(array.shape), is_scalar]}
    if isinstance(value, _PLAIN):
        return {"p": value}
    if isinstance(value, complex):
        return {"c": [value.real, value.imag]}
    if isinstance(value, bytes):
        arrays.append(np.frombuffer(value, dtype=np.uint8))
        return {"b": len(value)}
    if isinstance(value, tuple | list):
        kind = "t" if isinstance(value, tuple) else "l"
        return {kind: [_plain(item, arrays) for item in value]}
    if isinstance(value, dict):
        return {"d": [[_plain(key, arrays), _plain(item, arrays)] for key, item in value.items()]}
    message = f"a {type(value).__name__} cannot be sent; use numbers, text, arrays or their lists"
    raise LayoutError(message, "data-type")


def decode(data: bytes) -> Any:
    """The value again."""
    (length,) = struct.unpack_from("<Q", data)
    head = json.loads(data[8 : 8 + length])
    return _Reader(memoryview(data)[8 + length :]).value(head)


class _Reader:
    def __init__(self, rest: memoryview) -> None:
        self._rest = rest

    def _take(self, n_bytes: int) -> memoryview:
        taken, self._rest = self._rest[:n_bytes], self._rest[n_bytes:]
        return taken

    def value(self, head: dict[str, Any]) -> Any:
        ((kind, content),) = head.items()
        match kind:
            case "p":
                return content
            case "c":
                return complex(*content)
            case "b":
                return bytes(self._take(content))
            case "a":
                return self._array(*content)
            case "t":
                return tuple(self.value(item) for item in content)
            case "l":
                return [self.value(item) for item in content]
            case _:
                return {self.value(key): self.value(item) for key, item in content}

    def _array(self, dtype: str, shape: list[int], is_scalar: bool) -> Any:
        kind = np.dtype(dtype)
        n_items = int(np.prod(shape, dtype=np.int64))
        memory = self._take(n_items * kind.itemsize)
        array = np.frombuffer(memory, dtype=kind, count=n_items).reshape(shape).copy()
        return array[()] if is_scalar else array
