"""Times taken in turns, so that a busy moment of the machine hits every method alike."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Times:
    """Seconds of the repetitions of one method, in the order of the rounds."""

    seconds: list[float]

    @property
    def median(self) -> float:
        """The middle repetition."""
        return median(self.seconds)

    @property
    def fastest(self) -> float:
        """The repetition that was disturbed least."""
        return min(self.seconds)

    def over(self, other: "Times") -> float:
        """How many times as long as the other: the middle of the rounds' ratios."""
        return median(a / b for a, b in zip(self.seconds, other.seconds, strict=True))

    def scaled(self, factor: float) -> "Times":
        """The times of so much more work."""
        return Times([factor * seconds for seconds in self.seconds])


def in_turns(
    methods: Mapping[str, Callable[[], object]],
    n_rounds: int,
    before: Callable[[], object] = lambda: None,
) -> dict[str, Times]:
    """Time each method once per round, after one round that does not count.

    What comes before each call is not counted either: ranks meet there, so that none waits for
    another's last method.
    """
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for number in range(n_rounds + 1):
        for name, method in methods.items():
            before()
            start = time.perf_counter()
            method()
            if number > 0:
                seconds[name].append(time.perf_counter() - start)
    return {name: Times(taken) for name, taken in seconds.items()}
