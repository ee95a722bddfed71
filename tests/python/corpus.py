"""The corpus of protocol dictionaries, as Python objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[1] / "corpus"


class Handle:
    """An opaque handle; kinds of their own are classes of their own."""


class Tensor:
    """Not NumPy, but with `__array_interface__`, a shape and a dtype."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array
        self.shape, self.dtype = array.shape, array.dtype

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._array.__array_interface__


class OnDevice:
    """An array whose memory is not the processor's."""

    def __init__(self, shape: tuple[int, ...], dtype: str, device: str) -> None:
        self.shape, self.dtype, self._device = shape, np.dtype(dtype), device

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("no other memory here")

    def __dlpack_device__(self) -> tuple[int, int]:
        name, _, index = self._device.partition(":")
        return {"kDLCUDA": 2, "kDLOneAPI": 14}[name], int(index or 0)


class DataFrame:
    """As much of a table as a check looks at."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.iloc = self.columns = None


_handles: dict[str, type[Handle]] = {}

# Handles that look like data.
LIKE_DATA: dict[str, Any] = {"bytes": b"123", "numpy.int64": np.int64(3)}


def get(handles: Any) -> Any:
    return handles


def build(value: Any) -> Any:
    """What a tagged value of the corpus means."""
    if isinstance(value, list):
        return [build(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, content),) = value.items()
        match tag:
            case "$tuple":
                return tuple(build(item) for item in content)
            case "$dict":
                return {build(key): build(item) for key, item in content}
            case "$function":
                return get
            case "$handle":
                return _handle(content)
            case "$array":
                return _array(content)
    return {key: build(item) for key, item in value.items()}


def _handle(name: str) -> Any:
    if name in LIKE_DATA:
        return LIKE_DATA[name]
    module, _, short = name.rpartition(".")
    own = {"__module__": module} if module else {}
    return _handles.setdefault(name, type(short, (Handle,), own))()


def _array(content: dict[str, Any]) -> Any:
    if content.get("type") == "pandas.DataFrame":
        return DataFrame(tuple(content["shape"]))
    dtype = content.get("dtype", "float64")
    if "device" in content:
        return OnDevice(tuple(content["shape"]), dtype, content["device"])
    if content.get("type") == "memoryview":
        return np.zeros(content["shape"], dtype).data
    if "values" in content:
        array = np.array(content["values"], dtype=dtype)
        array = array.reshape(content.get("shape", array.shape))
    else:
        # One element repeated: some shapes of the corpus are large.
        array = np.broadcast_to(np.zeros((), dtype=dtype), content["shape"])
    return Tensor(array) if content.get("type") == "torch.Tensor" else array


def cases(name: str) -> list[dict[str, Any]]:
    """All cases of a file."""
    found: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


def values(case: dict[str, Any]) -> Any:
    """The dictionary of a case, or the list of those of all ranks."""
    return build(case["ranks"] if "ranks" in case else case["value"])
