"""What teams send as data: plain values and arrays, in a fixed format of our own.

Nothing is pickled: what arrives can only become what is listed here.

>>> decode(encode({"a": (1, 2.5, None)}))
{'a': (1, 2.5, None)}
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import numpy as np

from partita._errors import LayoutError, TeamError

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
    """The value again; whatever else another process has sent is refused."""
    try:
        return _read(memoryview(data))
    # What JSON, NumPy and Python's own types say of nonsense.
    except (AttributeError, TypeError, ValueError, RecursionError, SyntaxError) as error:
        message = f"what arrived is no data of this version of partita ({error})"
        raise TeamError(f"{message}; use the same partita on every rank", "data-format") from None


def _read(data: memoryview) -> Any:
    reader = _Reader(data)
    (length,) = struct.unpack("<Q", reader.take(8)) if len(data) >= 8 else (0,)
    value = reader.value(json.loads(bytes(reader.take(length))))
    reader.end()
    return value


class _Reader:
    def __init__(self, rest: memoryview) -> None:
        self._rest = rest

    def take(self, n_bytes: int) -> memoryview:
        """The next bytes, as many as are said to be there."""
        if not 0 <= n_bytes <= len(self._rest):
            raise ValueError(f"{n_bytes} bytes of {len(self._rest)}")
        taken, self._rest = self._rest[:n_bytes], self._rest[n_bytes:]
        return taken

    def end(self) -> None:
        """Nothing follows."""
        if len(self._rest):
            raise ValueError(f"{len(self._rest)} bytes too many")

    def value(self, head: dict[str, Any]) -> Any:
        """What a head describes."""
        ((kind, content),) = head.items()
        match kind:
            case "p":
                return _checked(content, *_PLAIN)
            case "c":
                real, imaginary = content
                return complex(_checked(real, float), _checked(imaginary, float))
            case "b":
                return bytes(self.take(_checked(content, int)))
            case "a":
                return self._array(*content)
            case "t":
                return tuple(self.value(item) for item in content)
            case "l":
                return [self.value(item) for item in content]
            case "d":
                return {self.value(key): self.value(item) for key, item in content}
            case _:
                raise ValueError(f"a value of kind {kind!r}")

    def _array(self, dtype: str, shape: list[int], is_scalar: bool) -> Any:
        kind = np.dtype(_checked(dtype, str))
        if kind.str != dtype or kind.hasobject or kind.kind == "V":
            raise ValueError(f"an array of dtype {dtype}")
        n_items = math.prod(_checked(length, int) for length in shape)
        memory = self.take(n_items * kind.itemsize)
        array = np.frombuffer(memory, dtype=kind, count=n_items).reshape(shape).copy()
        return array[()] if _checked(is_scalar, bool) else array


def _checked(content: Any, *kinds: type) -> Any:
    if type(content) not in kinds:
        raise TypeError(f"a {type(content).__name__}")
    return content
