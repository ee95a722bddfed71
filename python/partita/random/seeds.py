"""Where random numbers begin, and who has used up which.

A seed becomes a key; every kind of number has a stream of its own under that key, so that no two
kinds are made of the same bits, and a position in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import LayoutError

if TYPE_CHECKING:
    from partita._local.randomness import Stream
    from partita._team.team import Team

# The numbers of streams; what has one keeps it, or else seeds give other numbers.
_STREAMS = (
    "uniform",
    "single",
    "normal",
    "exponential",
    "laplace",
    "logistic",
    "gumbel",
    "cauchy",
    "gamma",
    "beta",
    "standard_t",
    "integers",
    "poisson",
    "binomial",
    "words",
    "permutation",
)
# Each permutation has a stream of its own, behind those of the others.
_PERMUTATIONS = 1 << 32
# What ranks are told that do something else meanwhile.
_CALL = "random numbers without a seed"


class Seeds:
    """The state of a generator: a key and how many numbers of each stream are used up."""

    def __init__(self, sequence: np.random.SeedSequence) -> None:
        self.sequence = sequence
        self.key = int(sequence.generate_state(1, np.uint64)[0])
        self.used = dict.fromkeys(_STREAMS, 0)

    @classmethod
    def of(cls, seed: Any, team: Team) -> Seeds:
        """The state for a seed; without one, rank 0 finds one for all. Collective in that case."""
        if isinstance(seed, Seeds):
            return seed
        if isinstance(seed, np.random.BitGenerator):
            # Its seed makes numbers of partita's own, the same on any number of ranks.
            return cls(seed.seed_seq)  # type: ignore[arg-type]
        if isinstance(seed, np.random.SeedSequence):
            return cls(seed)
        if seed is None:
            seed = team.broadcast_alike(_CALL, np.random.SeedSequence().entropy)
        try:
            return cls(np.random.SeedSequence(_plain(seed)))
        except TypeError:
            message = f"a {type(seed).__name__} as a seed; use an integer, or a generator of"
            raise TypeError(f"{message} partita.random") from None

    def take(self, kind: str, count: int) -> tuple[Stream, int]:
        """A stream and the position of the first of so many numbers that are used up now."""
        first = self.used[kind]
        self.used[kind] += count
        return (self.key, _STREAMS.index(kind)), first

    def take_permutation(self) -> Stream:
        """A stream for one permutation."""
        _, number = self.take("permutation", 1)
        return self.key, _PERMUTATIONS + number

    def spawn(self, count: int) -> list[Seeds]:
        """States that have nothing in common with this one or with each other."""
        return [Seeds(one) for one in self.sequence.spawn(count)]

    def as_data(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {"key": self.key, "used": dict(self.used)}

    def restore(self, data: dict[str, Any]) -> None:
        """Go on where `as_data` was asked for."""
        self.key, self.used = data["key"], dict(data["used"])


def _plain(seed: Any) -> Any:
    """An array of NumPy without a class of its own: rows of its matrices are matrices for ever."""
    if not isinstance(seed, np.ndarray):
        return seed
    if seed.dtype.kind not in "iu" or np.ma.is_masked(seed):
        message = f"a seed that is an array of {seed.dtype}; use integers, none of them masked"
        raise LayoutError(message, "seed-not-integer")
    return np.asarray(seed) if seed.ndim else int(seed)
