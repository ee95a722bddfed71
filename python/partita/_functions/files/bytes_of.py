"""Rows of elements at bytes of a file, read and written."""

from __future__ import annotations

import ctypes
import errno
import os
from typing import Any

import numpy as np

Local = np.ndarray[Any, Any]

# The system takes less than 2 GiB at a time.
_MOST_BYTES = 1 << 30


def reserve(file: int, n_bytes: int) -> None:
    """Give a new file its size, and its place on the disk: then writing is twice as fast.

    A full disk is found now. File systems that cannot reserve only note the size; the function of
    Python's own would write zeros there.
    """
    os.ftruncate(file, n_bytes)
    call = getattr(ctypes.CDLL(None, use_errno=True), "fallocate", None)
    if call is None or n_bytes == 0:
        return
    if call(file, 0, ctypes.c_int64(0), ctypes.c_int64(n_bytes)) != 0:
        number = ctypes.get_errno()
        if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise OSError(number, os.strerror(number))


def _bytes(row: Local) -> memoryview:
    return row.view(np.uint8).data


def write(file: int, offset: int, row: Local) -> None:
    """Write a row of elements at a byte of a file."""
    data = _bytes(row)
    done = 0
    while done < len(data):
        done += os.pwrite(file, data[done : done + _MOST_BYTES], offset + done)


def read(file: int, offset: int, row: Local) -> None:
    """Fill a row of elements from a byte of a file on."""
    data = _bytes(row)
    done = 0
    while done < len(data):
        n_read = os.preadv(file, [data[done : done + _MOST_BYTES]], offset + done)
        if n_read == 0:
            missing = len(data) - done
            raise ValueError(f"the file ends {missing} bytes too early; it is not complete")
        done += n_read


def read_passing(stream: Any, offset: int, row: Local) -> None:
    """Fill a row of elements from a byte of a stream on, which passes what comes before."""
    stream.seek(offset)
    data = _bytes(row)
    if stream.readinto(data) < len(data):
        raise ValueError("the file ends too early; it is not complete")
