r"""Text and mixed objects of a column as one row of bytes with a length for each element.

Every str comes back exactly, lone surrogates and trailing NULs too, and nothing is padded: a column
takes the bytes of its text and a few more per element.

>>> lengths, row = packed_text(["a", None, "x" + chr(0)])
>>> lengths.tolist(), row.tobytes()
([1, -1, 2], b'ax\x00')
>>> unpacked_text(lengths, row, None).tolist()
['a', None, 'x\x00']
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, Any]

# The length of an element that is missing.
MISSING = -1


def _encoded(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def packed_text(words: Iterable[Any]) -> tuple[Numbers, Numbers]:
    """Lengths in bytes, and the bytes; what is no text is missing."""
    packed = [_encoded(word) if isinstance(word, str) else None for word in words]
    lengths = [MISSING if data is None else len(data) for data in packed]
    return np.array(lengths, dtype=np.int64), _row(data or b"" for data in packed)


def unpacked_text(lengths: Numbers, row: Numbers, missing: Any) -> Numbers:
    """The words again, as objects."""
    counts = lengths.tolist()
    words = zip(counts, _cut(counts, row), strict=True)
    return _objects([missing if count < 0 else _decoded(data) for count, data in words])


def _row(parts: Iterable[bytes]) -> Numbers:
    return np.frombuffer(b"".join(parts), dtype=np.uint8)


def _cut(counts: Sequence[int], row: Numbers) -> Iterator[bytes]:
    data = row.tobytes()
    ends = list(accumulate(max(count, 0) for count in counts))
    return (data[start:end] for start, end in zip([0, *ends], ends, strict=False))


def _objects(values: list[Any]) -> Numbers:
    # NumPy would look into the values if it made the array itself.
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


Writer = Callable[[Any], bytes]
Reader = Callable[[bytes], Any]


def _kinds() -> list[tuple[type, Writer, Reader]]:
    """What a column of objects may hold; the place in the list is the tag that travels."""
    import pandas as pd  # type: ignore[import-untyped]

    def write_nothing(_: Any) -> bytes:
        return b""

    return [
        (str, _encoded, _decoded),
        (type(None), write_nothing, lambda _: None),
        (type(pd.NA), write_nothing, lambda _: pd.NA),
        (type(pd.NaT), write_nothing, lambda _: pd.NaT),
        (float, lambda v: struct.pack("<d", v), lambda data: struct.unpack("<d", data)[0]),
        (bool, lambda v: bytes([v]), lambda data: data != b"\0"),
        (int, _packed_int, lambda data: int.from_bytes(data, "little", signed=True)),
        (bytes, bytes, lambda data: data),
        (np.generic, _packed_scalar, _unpacked_scalar),
    ]


def _packed_int(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)


def _packed_scalar(value: np.generic) -> bytes:
    return value.dtype.str.encode() + b" " + value.tobytes()


def _unpacked_scalar(data: bytes) -> Any:
    dtype, _, content = data.partition(b" ")
    return np.frombuffer(content, dtype=dtype.decode())[0]


def _kind_of(value: Any) -> type:
    """The type by which a value is packed: its own, or that of NumPy's numbers and times."""
    is_number = isinstance(value, np.generic) and value.dtype.kind in "biufcmM"
    return np.generic if is_number else type(value)


def first_unknown(values: Iterable[Any]) -> tuple[int, type] | None:
    """Place and type of the first object that cannot be packed."""
    # Subclasses are others: they would come back as what they are made of.
    known = {kind for kind, _, _ in _kinds()}
    for place, value in enumerate(values):
        if _kind_of(value) not in known:
            return place, type(value)
    return None


def packed_objects(values: Iterable[Any]) -> tuple[Numbers, Numbers, Numbers]:
    """Lengths in bytes, tags, and the bytes."""
    writers = {kind: (tag, write) for tag, (kind, write, _) in enumerate(_kinds())}
    tags, packed = [], []
    for value in values:
        tag, write = writers[_kind_of(value)]
        tags.append(tag)
        packed.append(write(value))
    lengths = np.array([len(data) for data in packed], dtype=np.int64)
    return lengths, np.array(tags, dtype=np.uint8), _row(packed)


def unpacked_objects(lengths: Numbers, tags: Numbers, row: Numbers) -> Numbers:
    """The objects again."""
    readers = [read for _, _, read in _kinds()]
    parts = zip(tags.tolist(), _cut(lengths.tolist(), row), strict=True)
    return _objects([readers[tag](data) for tag, data in parts])
