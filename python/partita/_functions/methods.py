"""The methods that NumPy's arrays have, for ours: each calls the function of its name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from partita._array import export
from partita._array.array import Array, Methods, put_into_array
from partita._functions import (
    bits,
    elementwise,
    finding,
    interop,
    looking,
    manipulation,
    moments,
    numbers,
    picking,
    products,
    searching,
    shaping,
    sorting,
    statistics,
    types,
)
from partita._functions.creation import asarray
from partita._functions.files import in_hdf5, in_zarr, npy
from partita._functions.flat import Flat
from partita._functions.gathered import whole
from partita._functions.inspection import in_c_order
from partita._missing import Absent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    _Base = Methods
else:
    _Base = object


class NumPyMethods(_Base):
    """Methods by the names of NumPy."""

    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 1000.0
    __array_ufunc__ = interop.array_ufunc
    __array_function__ = interop.array_function

    var, std = statistics.var, statistics.std
    cumsum, cumprod = statistics.cumsum, statistics.cumprod
    argmin, argmax = searching.argmin, searching.argmax
    nonzero = searching.nonzero
    searchsorted = finding.searchsorted
    argsort, argpartition = sorting.argsort, sorting.argpartition
    squeeze, swapaxes, repeat = manipulation.squeeze, manipulation.swapaxes, manipulation.repeat
    ravel, flatten, resize = manipulation.ravel, manipulation.flatten, shaping.resize
    tofile, to_zarr, to_hdf5 = npy.tofile, in_zarr.to_zarr, in_hdf5.to_hdf5
    clip = elementwise.clip
    take, put, choose, ptp = picking.take, picking.put, picking.choose, moments.ptp
    __divmod__ = numbers.divmod
    dot, diagonal, trace = products.dot, products.diagonal, products.trace

    base = Absent("base", "the array that you made the view of")
    byteswap = Absent("byteswap", "a.gather().byteswap()")
    ctypes = Absent("ctypes", "a.local.ctypes, of this rank's part")
    data = Absent("data", "a.local.data, of this rank's part")
    dump = Absent("dump", "partita.save")
    dumps = Absent("dumps", "pickle.dumps(a), or a.tobytes()")
    flags = Absent("flags", "a.local.flags, of this rank's part")
    getfield = Absent("getfield", "one array for each field")
    setfield = Absent("setfield", "one array for each field")
    setflags = Absent("setflags", "a.local.setflags, of this rank's part")

    def __matmul__(self, other: Any) -> Array:
        return _beside_arrays(self, other, other)

    def __rmatmul__(self, other: Any) -> Array:
        return _beside_arrays(other, self, other)

    def __imatmul__(self, other: Any) -> Array:
        return products.matmul(self, other, _seen(self))

    def __rdivmod__(self, other: Any) -> tuple[Array, Array]:
        return numbers.divmod(other, self)

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        """Return the entries along an axis for which a condition holds."""
        return picking.compress(condition, self, axis, out)

    @property
    def flat(self) -> Flat:
        """The elements in a row, to be read, gone through and set."""
        return Flat(_seen(self))

    @flat.setter
    def flat(self, values: Any) -> None:
        Flat(_seen(self))[:] = values

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one entry to the next along each dimension of the whole array, in C order."""
        if self.size == 0:
            # What they are where nothing is there depends on NumPy's version.
            return np.empty(self.shape, self.dtype).strides
        counts = [int(np.prod(self.shape[at + 1 :])) for at in range(self.ndim)]
        return tuple(count * self.dtype.itemsize for count in counts)

    @strides.setter
    def strides(self, strides: Any) -> None:
        message = f"strides {strides} for an array that ranks share; use slices, T or broadcast_to"
        raise AttributeError(message, name="strides", obj=self)

    def view(self, dtype: Any = None) -> Array:
        """Return the bytes as elements of another type, in memory of their own.

        Without a type it is a view.
        """
        array = _seen(self)
        if dtype is None or np.dtype(dtype) == self.dtype:
            return array[...]
        return bits.seen_as(array, dtype)

    def tobytes(self, order: str = "C") -> bytes:
        """Return the bytes of all elements in C order, on every rank. Collective."""
        in_c_order(order)
        return whole(_seen(self), "tobytes").tobytes()

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: Any = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Array:
        """Return the elements in another type."""
        in_c_order(order)
        if casting != "unsafe" and not np.can_cast(self.dtype, dtype, casting):
            message = f"elements of {self.dtype} as {np.dtype(dtype)}; use another casting="
            raise TypeError(message)
        return types.astype(_seen(self), dtype, copy=copy)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Array:
        """Return the elements in another shape, given as numbers or as one tuple."""
        wanted = shape[0] if len(shape) == 1 else shape
        return manipulation.reshape(self, wanted, order, copy=copy)

    def transpose(self, *axes: Any) -> Array:
        """Return a view with the dimensions in another order."""
        given = axes[0] if len(axes) == 1 else axes
        return manipulation.transpose(self, given or None)

    def sort(
        self,
        axis: int = -1,
        kind: str | None = None,
        order: None = None,
        *,
        stable: bool | None = None,
    ) -> None:
        """Bring the elements into order along an axis, in place."""
        if kind is not None and stable is not None:
            raise ValueError(f"kind={kind!r} and stable={stable}; give one of them")
        self[...] = sorting.sort(self, axis, kind, order)

    def partition(
        self, kth: Any, axis: int = -1, kind: str = "introselect", order: None = None
    ) -> Any:
        """Bring the `kth` element to its place in order along an axis, smaller ones before it.

        With a list it is a place among `__partitioned__`'s partitions, whose data are returned.
        """
        if not isinstance(kth, int | np.integer):
            return Methods.partition(_seen(self), kth)
        self[...] = sorting.partition(self, int(kth), axis, kind, order)
        return None

    def fill(self, value: Any) -> None:
        """Set every element."""
        self[...] = value

    def conj(self) -> Array:
        """Return the complex conjugate of each element."""
        made: Array = elementwise.conj(self)
        return made

    conjugate = conj

    def round(self, decimals: int = 0, out: Any = None) -> Array:
        """Return each element rounded to so many decimals, halves to the even side."""
        return elementwise.round(self, decimals, out)

    @property
    def real(self) -> Array:
        """The real parts: of real numbers the array itself; of complex ones only to be read."""
        if self.dtype.kind != "c":
            return _seen(self)
        made: Array = elementwise.real(self)
        return made._as_parts()

    @real.setter
    def real(self, parts: Any) -> None:
        if self.dtype.kind == "c":
            elementwise.set_parts(_seen(self), real_part=parts)
        else:
            self[...] = parts

    @property
    def imag(self) -> Array:
        """The imaginary parts, only to be read."""
        made: Array = elementwise.imag(self)
        return made._as_parts()

    @imag.setter
    def imag(self, parts: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError(f"elements of {self.dtype} have no imaginary parts; use astype first")
        elementwise.set_parts(_seen(self), imaginary_part=parts)

    @property
    def T(self) -> Array:
        """A view with the dimensions in reverse order."""
        return manipulation.transpose(self)

    @property
    def mT(self) -> Array:
        """A view with the last two dimensions exchanged."""
        return manipulation.matrix_transpose(self)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def device(self) -> str:
        """Where the elements are."""
        return "cpu"

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """Return the array on a device."""
        if device != "cpu":
            raise ValueError(f"device {device!r} is not known here; use 'cpu'")
        return _seen(self)

    def ir(self) -> looking.Program:
        """Return the program that computes it, before and after the passes; nothing is computed."""
        return looking.program_of(_seen(self))

    def tolist(self) -> Any:
        """Return the elements as lists of numbers. Collective."""
        return self._whole().tolist()

    def _whole(self) -> np.ndarray[Any, Any]:
        whole = self.gather()
        assert whole is not None
        return whole

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("an array without dimensions has no entries; use item()")
        return _entries(_seen(self), range(self.shape[0]))

    def __reversed__(self) -> Iterator[Any]:
        return _entries(_seen(self), reversed(range(len(self))))

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self._number("round"), ndigits)

    def __trunc__(self) -> Any:
        return math.trunc(self._number("math.trunc"))

    def __floor__(self) -> Any:
        return math.floor(self._number("math.floor"))

    def __ceil__(self) -> Any:
        return math.ceil(self._number("math.ceil"))

    def _number(self, name: str) -> Any:
        """The number that an array without dimensions is."""
        if self.ndim:
            what = name.removeprefix("math.")
            raise TypeError(f"{name} of an array of shape {self.shape}; use partita.{what}")
        return self.item()

    def __contains__(self, value: Any) -> bool:
        return bool(statistics.any(self == value))

    def __str__(self) -> str:
        return interop.text_of(_seen(self))

    def __format__(self, how: str) -> str:
        if how and self.ndim:
            message = f"unsupported format string {how!r} for an array of shape {self.shape}"
            raise TypeError(f"{message}; use array2string, or one of its elements")
        return format(self.item(), how) if how else str(self)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The module whose functions these arrays are for."""
        return interop.namespace(api_version)

    def __reduce__(self) -> Any:
        # Whoever pickles does so on one rank: the others cannot be asked for their parts.
        alone = self._team.size == 1
        return asarray, (self._whole() if alone else export.whole(_seen(self)),)

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Array:
        return self.copy()


def _entries(array: Array, places: Iterable[int]) -> Iterator[Any]:
    """The entries along the first dimension at some places."""
    # Each is read when it is its turn: what the loop has written is there by then.
    read = _number_at if array.ndim == 1 else Array.__getitem__
    return (read(array, at) for at in places)


def _number_at(array: Array, at: int) -> Any:
    """An element as NumPy gives it: a number that may be a key, and that other libraries know."""
    found = array[at].item()
    return array.dtype.type(found) if isinstance(array.dtype, np.dtype) else found


def _beside_arrays(a: Any, b: Any, other: Any) -> Array:
    """The product of two operands, or `NotImplemented` where the other is no array."""
    if not isinstance(other, Array | np.ndarray | list | tuple | int | float | complex):
        made: Array = NotImplemented
        return made
    return products.matmul(a, b)


def _seen(array: NumPyMethods) -> Array:
    """The class as what it is once it is whole."""
    return cast("Array", array)


put_into_array(NumPyMethods)
