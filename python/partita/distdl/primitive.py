"""The base of the primitives: agree on the arrays, find the plan, move."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from partita._errors import LayoutError
from partita._team.team import Team
from partita.distdl.agree import Agreement, Structure, Terms, read, structure
from partita.distdl.movement import Movement

Local = np.ndarray[Any, Any]

# Movements that a primitive keeps, one per set of local arrays it has met.
_MOST = 32


class Primitive:
    """A linear movement between workers, for arrays of any shape and type.

    `team` is None on a worker that takes no part; such a worker gets a copy of its array back and
    never communicates. The workers of `team` move data. Those of `agreement`, which may be more,
    begin every call together and compare its arguments.
    """

    def __init__(self, team: Team | None, agreement: Agreement | None = None) -> None:
        self.team = team
        if agreement is None and team is not None:
            agreement = Agreement(team, Terms(type(self).__name__, ""))
        self.agreement = agreement
        self._movements: dict[tuple[str, ...], Movement] = {}
        self._last: Movement | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The same movement by the same workers, with nothing remembered of earlier calls."""
        made = copy.copy(self)
        made._forget()
        return made

    def _forget(self) -> None:
        self._movements, self._last = {}, None

    def _movement(self, structures: Sequence[Structure]) -> Movement:
        """The movement for everyone's arrays; every worker comes to the same verdict."""
        raise NotImplementedError

    def bind(self, own: Structure, terms: Terms | None = None) -> Movement | None:
        """Return the movement for arrays like this worker's own. Collective.

        A layer that moves data with this primitive passes its own terms to compare.
        """
        if self.agreement is None:
            return None
        words = self.agreement.exchange(own, terms)
        found = self._movements.get(words)
        if found is None:
            found = self._movement([read(word) for word in words])
            if len(self._movements) >= _MOST:
                self._movements.pop(next(iter(self._movements)))
            self._movements[words] = found
        return found

    def bound(self, local: Local) -> Movement:
        """Return the movement for arrays like this one. Collective."""
        assert self.agreement is not None
        # A worker that stumbles over its own array tells the others.
        with self.agreement.team:
            own = structure(local)
        found = self.bind(own)
        assert found is not None
        return found

    def forward(self, local: Local, out: Local | None = None) -> Local:
        """Return this worker's result. Collective."""
        if self.team is None:
            structure(local)
            return local.copy()
        self._last = self.bound(local)
        return self._last.forward(local, out)

    __call__ = forward

    def adjoint(self, cotangent: Local, out: Local | None = None) -> Local:
        """Apply the adjoint of the latest `forward` to a cotangent of its result. Collective."""
        if self.team is None:
            structure(cotangent)
            return cotangent.copy()
        if self._last is None:
            message = "the adjoint before any forward; call forward first: it fixes the shapes"
            # All that begin a forward together hear of it, not only those that data moves among.
            team = self.team if self.agreement is None else self.agreement.team
            raise team.told(LayoutError(message, "adjoint-first"))
        return self._last.adjoint(cotangent, out)
