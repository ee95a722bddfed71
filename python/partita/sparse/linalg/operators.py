"""Matrices that are known by what they make of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import integers
from partita._array.array import Array
from partita._errors import LayoutError
from partita._functions.creation import asarray, ones
from partita._functions.elementwise import conj
from partita._functions.manipulation import reshape, stack
from partita.sparse.base import Base
from partita.sparse.outside import is_foreign
from partita.sparse.telling import telling

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._team.team import Team


class LinearOperator:
    """A matrix by its products, as SciPy's: give functions, or override `_matvec` and others.

    >>> import partita as pt
    >>> twice = LinearOperator((3, 3), matvec=lambda x: 2 * x, dtype=float)
    >>> (twice @ pt.ones(3)).tolist()
    [2.0, 2.0, 2.0]
    """

    # NumPy leaves operators to this class.
    __array_ufunc__ = None

    def __init__(
        self,
        shape: tuple[int, int],
        matvec: Callable[[Array], Array] | None = None,
        rmatvec: Callable[[Array], Array] | None = None,
        matmat: Callable[[Array], Array] | None = None,
        dtype: Any = None,
        rmatmat: Callable[[Array], Array] | None = None,
        *,
        team: Team | None = None,
    ) -> None:
        extents = integers(shape, "shape")
        if len(extents) != 2 or min(extents) < 0:
            raise ValueError(f"an operator of shape {shape}; use two numbers from 0 on")
        self.shape = (extents[0], extents[1])
        self.team = team
        # What errors call the functions, where these are an argument themselves.
        self._name = ""
        self._dtype = None if dtype is None else np.dtype(dtype)
        self._by_vector, self._by_vector_back = matvec, rmatvec
        self._by_matrix, self._by_matrix_back = matmat, rmatmat

    @property
    def ndim(self) -> int:
        """Number of dimensions, which is 2."""
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type; that of a product with ones if nobody has said it. Collective then."""
        if self._dtype is None:
            self._dtype = self.matvec(ones(self.shape[1], team=self.team)).dtype
        return self._dtype

    def _matvec(self, x: Array) -> Array:
        if self._by_vector is not None:
            return self._by_vector(x)
        if self._by_matrix is not None:
            name = self._name or "matmat"
            column = reshape(x, (-1, 1))
            return reshape(_of_matrix(self._by_matrix, column, self.shape[::-1], name), -1)
        raise NotImplementedError("an operator without products; give matvec= or matmat=")

    def _rmatvec(self, x: Array) -> Array:
        if self._by_vector_back is not None:
            return self._by_vector_back(x)
        if self._by_matrix_back is not None:
            name = self._name or "rmatmat"
            column = reshape(x, (-1, 1))
            return reshape(_of_matrix(self._by_matrix_back, column, self.shape, name), -1)
        raise NotImplementedError("an operator without adjoint products; give rmatvec=")

    def _matmat(self, x: Array) -> Array:
        if self._by_matrix is not None:
            return self._by_matrix(x)
        return _by_columns(self.matvec, x, self.shape[0])

    def _rmatmat(self, x: Array) -> Array:
        if self._by_matrix_back is not None:
            return self._by_matrix_back(x)
        return _by_columns(self.rmatvec, x, self.shape[1])

    @telling
    def matvec(self, x: Any) -> Array:
        """Return the product with a vector, of shape (n,) or (n, 1)."""
        return _of_vector(self._matvec, x, self.shape[::-1], self._name or "matvec")

    @telling
    def rmatvec(self, x: Any) -> Array:
        """Return the product of the conjugate transposed with a vector."""
        return _of_vector(self._rmatvec, x, self.shape, self._name or "rmatvec")

    @telling
    def matmat(self, x: Any) -> Array:
        """Return the product with a matrix."""
        return _of_matrix(self._matmat, x, self.shape[::-1], self._name or "matmat")

    @telling
    def rmatmat(self, x: Any) -> Array:
        """Return the product of the conjugate transposed with a matrix."""
        return _of_matrix(self._rmatmat, x, self.shape, self._name or "rmatmat")

    def dot(self, x: Any) -> Any:
        """Return the product with a vector or matrix, or with another operator or number."""
        if isinstance(x, LinearOperator):
            return _chained(self, x)
        if np.ndim(x) == 0:
            return _scaled(self, x)
        return self.matvec(x) if np.ndim(x) == 1 else self.matmat(x)

    def __matmul__(self, x: Any) -> Any:
        if np.ndim(x) == 0 and not isinstance(x, LinearOperator):
            raise ValueError("@ with a number; use * for it")
        return self.dot(x)

    __mul__ = __call__ = dot

    def __rmul__(self, x: Any) -> Any:
        return _scaled(self, x) if np.ndim(x) == 0 else NotImplemented

    def __neg__(self) -> LinearOperator:
        return _scaled(self, -1)

    def __add__(self, other: Any) -> LinearOperator:
        return _added(self, aslinearoperator(other))

    def __sub__(self, other: Any) -> LinearOperator:
        return _added(self, -aslinearoperator(other))

    @property
    def H(self) -> LinearOperator:
        """The conjugate transposed."""
        return LinearOperator(
            (self.shape[1], self.shape[0]),
            self.rmatvec,
            self.matvec,
            self.rmatmat,
            self._dtype,
            self.matmat,
            team=self.team,
        )

    @property
    def T(self) -> LinearOperator:
        """The transposed."""
        return LinearOperator(
            (self.shape[1], self.shape[0]),
            lambda x: conj(self.rmatvec(conj(x))),
            lambda x: conj(self.matvec(conj(x))),
            lambda x: conj(self.rmatmat(conj(x))),
            self._dtype,
            lambda x: conj(self.matmat(conj(x))),
            team=self.team,
        )

    def adjoint(self) -> LinearOperator:
        """Return the conjugate transposed."""
        return self.H

    def transpose(self) -> LinearOperator:
        """Return the transposed."""
        return self.T

    def __repr__(self) -> str:
        return f"<{self.shape[0]}x{self.shape[1]} {type(self).__name__}>"


class MatrixOperator(LinearOperator):
    """The products of a sparse tensor or a dense array."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(matrix.shape, dtype=matrix.dtype, team=matrix.team)
        self.matrix = matrix

    def _matvec(self, x: Array) -> Array:
        made: Array = self.matrix @ x
        return made

    def _rmatvec(self, x: Array) -> Array:
        # The transposed is a view; a conjugated matrix would be a copy.
        is_complex = self.dtype.kind == "c"
        made: Array = self.matrix.T @ (conj(x) if is_complex else x)
        return conj(made) if is_complex else made

    _matmat, _rmatmat = _matvec, _rmatvec


def of_function(n: int, name: str, **product: Any) -> LinearOperator:
    """Return the operator of a function that is given as an argument, which errors name."""
    made = LinearOperator((n, n), **product)
    made._name = name
    return made


@telling
def aslinearoperator(A: Any) -> LinearOperator:
    """Return an operator of a matrix: sparse, dense, NumPy's, or an operator already."""
    if isinstance(A, LinearOperator):
        return A
    if not isinstance(A, Array | Base):
        if not hasattr(A, "__array__") and not isinstance(A, list | tuple):
            raise TypeError(f"a {type(A).__name__} is no matrix of partita; {_instead(A)}")
        A = asarray(np.asarray(A))
    if A.ndim != 2:
        raise ValueError(f"an operator of {A.ndim} dimensions; use a matrix")
    return MatrixOperator(A)


def check_dense(**given: Any) -> None:
    """Refuse sparse vectors and matrices where solvers compute with dense ones, by their names."""
    for name, one in given.items():
        if isinstance(one, Base) or is_foreign(one):
            cure = "to_dense()" if isinstance(one, Base) else "toarray()"
            raise LayoutError(f"{name} is sparse; give {name}.{cure}", "sparse-operand")


def _instead(a: Any) -> str:
    """What to use in place of what is no matrix of partita."""
    if is_foreign(a):
        return "use DistTensor.from_scipy(m)"
    if hasattr(a, "matvec") and hasattr(a, "shape"):
        # It wants NumPy's vectors, which no rank has whole.
        return "use DistTensor.from_scipy of its matrix, or partita.sparse.linalg.LinearOperator"
    return "use DistTensor.from_scipy, an array or a LinearOperator"


def _of_vector(
    product: Callable[[Array], Array], x: Any, sides: tuple[int, int], name: str
) -> Array:
    """Return the product with a vector; `sides` are the lengths of the vector and of the result."""
    n, n_result = sides
    if np.shape(x) not in ((n,), (n, 1)):
        raise ValueError(f"a vector of shape {np.shape(x)}; use ({n},) or ({n}, 1)")
    vector = x if isinstance(x, Array) else asarray(x)
    made = _returned(
        product(reshape(vector, -1) if vector.ndim == 2 else vector), name, vector.team
    )
    if made.shape not in ((n_result,), (n_result, 1)):
        raise _misshaped(made, name, f"({n_result},) or ({n_result}, 1)", vector.team)
    return made if made.ndim == vector.ndim else reshape(made, (n_result, 1)[: vector.ndim])


def _of_matrix(
    product: Callable[[Array], Array], x: Any, sides: tuple[int, int], name: str
) -> Array:
    """Return the product with a matrix; `sides` are the rows of the matrix and of the result."""
    n, n_result = sides
    if np.ndim(x) != 2 or np.shape(x)[0] != n:
        raise ValueError(f"a matrix of shape {np.shape(x)}; use one of {n} rows")
    matrix = x if isinstance(x, Array) else asarray(x)
    made = _returned(product(matrix), name, matrix.team)
    wanted = (n_result, matrix.shape[1])
    if made.shape != wanted:
        raise _misshaped(made, name, str(wanted), matrix.team)
    return made


def _returned(made: Any, name: str, team: Team) -> Array:
    """Return what a user's function has returned, if it is an array.

    It may be none on this rank only: the others are told, without a meeting for each product.
    """
    if isinstance(made, Array):
        return made
    message = f"{name} returned {_described(made)}; return a partita.Array"
    message += ", such as partita.asarray makes of what every rank has whole"
    raise team.told(LayoutError(message, "operator-result"))


def _described(made: Any) -> str:
    shape = f" of shape {made.shape}" if isinstance(made, np.ndarray | Base) else ""
    return "None" if made is None else f"a {type(made).__name__}{shape}"


def _misshaped(made: Array, name: str, wanted: str, team: Team) -> LayoutError:
    message = f"{name} returned an array of shape {made.shape}; return one of shape {wanted}"
    return team.told(LayoutError(message, "operator-shape"))


def _by_columns(product: Callable[[Array], Array], x: Array, n_result: int) -> Array:
    if x.shape[1] == 0:
        return x[:0].sum(axis=0) + ones((n_result, 0), x.dtype, team=x.team)
    return stack([product(x[:, at]) for at in range(x.shape[1])], axis=1)


def _scaled(a: LinearOperator, factor: Any) -> LinearOperator:
    back = np.conj(factor)
    return LinearOperator(
        a.shape,
        lambda x: a.matvec(x) * factor,
        lambda x: a.rmatvec(x) * back,
        lambda x: a.matmat(x) * factor,
        np.result_type(a.dtype, factor),
        lambda x: a.rmatmat(x) * back,
        team=a.team,
    )


def _added(a: LinearOperator, b: LinearOperator) -> LinearOperator:
    if a.shape != b.shape:
        raise ValueError(f"operators of shapes {a.shape} and {b.shape}; use equal ones")
    return LinearOperator(
        a.shape,
        lambda x: a.matvec(x) + b.matvec(x),
        lambda x: a.rmatvec(x) + b.rmatvec(x),
        lambda x: a.matmat(x) + b.matmat(x),
        np.result_type(a.dtype, b.dtype),
        lambda x: a.rmatmat(x) + b.rmatmat(x),
        team=a.team,
    )


def _chained(a: LinearOperator, b: LinearOperator) -> LinearOperator:
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"operators of shapes {a.shape} and {b.shape} cannot be multiplied")
    return LinearOperator(
        (a.shape[0], b.shape[1]),
        lambda x: a.matvec(b.matvec(x)),
        lambda x: b.rmatvec(a.rmatvec(x)),
        lambda x: a.matmat(b.matmat(x)),
        np.result_type(a.dtype, b.dtype),
        lambda x: b.rmatmat(a.rmatmat(x)),
        team=a.team,
    )
