"""What teams send as data: plain values and arrays, in a fixed format of our own.

Nothing is pickled: what arrives can only become what is listed here. A value of a subclass is sent
as the plain value it holds, without asking its own code.

>>> decode(encode({"a": (1, 2.5, None)}))
{'a': (1, 2.5, None)}
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any, NoReturn

import numpy as np

from partita._errors import LayoutError, TeamError, words_of

# Values in values, at most: the same for senders and receivers, however deep their own calls are.
_MOST_LEVELS = 200

# Longer integers travel as bits, which Python writes and reads at any length.
_PLAIN_BITS = 64


# Short values that nobody can change are read once: the ranks of a process, and a rank that is told
# the same again, get the same object. Otherwise n ranks that are threads would read n times n.
_MOST_KEPT_BYTES = 256
_MOST_KEPT = 4096
_UNCHANGING = (bool, int, float, complex, str, bytes, type(None))
_kept: dict[bytes, Any] = {}
_UNKNOWN = object()


# Most meetings tell nothing but that all is well.
_NOTHING = struct.pack("<Q", 11) + b'{"p": null}'


def encode(value: Any) -> bytes:
    """A value as bytes."""
    if value is None:
        return _NOTHING
    writer = _Writer()
    try:
        head = json.dumps(writer.value(value, 0)).encode()
        arrays = [np.ascontiguousarray(array).tobytes() for array in writer.arrays]
    except (LayoutError, MemoryError):
        raise
    except RecursionError:
        _refuse_depth()
    except Exception as error:
        message = f"data that raises {words_of(error)} cannot be sent; use plain values and arrays"
        raise LayoutError(message, "data-type") from None
    return b"".join([struct.pack("<Q", len(head)), head, *arrays])


def _refuse_depth() -> NoReturn:
    message = "data nested too deep, or inside itself, cannot be sent; send it in parts"
    raise LayoutError(message, "data-depth") from None


def _refuse_key(what: str) -> NoReturn:
    message = f"{what} as key of a dictionary cannot be sent; use numbers, text or tuples of them"
    raise LayoutError(message, "data-key")


class _Writer:
    """Values as JSON, their arrays set aside."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray[Any, Any]] = []

    def value(self, value: Any, level: int) -> dict[str, Any]:
        if level > _MOST_LEVELS:
            _refuse_depth()
        # Not `isinstance`: an object may say that it is of another class.
        kind = type(value)
        if issubclass(kind, np.ndarray | np.generic):
            return self._array(value)
        if value is None or kind is bool:
            return {"p": value}
        if issubclass(kind, int):
            return _integer(int.__int__(value))
        if issubclass(kind, float):
            return {"p": float.__float__(value)}
        if issubclass(kind, complex):
            plain = complex.__pos__(value)
            return {"c": [plain.real, plain.imag]}
        if issubclass(kind, str):
            return self._text(str.__str__(value))
        if issubclass(kind, bytes):
            return {"b": self._set_aside(b"".join([value]))}
        if issubclass(kind, tuple):
            return {"t": [self.value(item, level + 1) for item in tuple.__iter__(value)]}
        if issubclass(kind, list):
            return {"l": [self.value(item, level + 1) for item in list.__iter__(value)]}
        if issubclass(kind, dict):
            pairs = list(dict.items(value))
            return {"d": [[self._key(k, level + 1), self.value(v, level + 1)] for k, v in pairs]}
        message = f"a {kind.__name__} cannot be sent; use numbers, text, arrays or their lists"
        raise LayoutError(message, "data-type")

    def _set_aside(self, data: bytes) -> int:
        self.arrays.append(np.frombuffer(data, dtype=np.uint8))
        return len(data)

    def _text(self, text: str) -> dict[str, Any]:
        try:
            text.encode()
        except UnicodeEncodeError:
            # JSON would make one character of two halves.
            return {"s": self._set_aside(text.encode("utf-8", "surrogatepass"))}
        return {"p": text}

    def _key(self, key: Any, level: int) -> dict[str, Any]:
        head = self.value(key, level)
        if not _is_hashable(head):
            _refuse_key(f"a {type(key).__name__}")
        return head

    def _array(self, value: Any) -> dict[str, Any]:
        # An array of text pads with zeros, which a single text may end with.
        if issubclass(type(value), np.str_):
            return {"n": self._text(str.__str__(value))}
        if issubclass(type(value), np.bytes_):
            return {"n": {"b": self._set_aside(b"".join([value]))}}
        array = np.asarray(value)
        # Records would arrive without the names of their fields.
        if array.dtype.hasobject or array.dtype.kind == "V":
            message = f"an array of dtype {array.dtype} cannot be sent; use a plain dtype"
            raise LayoutError(message, "data-type")
        if hasattr(value, "mask"):
            message = "a masked array cannot be sent; send its data and its mask"
            raise LayoutError(message, "data-type")
        self.arrays.append(array)
        is_scalar = issubclass(type(value), np.generic)
        return {"a": [array.dtype.str, list(array.shape), is_scalar]}


def _integer(number: int) -> dict[str, Any]:
    return {"p": number} if number.bit_length() <= _PLAIN_BITS else {"i": hex(number)}


def _is_hashable(head: dict[str, Any]) -> bool:
    """Whether what arrives can be a key."""
    ((kind, content),) = head.items()
    if kind == "t":
        return all(_is_hashable(item) for item in content)
    return kind not in ("l", "d") and (kind != "a" or bool(content[2]))


def decode(data: bytes) -> Any:
    """The value again; whatever else another process has sent is refused."""
    if len(data) > _MOST_KEPT_BYTES:
        return _decoded(data)
    value = _kept.get(data, _UNKNOWN)
    if value is _UNKNOWN:
        value = _decoded(data)
        if _never_changes(value):
            if len(_kept) >= _MOST_KEPT:
                _kept.clear()
            _kept[data] = value
    return value


def decode_all(data: list[bytes]) -> tuple[list[Any], bool]:
    """The values again, and whether nobody can change them."""
    values = [decode(one) for one in data]
    return values, all(map(_never_changes, values))


def _never_changes(value: Any) -> bool:
    if type(value) is tuple:
        return all(_never_changes(item) for item in value)
    return type(value) in _UNCHANGING


def _decoded(data: bytes) -> Any:
    try:
        return _read(memoryview(data))
    except LayoutError:
        raise
    except RecursionError:
        _refuse_depth()
    # What JSON, NumPy and Python's own types say of nonsense.
    except (AttributeError, TypeError, ValueError, SyntaxError) as error:
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
                return _checked(content, bool, int, float, str, type(None))
            case "i":
                return int(_checked(content, str), 16)
            case "s":
                return self._bytes(content).decode("utf-8", "surrogatepass")
            case "c":
                real, imaginary = content
                return complex(_checked(real, float), _checked(imaginary, float))
            case "b":
                return self._bytes(content)
            case "n":
                plain = _checked(self.value(content), str, bytes)
                return np.str_(plain) if isinstance(plain, str) else np.bytes_(plain)
            case "a":
                return self._array(*content)
            case "t":
                return tuple(self.value(item) for item in content)
            case "l":
                return [self.value(item) for item in content]
            case "d":
                return self._dictionary(content)
            case _:
                raise ValueError(f"a value of kind {kind!r}")

    def _bytes(self, n_bytes: Any) -> bytes:
        return bytes(self.take(_checked(n_bytes, int)))

    def _dictionary(self, content: list[list[Any]]) -> dict[Any, Any]:
        found = {self.value(key): self.value(item) for key, item in content}
        # Keys of subclasses may differ where the plain values they hold do not.
        if len(found) != len(content):
            _refuse_key("what equals another key once it has arrived,")
        return found

    def _array(self, dtype: str, shape: list[int], is_scalar: bool) -> Any:
        kind = np.dtype(_checked(dtype, str))
        if kind.str != dtype or kind.hasobject or kind.kind == "V":
            raise ValueError(f"an array of dtype {dtype}")
        n_items = math.prod(_checked(length, int) for length in shape)
        # Not `frombuffer`, which cannot read texts of no length.
        memory = self.take(n_items * kind.itemsize)
        array: np.ndarray[Any, Any] = np.ndarray(shape, kind, memory).copy()
        return array[()] if _checked(is_scalar, bool) else array


def _checked(content: Any, *kinds: type) -> Any:
    if type(content) not in kinds:
        raise TypeError(f"a {type(content).__name__}")
    return content
