"""Tensors as NumPy arrays and back, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from partita._errors import LayoutError
from partita._memory.bfloat import NAME as BFLOAT
from partita.distdl.agree import Structure

Local = np.ndarray[Any, Any]

DTYPE_NAMES = {
    torch.bool: "bool",
    torch.uint8: "uint8",
    torch.int8: "int8",
    torch.int16: "int16",
    torch.int32: "int32",
    torch.int64: "int64",
    torch.float16: "float16",
    torch.bfloat16: BFLOAT,
    torch.float32: "float32",
    torch.float64: "float64",
    torch.complex64: "complex64",
    torch.complex128: "complex128",
}


def structure(tensor: Any) -> Structure:
    """What other workers must know of a tensor; flagged if it needs a gradient."""
    if not isinstance(tensor, torch.Tensor):
        message = f"a {type(tensor).__name__} as local tensor; use a torch tensor"
        raise LayoutError(message, "local-type")
    if tensor.is_nested:
        message = "a nested tensor; use a strided one, such as torch.nested.to_padded_tensor gives"
        raise LayoutError(message, "tensor-layout")
    if tensor.device.type != "cpu":
        message = f"a tensor on {tensor.device}; move it to the CPU first, others come later"
        raise LayoutError(message, "device")
    if tensor.layout != torch.strided:
        message = f"a tensor of layout {tensor.layout}; use a strided one"
        raise LayoutError(message, "tensor-layout")
    if tensor.dtype not in DTYPE_NAMES:
        known = ", ".join(DTYPE_NAMES.values())
        message = f"a tensor of {tensor.dtype}; use one of {known}"
        raise LayoutError(message, "dtype-unknown")
    needs_gradient = tensor.requires_grad and torch.is_grad_enabled()
    return Structure(tuple(tensor.shape), DTYPE_NAMES[tensor.dtype], needs_gradient)


def check_in_place(tensor: torch.Tensor) -> None:
    """Whether the numbers in memory are those that the tensor shows."""
    for is_other, what in ((tensor.is_conj(), "conj"), (tensor.is_neg(), "neg")):
        if is_other:
            message = f"a tensor in place whose memory is read through its {what} bit; use"
            raise LayoutError(f"{message} tensor.resolve_{what}()", "tensor-in-place")


def widened(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in a type whose sums do not overflow or stand still, as torch adds inside."""
    is_half = tensor.dtype in (torch.float16, torch.bfloat16)
    return tensor.float() if is_half else tensor


def as_array(tensor: torch.Tensor) -> Local:
    """The tensor's own memory as an array, strides and all."""
    own = tensor.detach().resolve_conj().resolve_neg()
    if own.dtype == torch.bfloat16:
        # NumPy has no such type: these are its bits.
        return own.view(torch.int16).numpy().view("uint16")
    array: Local = own.numpy()
    return array


def bits_of(tensor: torch.Tensor) -> str | None:
    """The type whose bits `as_array` gives as integers; none where it gives the elements."""
    return BFLOAT if tensor.dtype == torch.bfloat16 else None


def as_tensor(array: Local, name: str) -> torch.Tensor:
    """An array's own memory as a tensor of a type, by its name."""
    if name == BFLOAT:
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)
