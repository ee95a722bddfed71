"""Tensors of torch and arrays of JAX as pieces: shared memory, both ways."""

from __future__ import annotations

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import torch
import xarray

import partita as pt


def same(handles: Any) -> Any:
    return handles


def table(pieces: list[Any], rows: list[int], width: int) -> dict[str, Any]:
    parts = {}
    for number, piece in enumerate(pieces):
        start = (sum(rows[:number]), 0)
        entry = {"start": start, "shape": (rows[number], width), "data": piece, "location": [0]}
        parts[(number, 0)] = entry
    shape = (sum(rows), width)
    found = {"shape": shape, "partition_tiling": (len(rows), 1), "partitions": parts, "get": same}
    return {**found, "locals": list(parts)}


WHOLE = np.arange(12.0).reshape(4, 3)


def test_tensors_are_shared() -> None:
    tensors = [torch.tensor(WHOLE[:3]), torch.tensor(WHOLE[3:])]
    a = pt.from_partitioned(table(tensors, [3, 1], 3))
    np.testing.assert_array_equal(a.gather(), WHOLE)
    tensors[0][0, 0] = 50
    assert a.pieces[0][1][0, 0] == 50
    a.pieces[1][1][0, 2] = 60
    assert tensors[1][0, 2] == 60
    assert all(copied.shares_memory for copied in a.copies())
    data = a.__partitioned__["partitions"][(0, 0)]["data"]
    assert torch.from_dlpack(data).data_ptr() == tensors[0].data_ptr()


@pytest.mark.parametrize("dtype", [torch.float32, torch.int16, torch.bool, torch.complex64])
def test_dtypes_and_strides_of_tensors(dtype: torch.dtype) -> None:
    tensor = torch.arange(24).reshape(4, 6).to(dtype).T[::2]
    a = pt.from_partitioned(table([tensor], [3], 4))
    assert a.local.ctypes.data == tensor.data_ptr()
    assert str(dtype) == f"torch.{a.dtype}"
    np.testing.assert_array_equal(a.gather(), tensor.numpy())


def test_tensors_with_gradients_and_sizes() -> None:
    tensor = torch.ones((2, 3), requires_grad=True)
    given = table([tensor], [2], 3)
    given["shape"] = tensor.shape
    given["partitions"][(0, 0)]["shape"] = tensor.shape
    given["partitions"][(0, 0)]["dtype"] = tensor.dtype
    assert pt.check(given) == []
    assert np.shares_memory(pt.from_partitioned(given).local, tensor.detach().numpy())
    given["partitions"][(0, 0)]["dtype"] = torch.float64
    assert [finding.reason for finding in pt.check(given)] == ["dtype-differs"]


def test_tensors_that_numpy_does_not_know_are_refused() -> None:
    with pytest.raises(pt.ProtocolError) as caught:
        pt.from_partitioned(table([torch.zeros((2, 3), dtype=torch.float8_e5m2)], [2], 3))
    assert caught.value.reason == "data-device"


COMPLEX = torch.ones((2, 3), dtype=torch.complex64)
LAZY = [
    (COMPLEX.conj(), "data-conjugate", "resolve_conj"),
    (COMPLEX.conj().imag, "data-negative", "resolve_neg"),
    (torch.eye(2, 3).to_sparse(), "data-sparse", "to_dense"),
]


@pytest.mark.parametrize(("tensor", "reason", "cure"), LAZY, ids=[one[2] for one in LAZY])
def test_tensors_that_show_other_memory_are_refused_by_name(
    tensor: torch.Tensor, reason: str, cure: str
) -> None:
    given = table([tensor], [2], 3)
    for call in (lambda: pt.from_partitioned(given), lambda: pt.asarray(tensor)):
        with pytest.raises(pt.ProtocolError, match=cure) as caught:
            call()
        assert caught.value.reason == reason
    given["get"] = lambda tensors: [getattr(one, cure)() for one in tensors]
    wanted = getattr(tensor, cure)().numpy()
    np.testing.assert_array_equal(pt.from_partitioned(given).gather(), wanted)


def test_mixed_containers_are_refused() -> None:
    mixed = table([torch.zeros(2, 3), np.zeros((2, 3), "f4")], [2, 2], 3)
    found = pt.check(mixed)
    assert [finding.reason for finding in found] == ["data-types-differ"]
    assert "torch.Tensor" in found[0].message


def test_arrays_of_jax_are_shared_and_read_only() -> None:
    arrays = [jnp.asarray(WHOLE[:2], dtype="float32"), jnp.asarray(WHOLE[2:], dtype="float32")]
    a = pt.from_partitioned(table(arrays, [2, 2], 3))
    np.testing.assert_array_equal(a.gather(), WHOLE)
    assert a.pieces[0][1].ctypes.data == arrays[0].unsafe_buffer_pointer()
    with pytest.raises(ValueError, match="read-only"):
        a.pieces[0][1][0, 0] = 1
    b = jnp.from_dlpack(pt.asarray(WHOLE.astype("float32")).local)
    np.testing.assert_array_equal(b, WHOLE)


def test_whole_arrays_of_others() -> None:
    tensor = torch.tensor(WHOLE)
    assert pt.asarray(tensor).local.ctypes.data == tensor.data_ptr()
    labelled = xarray.DataArray(WHOLE, dims=("x", "y"))
    np.testing.assert_array_equal(pt.asarray(labelled).gather(), WHOLE)
    assert pt.asarray(jnp.zeros((2, 2))).shape == (2, 2)
    buffer = {"__version__": "0.10.0", "buffer": tensor, "dim_data": ({}, {})}
    assert pt.from_distarray(buffer).local.ctypes.data == tensor.data_ptr()
