"""Functions of NumPy and of partita on sparse tensors: methods of these do the work.

>>> import numpy as np
>>> import partita as pt
>>> t = pt.sparse.eye(3)
>>> float(np.sum(t)), float(np.trace(t)), np.dot(t, np.arange(3.0)).tolist()
(3.0, 3.0, [0.0, 1.0, 2.0])

What has no counterpart is refused: NumPy would make an array of one object of the tensor. Functions
of each element are elsewhere, in `products`.
"""

from __future__ import annotations

import inspect
import operator
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.sparse.base import Base
from partita.sparse.elements import is_number
from partita.sparse.outside import is_foreign

if TYPE_CHECKING:
    from collections.abc import Callable

Local = np.ndarray[Any, Any]

# Functions whose methods have their names and take their arguments.
_METHODS = (
    *("sum", "mean", "max", "min", "nanmax", "nanmin", "argmax", "argmin", "count_nonzero"),
    *("nonzero", "transpose", "tril", "triu", "allclose"),
)


def _dot(a: Any, b: Any) -> Any:
    if is_number(a) or is_number(b):
        return a * b
    return operator.matmul(a, b)


def _inner(a: Any, b: Any) -> Any:
    return _dot(a, b.T if np.ndim(b) == 2 else b)


def _kron(a: Any, b: Any) -> Any:
    if not isinstance(a, Base):
        kind: Any = type(b)
        make = kind.from_scipy if is_foreign(a) else kind.from_dense
        a = make(a, team=b.team)
    return a.kron(b)


def _norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    is_vector = x.ndim == 1 and axis is None
    return x.norm(ord, 0 if is_vector else axis)


def _size(a: Any, axis: int | None = None) -> int:
    return int(a.size if axis is None else a.shape[axis])


def _kind_of(*given: Any) -> np.dtype[Any]:
    return np.result_type(*(one.dtype if isinstance(one, Base) else one for one in given))


# What is done for a function, with the names that its arguments have.
_WORKS: dict[str, Callable[..., Any]] = {
    "amax": lambda a, axis=None, out=None: a.max(axis, out),
    "amin": lambda a, axis=None, out=None: a.min(axis, out),
    "around": lambda a, decimals=0: a.__round__(decimals),
    "copy": lambda a, order="K", subok=False: a.copy(),
    "diagonal": lambda a, offset=0: a.diagonal(offset),
    "dot": _dot,
    "imag": lambda val: val.imag,
    "inner": _inner,
    "iscomplexobj": lambda x: x.dtype.kind == "c",
    "isrealobj": lambda x: x.dtype.kind != "c",
    "kron": _kron,
    "linalg.diagonal": lambda x, offset=0: x.diagonal(offset),
    "linalg.matmul": _dot,
    "linalg.matrix_transpose": lambda x: x.T,
    "linalg.norm": _norm,
    "linalg.trace": lambda x, offset=0: x.trace(offset),
    "matmul": _dot,
    "matrix_transpose": lambda x: x.T,
    "ndim": lambda a: a.ndim,
    "permute_dims": lambda a, axes=None: a.transpose(axes),
    "real": lambda val: val.real,
    "reshape": lambda a, shape, order="C": a.reshape(shape, order=order),
    "result_type": _kind_of,
    "round": lambda a, decimals=0: a.__round__(decimals),
    "shape": lambda a: a.shape,
    "size": _size,
    "tensordot": lambda a, b, axes=2: a.tensordot(b, axes),
    "trace": lambda a, offset=0: a.trace(offset),
}

# What to use instead of functions that have a counterpart by another name.
_INSTEAD = {
    "all": "t.count_nonzero()",
    "any": "t.count_nonzero()",
    "argsort": "t.to_dense() for it",
    "array_equal": "(t != other).nnz == 0",
    "block": "partita.sparse.block_array",
    "concatenate": "partita.sparse.vstack or hstack",
    "concat": "partita.sparse.vstack or hstack",
    "hstack": "partita.sparse.hstack",
    "linalg.eigh": "partita.sparse.linalg.eigsh",
    "linalg.eigvalsh": "partita.sparse.linalg.eigsh",
    "linalg.inv": "a solver of partita.sparse.linalg, such as cg or gmres, for each right side",
    "linalg.solve": "a solver of partita.sparse.linalg, such as cg or gmres",
    "save": "partita.sparse.save_npz",
    "savez": "partita.sparse.save_npz",
    "vstack": "partita.sparse.vstack",
    "where": "comparisons and products, such as (t > 0) * t, or t.to_dense() for it",
}


class Dispatch(Base):
    """What functions ask that are given a tensor."""

    __slots__ = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Local:
        """Refuse: this rank has no array of all elements.

        SciPy's operators ask whether an operand is an array; only if it is none, ours come next.
        """
        if _is_asked_by_operator():
            found = np.empty((), object)
            found[()] = self
            return found
        message = "a DistTensor lies on many ranks, and is no array of NumPy's; use t.to_dense()"
        message += " for an array that does so, too, t.gather() for SciPy's on every rank,"
        raise TypeError(f"{message} or its own functions, such as t.multiply(m)")

    def __array_function__(self, function: Any, kinds: Any, args: Any, options: Any) -> Any:
        """For NumPy: what a method does, or an error that names a cure."""
        package, _, module = function.__module__.partition(".")
        if package != "numpy":
            return NotImplemented
        name = f"{module}.{function.__name__}" if module else function.__name__
        return self._served("numpy", name, args, options)

    def __partita_function__(self, name: str, args: Any, options: Any) -> Any:
        """For partita's own functions, by their names below `partita`."""
        return self._served("partita", name, args, options)

    def _served(self, package: str, name: str, args: Any, options: Any) -> Any:
        """What a function gives; what is refused here may be so on this rank only."""
        options = {key: one for key, one in options.items() if one is not np._NoValue}
        if not args and options:
            args = (options.pop(next(iter(options))),)
        work = _WORKS.get(name)
        if work is None and name in _METHODS and args and isinstance(args[0], Base):
            work, args = getattr(args[0], name), args[1:]
        if work is None:
            cure = _INSTEAD.get(name, "t.to_dense() for it")
            message = f"{package}.{name} has no counterpart for a DistTensor; use {cure}"
            raise self._team.told(TypeError(message))
        taken = inspect.signature(work)
        try:
            taken.bind(*args, **options)
        except TypeError as error:
            message = f"{package}.{name} of a DistTensor: {error}; it takes"
            message = f"{message} {', '.join(taken.parameters)}"
            raise self._team.told(TypeError(message)) from None
        return work(*args, **options)


def _is_asked_by_operator() -> bool:
    """Whether one of SciPy's operators has asked for an array."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("scipy.sparse"):
        name = frame.f_code.co_name
        if name.startswith("__") and name != "__init__":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
