"""`RandomState` and NumPy's old functions, which share one for each rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._missing import Absent
from partita._team.spmd import own_team
from partita.random.generator import Generator
from partita.random.seeds import Seeds

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._team.team import Team


class RandomState(Generator):
    """Random numbers by NumPy's old names."""

    _may_fall = True
    random_integers = Absent("random_integers", "randint, whose end is left out")
    tomaxint = Absent("tomaxint", "randint(0, 2**63 - 1, size)")

    def __init__(self, seed: Any = None, *, team: Team | None = None) -> None:
        super().__init__(Seeds.of(seed, own_team(team)), team)

    def seed(self, seed: Any = None) -> None:
        """Begin again, with a seed; without one, rank 0 finds one. Collective then."""
        self._seeds = Seeds.of(seed, self._team(None))

    def rand(self, *sizes: int, **at: Any) -> Any:
        """Return numbers from 0 to 1, in an array of these sizes."""
        return self.random(sizes or None, **at)

    def randn(self, *sizes: int, **at: Any) -> Any:
        """Return normal numbers, in an array of these sizes."""
        return self.standard_normal(sizes or None, **at)

    def randint(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, **at: Any
    ) -> Any:
        """Return whole numbers from `low` to `high`, without it, or from 0 to `low`."""
        return self.integers(low, high, size, dtype, **at)

    def random_sample(self, size: Any = None, **at: Any) -> Any:
        """Return numbers from 0 to 1, without 1."""
        return self.random(size, **at)

    def get_state(self) -> dict[str, Any]:
        """Return where the generator is, as plain data."""
        return self.state

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on where `get_state` was asked for."""
        self.state = state


def _shared() -> RandomState:
    """The state that this rank's old functions share."""
    return own_team(None).kept("random state", RandomState)


def _function(name: str) -> Callable[..., Any]:
    def function(*args: Any, **options: Any) -> Any:
        return getattr(_shared(), name)(*args, **options)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = getattr(RandomState, name).__doc__
    return function


beta = _function("beta")
binomial = _function("binomial")
bytes = _function("bytes")
chisquare = _function("chisquare")
choice = _function("choice")
dirichlet = _function("dirichlet")
exponential = _function("exponential")
f = _function("f")
gamma = _function("gamma")
geometric = _function("geometric")
get_state = _function("get_state")
gumbel = _function("gumbel")
hypergeometric = _function("hypergeometric")
laplace = _function("laplace")
logistic = _function("logistic")
lognormal = _function("lognormal")
logseries = _function("logseries")
multinomial = _function("multinomial")
multivariate_normal = _function("multivariate_normal")
negative_binomial = _function("negative_binomial")
noncentral_chisquare = _function("noncentral_chisquare")
noncentral_f = _function("noncentral_f")
normal = _function("normal")
pareto = _function("pareto")
permutation = _function("permutation")
poisson = _function("poisson")
power = _function("power")
rand = _function("rand")
randint = _function("randint")
randn = _function("randn")
random = _function("random")
random_sample = ranf = sample = _function("random_sample")
rayleigh = _function("rayleigh")
seed = _function("seed")
set_state = _function("set_state")
shuffle = _function("shuffle")
standard_cauchy = _function("standard_cauchy")
standard_exponential = _function("standard_exponential")
standard_gamma = _function("standard_gamma")
standard_normal = _function("standard_normal")
standard_t = _function("standard_t")
triangular = _function("triangular")
uniform = _function("uniform")
vonmises = _function("vonmises")
wald = _function("wald")
weibull = _function("weibull")
zipf = _function("zipf")

__all__ = [
    "RandomState",
    "beta",
    "binomial",
    "bytes",
    "chisquare",
    "choice",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "get_state",
    "gumbel",
    "hypergeometric",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "random_sample",
    "ranf",
    "rayleigh",
    "sample",
    "seed",
    "set_state",
    "shuffle",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
]
