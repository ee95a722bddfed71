"""What factorisations are given: matrices of floating point, stacks of them, and their refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from partita._array.held import everywhere
from partita._array.parts import is_here
from partita._array.parts import whole as whole_of
from partita._functions.creation import an_array
from partita._functions.gathered import whole as gathered_whole
from partita._functions.products import cast, together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._array.array import Array
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


def float_type(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which matrices of these types are factorised: integers as float64."""
    for dtype in dtypes:
        if dtype.kind not in "biufc" or dtype == np.float16:
            raise TypeError(f"matrices of {dtype} cannot be factorised; convert them to float64")
    return np.result_type(*(np.float64 if one.kind in "biu" else one for one in dtypes))


def real_type(dtype: Any) -> np.dtype[Any]:
    """The type of the parts of complex numbers; of real ones their own."""
    return np.empty(0, dtype).real.dtype


def matrix(x: Any) -> Array:
    """A matrix or a stack of them, in floating point."""
    array = an_array(x)
    if array.ndim < 2:
        message = f"an array of {array.ndim} dimensions is no matrix; use two or more"
        raise LinAlgError(message)
    return cast(array, float_type(array.dtype))


def square(x: Any) -> Array:
    """A square matrix or a stack of them, in floating point."""
    array = matrix(x)
    n_rows, n_columns = array.shape[-2:]
    if n_rows != n_columns:
        message = f"matrices of {n_rows} rows and {n_columns} columns; use square ones"
        raise LinAlgError(message)
    return array


def pair(a: Any, b: Any) -> tuple[Array, Array]:
    """Two arrays in the floating point that both have together."""
    x, y = together(a, b)
    dtype = float_type(x.dtype, y.dtype)
    return cast(x, dtype), cast(y, dtype)


def agreed(team: Team, work: Callable[[], Sequence[Local]]) -> Sequence[Local]:
    """What this rank computes, if no rank's matrices are refused. Collective."""
    if team.size == 1:
        return work()
    made: Sequence[Local] = ()
    trouble = ""
    try:
        made = work()
    except LinAlgError as error:
        trouble = str(error)
    for rank, told in enumerate(team.gather_inside("matrices without a result", trouble)):
        if told:
            raise LinAlgError(f"{told}, of a matrix on rank {rank}")
    return made


def all_of(array: Array, name: str) -> Local:
    """One matrix whole on every rank, counted where it is not there already. Collective."""
    if is_here(array.layout, everywhere(array.shape, array.team.size)):
        return whole_of(array)
    return gathered_whole(array, f"linalg.{name}")
