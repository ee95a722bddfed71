"""`Generator` and `default_rng`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita._missing import Absent
from partita._team.spmd import own_team
from partita.random.rarer import Rarer
from partita.random.seeds import Seeds

if TYPE_CHECKING:
    from partita._team.team import Team


class Generator(Rarer):
    """Random numbers by the names of NumPy's generators; each rank makes one of the same seed.

    Methods that return arrays take `layout=` and `team=`.
    """

    bit_generator = Absent("bit_generator", "state, which can be read and set")

    def spawn(self, n_children: int) -> list[Generator]:
        """Return generators that have nothing in common with this one or with each other."""
        return [Generator(one, self._given_team) for one in self._seeds.spawn(n_children)]

    @property
    def state(self) -> dict[str, Any]:
        """Where the generator is, as plain data; set it to go on from there."""
        return self._seeds.as_data()

    @state.setter
    def state(self, data: dict[str, Any]) -> None:
        self._seeds.restore(data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with the key {self._seeds.key:#x}>"


def default_rng(seed: Any = None, *, team: Team | None = None) -> Generator:
    """Return a generator of random numbers; without a seed, rank 0 finds one. Collective then.

    >>> import partita as pt
    >>> a, b = pt.random.default_rng(3), pt.random.default_rng(3)
    >>> a.random(5).tolist() == b.random(5).tolist()
    True
    """
    if isinstance(seed, Generator):
        return seed
    return Generator(Seeds.of(seed, own_team(team)), team)
