"""Methods of sparse tensors under the names of SciPy's functions.

They take SciPy's matrices and NumPy's arrays, too, which every rank has whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita.sparse.base import Base
from partita.sparse.outside import is_foreign
from partita.sparse.telling import telling
from partita.sparse.tensor import DistTensor

if TYPE_CHECKING:
    from partita._team.team import Team


@telling
def kron(A: Any, B: Any, format: str | None = None) -> DistTensor:
    """Return the products of each element of one with all of the other, a small one. Collective."""
    team = B.team if isinstance(B, Base) else None
    return _tensor(A, team).kron(B).asformat(format)


@telling
def tril(A: Any, k: int = 0, format: str | None = None) -> DistTensor:
    """Return what lies on a diagonal and below."""
    return _tensor(A).tril(k).asformat(format)


@telling
def triu(A: Any, k: int = 0, format: str | None = None) -> DistTensor:
    """Return what lies on a diagonal and above."""
    return _tensor(A).triu(k).asformat(format)


@telling
def find(A: Any) -> tuple[Any, ...]:
    """Return coordinates and values of all elements that are not zero, as `t.find()`."""
    return _tensor(A).find()


def issparse(x: Any) -> bool:
    """Whether something is a sparse tensor: one of partita, or of another library."""
    return isinstance(x, Base) or is_foreign(x)


def _tensor(given: Any, team: Team | None = None) -> DistTensor:
    """A sparse tensor of what is given; itself if it is one. Collective."""
    if isinstance(given, DistTensor):
        return given
    if is_foreign(given):
        return DistTensor.from_scipy(given, team=team)
    return DistTensor.from_dense(given, team=team)
