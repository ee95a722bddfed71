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


class DataFrame:
    """As much of a table as a check looks at."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.iloc = self.columns = None


_handles: dict[str, type[Handle]] = {}


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
                kind = _handles.setdefault(content, type(content, (Handle,), {}))
                return kind()
            case "$array":
                return _array(content)
    return {key: build(item) for key, item in value.items()}


def _array(content: dict[str, Any]) -> Any:
    if content.get("type") == "pandas.DataFrame":
        return DataFrame(tuple(content["shape"]))
    dtype = content.get("dtype", "float64")
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
