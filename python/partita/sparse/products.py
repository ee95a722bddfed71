"""Products of sparse matrices with dense and sparse ones, on either side."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

# Results are arrays, whose methods come with the functions.
import partita._functions.methods  # noqa: F401
from partita._array.array import Array
from partita.sparse.answers import answered
from partita.sparse.base import Base
from partita.sparse.elements import is_number
from partita.sparse.folded import dense_times_tensor, folded_product, tensor_times_dense, tensordot
from partita.sparse.matmul import sparse_product
from partita.sparse.multiplying import multiplied
from partita.sparse.outside import is_foreign
from partita.sparse.teams import on_team
from partita.sparse.vectors import sparse_vector_product, vector_times_dense

if TYPE_CHECKING:
    from typing import Self

# What NumPy calls where an array of its own stands on the left of an operator.
OPERATORS: dict[Any, Any] = {
    np.matmul: operator.matmul,
    np.multiply: operator.mul,
    np.add: operator.add,
    np.subtract: operator.sub,
    np.true_divide: operator.truediv,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.power: operator.pow,
}

# NumPy's functions whose methods have other names; functions that fill zeros have none.
METHODS: dict[Any, str] = {
    np.absolute: "__abs__",
    np.negative: "__neg__",
    np.positive: "__pos__",
    np.maximum: "maximum",
    np.minimum: "minimum",
    np.hypot: "hypot",
    **{
        one: one.__name__
        for one in (
            *(np.sin, np.tan, np.arcsin, np.arctan, np.sinh, np.tanh, np.arcsinh, np.arctanh),
            *(np.rint, np.sign, np.expm1, np.log1p, np.deg2rad, np.rad2deg, np.floor, np.ceil),
            *(np.trunc, np.sqrt, np.cbrt, np.square, np.fabs, np.isnan, np.isinf),
            *(np.radians, np.degrees, np.conjugate),
        )
    },
}

# Those that give the same with operands exchanged: the tensor may stand on the right.
SYMMETRIC = (np.maximum, np.minimum, np.hypot)


class Products(Base):
    """`t @ x`, `x @ t` and their relatives, for dense and sparse operands. All are collective.

    Of a dense operand, ranks fetch only the rows that their entries touch; who needs what is told
    once for each pattern and layout. Results are arrays whose rows lie as those of the matrix.
    """

    __slots__ = ()

    def __matmul__(self, other: Any) -> Any:
        if _is_dense(other):
            if self.ndim > 2:
                return tensor_times_dense(self, other)
            return vector_times_dense(self, other) if self.ndim == 1 else multiplied(self, other, 1)
        right = self._operand(other)
        found = NotImplemented if right is None else _sparse_product(self, right)
        return answered(self, found, other, "@", "__rmatmul__")

    def __rmatmul__(self, other: Any) -> Any:
        if not _is_dense(other):
            left = self._operand(other)
            found = NotImplemented if left is None else _sparse_product(left, self)
            return answered(self, found, other, "@")
        x = other if isinstance(other, Array) else np.asarray(other)
        if self.ndim == 1:
            return vector_times_dense(self, x.T)
        if self.ndim > 2:
            return dense_times_tensor(x, self)
        return multiplied(self, x, 0) if x.ndim != 2 else multiplied(self, x.T, 0).T

    def _operand(self, other: Any) -> Any:
        """A sparse operand as a tensor; one of SciPy is whole on every rank. None if it is none."""
        if isinstance(other, Base):
            return on_team(other, self._team)
        if not is_foreign(other):
            return None
        tensor: Any = self
        if len(other.shape) != self.ndim:
            return tensor.from_scipy(other, team=self._team)
        return tensor._sparse(other)

    @property
    def H(self) -> Self:
        """The conjugate transposed matrix; the pattern is that of `T`, over the same memory."""
        turned: Any = self
        found: Self = turned.T._revalued(self._block.data.conj(), "conj")
        return found

    def dot(self, other: Any) -> Any:
        """Return `t @ other`; a number scales the tensor."""
        scaled: Any = self
        return scaled * other if is_number(other) else self @ other

    def tensordot(self, other: Any, axes: Any = 2) -> Any:
        """Return the sums over dimensions of the tensor and of another one, or of an array."""
        return tensordot(self, self._operand(other) if is_foreign(other) else other, axes)

    def matvec(self, x: Any) -> Array:
        """Return `t @ x`, under the name that solvers use."""
        return multiplied(self, x, 1)

    def rmatvec(self, x: Any) -> Array:
        """Return the product of the conjugate transposed matrix with `x`; nothing is transposed."""
        return multiplied(self, x, 0, conjugate=self.dtype.kind == "c")

    matmat = matvec
    rmatmat = rmatvec

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """For NumPy: functions that leave zeros zero, and operators with its arrays on the left."""
        is_plain = method == "__call__" and not options
        if ufunc in SYMMETRIC and not isinstance(inputs[0], Base):
            inputs = inputs[::-1]
        if is_plain and ufunc in METHODS and isinstance(inputs[0], Base):
            return getattr(inputs[0], METHODS[ufunc])(*inputs[1:])
        work = OPERATORS.get(ufunc)
        if work is None or not is_plain:
            raise self._team.told(TypeError(_refused(ufunc, method, options)))
        left, right = inputs
        # The method itself: Python's operator would ask the other array, too, and come back here.
        if isinstance(left, Base):
            # Who has functions of its own is asked by NumPy, once: the method would ask it again.
            answer = getattr(left, f"__{_name(work)}__")
            return NotImplemented if _answers_itself(right) else answer(right)
        mirrored = getattr(right, _mirrored(work), None)
        return NotImplemented if mirrored is None else mirrored(left)


def _refused(ufunc: Any, method: str, options: Any) -> str:
    """Why a function of NumPy is not applied to sparse tensors, and what to do."""
    name = ufunc.__name__
    if method != "__call__":
        return f"numpy.{name}.{method} of a DistTensor; use its methods, such as t.sum(axis)"
    if options and (ufunc in METHODS or ufunc in OPERATORS):
        return f"numpy.{name} of a DistTensor with {', '.join(options)}=; use it without"
    return f"numpy.{name} has no counterpart for a DistTensor; use t.to_dense() for it"


def _sparse_product(left: Any, right: Any) -> Any:
    if max(left.ndim, right.ndim) > 2:
        return folded_product(left, right)
    is_vector = 1 in (left.ndim, right.ndim)
    return sparse_vector_product(left, right) if is_vector else sparse_product(left, right)


def _name(work: Any) -> str:
    return str(work.__name__.strip("_"))


def _mirrored(work: Any) -> str:
    """Return the method that Python calls on the right operand."""
    turned = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
    name = _name(work)
    return f"__{turned[name]}__" if name in turned else f"__r{name}__"


def _answers_itself(other: Any) -> bool:
    """Whether an operand that sparse tensors do not know has functions of NumPy of its own."""
    is_known = isinstance(other, Array | Base | np.ndarray | np.generic) or is_foreign(other)
    return hasattr(type(other), "__array_ufunc__") and not is_known


def _is_dense(other: Any) -> bool:
    """Whether an operand is an array, or what NumPy makes one of."""
    return isinstance(other, Array | np.ndarray | list | tuple)
