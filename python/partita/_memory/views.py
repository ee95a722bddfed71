"""Other libraries' arrays as NumPy views: no copy unless there is no way around it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from partita._errors import ProtocolError, words_of
from partita._memory.bfloat import taught

Local = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Copied:
    """Whether a piece shares its producer's memory, and why not if it does not."""

    piece: int
    shares_memory: bool
    why: str = ""


def is_frame(obj: Any) -> bool:
    """Whether an object is a table with rows and columns, as pandas has them."""
    return hasattr(obj, "iloc") and hasattr(obj, "columns")


def as_numpy(obj: Any, copy: bool | None = None) -> tuple[Local, str]:
    """A NumPy array of an object's elements, and why it is a copy; no reason if it is none.

    `copy` True always copies, False refuses to, None copies only where it must.
    """
    array, why, is_fresh = _seen(obj)
    if array.dtype.hasobject:
        message = f"data of dtype {array.dtype}; objects cannot be shared, use numbers"
        raise ProtocolError(message, "data-type")
    if not array.dtype.isnative and not array.dtype.names:
        array, why = array.astype(array.dtype.newbyteorder("=")), "the byte order was not ours"
        is_fresh = True
    if why and copy is False:
        message = f"data of type {type(obj).__name__} needs a copy: {why}; use copy=None"
        raise ProtocolError(message, "copy-needed")
    if copy:
        return (array if is_fresh else array.copy(order="K")), why or "copy=True"
    return array, why


def checked_copy(copy: Any) -> bool | None:
    """True, False or None."""
    if copy is not None and not isinstance(copy, bool):
        message = f"copy={copy!r}; use True, False, or None to copy only where it must be"
        raise ProtocolError(message, "copy-flag")
    return copy


def _seen(obj: Any) -> tuple[Local, str, bool]:
    """An array, why it is a copy, and whether nobody else has it."""
    try:
        if isinstance(obj, np.generic):
            return np.asarray(obj), "a scalar has no memory to share", True
        seen = _view(obj)
        return _asked(obj) if seen is None else (seen, "", False)
    except ProtocolError:
        raise
    except Exception as error:
        message = f"data of type {type(obj).__name__} raised {words_of(error)}"
        raise ProtocolError(message, "data-raised") from None


def _view(obj: Any) -> Local | None:
    """The memory that an object shows by itself; none where it must be asked."""
    if isinstance(obj, np.ndarray):
        refuse_mask(obj)
        return np.asarray(obj)
    if type(obj).__module__.partition(".")[0] == "torch":
        return _from_torch(obj)
    if hasattr(obj, "__array_interface__"):
        return np.asarray(obj)
    if hasattr(obj, "__dlpack__"):
        return _from_dlpack(obj)
    try:
        return np.asarray(memoryview(obj))
    except (TypeError, ValueError):
        pass
    return None


def _asked(obj: Any) -> tuple[Local, str, bool]:
    """What `__array__` gives, and whether that is the object's own memory."""
    # A sparse tensor has one to refuse; what it is says more.
    if hasattr(obj, "__array__") and not hasattr(obj, "__partita_function__"):
        try:
            with warnings.catch_warnings():
                # An old `__array__` does not say whether it copies.
                warnings.simplefilter("ignore", DeprecationWarning)
                return np.asarray(obj, copy=False), "", False
        except ValueError:
            return np.asarray(obj), "its __array__ may have copied", False
    if isinstance(obj, str):
        raise ProtocolError(f"{obj[:20]!r} is a text; use numbers, or a pt.Frame", "data-type")
    message = f"data of type {type(obj).__name__} shows no memory; use {_instead_of(obj)}"
    raise ProtocolError(message, "data-type")


def _instead_of(obj: Any) -> str:
    """What to give in place of an object that is no array; there are no arrays of objects."""
    if obj is None:
        return "numbers, such as nan where one is missing"
    if isinstance(obj, Set | Iterator):
        return "list(...) of it, or fromiter"
    if isinstance(obj, Mapping):
        return "list(...) of its values, or a dictionary of a protocol"
    if hasattr(obj, "__partita_function__"):
        return "its own methods, such as t.sum(), t.to_dense(), or partita.sparse"
    if hasattr(obj, "to_dense"):
        return "to_dense() of it"
    return "an object with DLPack, the buffer protocol or __array_interface__"


def refuse_mask(array: Local) -> None:
    """No protocol has masks: what is hidden would come out as a value."""
    if isinstance(array, np.ma.MaskedArray) and array.mask is not np.ma.nomask:
        message = "the mask of a masked array would be lost; hand over .data and .mask apart, or "
        raise ProtocolError(f"{message}.filled(value)", "data-masked")


def _refuse_lazy(tensor: Any) -> None:
    """What torch computes only when it is read has no memory that shows it."""
    if str(getattr(tensor, "layout", "torch.strided")) != "torch.strided":
        message = f"a tensor of layout {tensor.layout} has no dense memory; use to_dense()"
        raise ProtocolError(message, "data-sparse")
    if tensor.is_conj():
        message = "a tensor with the conjugate bit shows other numbers; use resolve_conj()"
        raise ProtocolError(message, "data-conjugate")
    if tensor.is_neg():
        message = "a tensor with the negative bit shows other numbers; use resolve_neg()"
        raise ProtocolError(message, "data-negative")


def _from_torch(tensor: Any) -> Local:
    """A tensor's memory, with or without a gradient."""
    _refuse_lazy(tensor)
    try:
        if str(tensor.dtype) == "torch.bfloat16":
            bits: Local = tensor.detach().view(import_module("torch").int16).numpy()
            return bits.view(taught())
        array: Local = tensor.detach().numpy()
    except (TypeError, RuntimeError) as error:
        message = f"a tensor of {tensor.dtype} on {tensor.device} is no NumPy array: {error}"
        raise ProtocolError(message, "data-device") from None
    return array


def _from_dlpack(obj: Any) -> Local:
    try:
        return np.from_dlpack(obj)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        message = f"data of type {type(obj).__name__} cannot be taken through DLPack: {error}"
        raise ProtocolError(message, "data-device") from None


def carrier_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The element type that plans move: times travel as the integers they are."""
    return np.dtype("int64") if dtype.kind in "mM" else dtype
