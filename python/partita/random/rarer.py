"""Distributions that are made of others."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._functions import elementwise as e
from partita._functions.creation import an_array, sizes_of
from partita._functions.finding import searchsorted
from partita._functions.gathered import few
from partita._functions.locally import each_element
from partita._functions.manipulation import stack
from partita._functions.placing import placed
from partita._functions.searching import where
from partita._functions.statistics import all as all_of
from partita.random.continuous import as_numbers
from partita.random.drawing import checked, is_number, shape_of
from partita.random.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Callable

    Shape = tuple[int, ...]

# Values of a distribution beyond so many deviations from its mean do not occur.
_DEVIATIONS = 40
# Below this all directions of a distribution round a circle are alike.
_ROUND = 1e-8
# Above this a distribution round a circle is a normal one.
_NARROW = 1e6
_LARGEST = float(2**63 - 1024)


class Rarer(Vectors):
    """Distributions that are made of others."""

    def _of_others(self, size: Any, numbers: list[Any], make: Callable[[Shape], Any]) -> Any:
        """An array of a shape, or a number where none is asked for."""
        shape = shape_of(size, *numbers)
        made = make((1,) if shape is None else shape)
        return made[0].item() if shape is None else made

    def _accepted(self, attempt: Callable[[], tuple[Array, Array]]) -> Array:
        """Numbers drawn again where an attempt was not accepted."""
        made, is_fine = attempt()
        while not bool(all_of(is_fine)):
            again, is_fine_now = attempt()
            made, is_fine = where(is_fine, made, again), is_fine | is_fine_now
        return made

    def f(self, dfnum: Any, dfden: Any, size: Any = None, **at: Any) -> Any:
        """Return quotients of two chi-square numbers, each by its degrees of freedom."""
        dfnum, dfden = as_numbers(dfnum), as_numbers(dfden)

        def make(shape: Shape) -> Any:
            above = self.chisquare(dfnum, shape, **at) / dfnum
            return above / (self.chisquare(dfden, shape, **at) / dfden)

        return self._of_others(size, [dfnum, dfden], make)

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None, **at: Any) -> Any:
        """Return sums of squares of normal numbers around other means than 0."""
        df, nonc = as_numbers(df), as_numbers(nonc)
        checked("df", df > 0, "positive numbers")
        checked("nonc", nonc >= 0, "0 or more")

        def make(shape: Shape) -> Any:
            # As many pairs of squares more as events come.
            more = self.poisson(nonc / 2.0, shape, **at)
            return self.chisquare(more * 2.0 + df, shape, **at)

        return self._of_others(size, [df, nonc], make)

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None, **at: Any) -> Any:
        """Return quotients as `f` does, the upper ones around other means than 0."""
        dfnum, dfden, nonc = as_numbers(dfnum), as_numbers(dfden), as_numbers(nonc)

        def make(shape: Shape) -> Any:
            above = self.noncentral_chisquare(dfnum, nonc, shape, **at) / dfnum
            return above / (self.chisquare(dfden, shape, **at) / dfden)

        return self._of_others(size, [dfnum, dfden, nonc], make)

    def wald(self, mean: Any, scale: Any, size: Any = None, **at: Any) -> Any:
        """Return times at which a walk that drifts first reaches a place."""
        mean, scale = as_numbers(mean), as_numbers(scale)
        checked("mean", mean > 0, "positive numbers")
        checked("scale", scale > 0, "positive numbers")

        def make(shape: Shape) -> Any:
            # One of the two times whose distance from the mean is a square of a normal number.
            square = mean * self.standard_normal(shape, **at) ** 2
            root = e.sqrt(4.0 * scale * square + square * square)
            first = mean + mean / (2.0 * scale) * (square - root)
            is_first = self.random(shape, **at) <= mean / (mean + first)
            return where(is_first, first, mean * mean / first)

        return self._of_others(size, [mean, scale], make)

    def vonmises(self, mu: Any, kappa: Any, size: Any = None, **at: Any) -> Any:
        """Return angles around a direction, the nearer to it the larger `kappa` is."""
        mu, kappa = as_numbers(mu), as_numbers(kappa)
        checked("kappa", kappa >= 0, "0 or more")

        def make(shape: Shape) -> Any:
            one = float(kappa) if is_number(kappa) else math.nan
            if one < _ROUND:
                angle = (2.0 * self.random(shape, **at) - 1.0) * math.pi
            elif one > _NARROW:
                angle = self.standard_normal(shape, **at) / math.sqrt(one)
            else:
                angle = self._angles(e.clip(kappa, _ROUND, _NARROW), shape, at)
            if not is_number(kappa):
                narrow = self.standard_normal(shape, **at) / e.sqrt(e.maximum(kappa, 1.0))
                angle = where(an_array(kappa) > _NARROW, narrow, angle)
            turned = angle + mu
            return turned - 2.0 * math.pi * e.floor((turned + math.pi) / (2.0 * math.pi))

        return self._of_others(size, [mu, kappa], make)

    def _angles(self, kappa: Any, shape: Shape, at: dict[str, Any]) -> Array:
        """Angles on both sides, neither from all directions alike nor from one alone."""
        cosine = self._accepted(lambda: self._cosines(kappa, shape, at))
        sign = where(self.random(shape, **at) < 0.5, -1.0, 1.0)
        angle: Array = sign * e.acos(e.clip(cosine, -1.0, 1.0))
        return angle

    def _cosines(self, kappa: Any, shape: Shape, at: dict[str, Any]) -> tuple[Array, Array]:
        """Cosines of angles, and which of them are accepted (Best and Fisher)."""
        r = 1.0 + e.sqrt(1.0 + 4.0 * kappa * kappa)
        rho = (r - e.sqrt(2.0 * r)) / (2.0 * kappa)
        s = where(kappa < 1e-5, 1.0 / kappa + kappa, (1.0 + rho * rho) / (2.0 * rho))
        z = e.cos(math.pi * self.random(shape, **at))
        cosine = (1.0 + s * z) / (s + z)
        y = kappa * (s - cosine)
        v = 1.0 - self.random(shape, **at)
        return cosine, (y * (2.0 - y) - v >= 0.0) | (e.log(y / v) + 1.0 - y >= 0.0)

    def negative_binomial(self, n: Any, p: Any, size: Any = None, **at: Any) -> Any:
        """Return how many trials fail before `n` succeed, each with the chance `p`."""
        n, p = as_numbers(n), as_numbers(p)
        checked("n", n > 0, "positive numbers")
        checked("p", (p > 0) & (p <= 1), "numbers above 0, up to 1")

        def make(shape: Shape) -> Any:
            return self.poisson(self.standard_gamma(n, shape, **at) * ((1.0 - p) / p), shape, **at)

        return self._of_others(size, [n, p], make)

    def logseries(self, p: Any, size: Any = None, **at: Any) -> Any:
        """Return whole numbers k from 1 on whose chance goes as `p**k / k`."""
        p = as_numbers(p)
        checked("p", (p > 0) & (p < 1), "numbers between 0 and 1")

        def make(shape: Shape) -> Any:
            # Kemp's way: two uniform numbers make one.
            v = 1.0 - self.random(shape, **at)
            q = -e.expm1(e.log1p(0.0 - an_array(p)) * (1.0 - self.random(shape, **at)))
            small = e.floor(1.0 + e.log(v) / e.log(q))
            made = where(v <= q * q, small, where(v >= q, 1.0, 2.0))
            return where(v >= p, 1.0, e.maximum(made, 1.0)).astype(np.int64)

        return self._of_others(size, [p], make)

    def zipf(self, a: Any, size: Any = None, **at: Any) -> Any:
        """Return whole numbers k from 1 on whose chance goes as `k**-a`."""
        a = as_numbers(a)
        checked("a", a > 1, "numbers above 1")
        less = a - 1.0

        def make(shape: Shape) -> Any:
            def attempt() -> tuple[Array, Array]:
                # Devroye's way: a power of a uniform number, accepted where it fits.
                u, v = 1.0 - self.random(shape, **at), self.random(shape, **at)
                x = e.floor(e.pow(u, -1.0 / less))
                t = e.pow(1.0 + 1.0 / x, less)
                base = e.pow(2.0, an_array(less))
                return x, (x <= _LARGEST) & (v * x * (t - 1.0) / (base - 1.0) <= t / base)

            return self._accepted(attempt).astype(np.int64)

        return self._of_others(size, [a], make)

    def hypergeometric(
        self, ngood: Any, nbad: Any, nsample: Any, size: Any = None, **at: Any
    ) -> Any:
        """Return how many of a sample are good; the parameters are one number each."""
        good, bad, sample = (
            int(_one(name, given))
            for name, given in (("ngood", ngood), ("nbad", nbad), ("nsample", nsample))
        )
        checked("ngood, nbad and nsample", min(good, bad, sample) >= 0, "0 or more")
        checked("nsample", sample <= good + bad, "at most ngood + nbad")
        first, shares = _shares(good, bad, sample)
        return self._of_others(
            size, [], lambda shape: searchsorted(shares, self.random(shape, **at), "right") + first
        )

    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: str = "marginals", **at: Any
    ) -> Array:
        """Return how many of each color a sample has, in the last dimension."""
        known = few(colors, "multivariate_hypergeometric") if isinstance(colors, Array) else colors
        counts, n = np.asarray(known), int(_one("nsample", nsample))
        if counts.ndim != 1 or not counts.size or counts.dtype.kind not in "iu":
            raise ValueError(f"colors of shape {counts.shape}; use a row of whole numbers")
        if method not in ("marginals", "count"):
            raise ValueError(f"method {method!r}; use 'marginals' or 'count', which are one here")
        checked("colors", counts >= 0, "0 or more")
        checked("nsample", 0 <= n <= counts.sum(), "at most as many as there are")
        sizes = () if size is None else sizes_of(size)
        layout = at.pop("layout", None)
        found: list[Array] = []
        left: Any = n
        behind = int(counts.sum())
        for good in counts[:-1].tolist():
            behind -= good
            # Of those that are still to be taken, so many have this color.
            work = partial(_good_ones, good, behind)
            found.append(each_element(work, self.random(sizes, **at), left))
            left = left - found[-1]
        last = left if found else an_array(np.full(sizes, n))
        return placed(stack([*found, last], axis=-1), layout)

    def multinomial(self, n: Any, pvals: Any, size: Any = None, **at: Any) -> Array:
        """Return how often each of several things happens in `n` trials, in the last dimension."""
        known = few(pvals, "multinomial") if isinstance(pvals, Array) else pvals
        chances = np.asarray(known, np.float64)
        if chances.ndim == 0 or not chances.size:
            raise ValueError(f"pvals of shape {chances.shape}; use rows of chances")
        checked("pvals", (chances >= 0) & (chances <= 1), "numbers from 0 to 1")
        sums = chances[..., :-1].sum(axis=-1)
        checked("the sum of pvals[:-1]", sums <= 1 + 1e-12, "chances up to 1")
        n = as_numbers(n)
        sizes = sizes_of(size) if size is not None else (shape_of(None, n, sums) or ())
        layout = at.pop("layout", None)
        left: Any = n
        found, rest = [], np.ones(sums.shape)
        for chance in np.moveaxis(chances, -1, 0)[:-1]:
            share = np.minimum(np.divide(chance, rest, out=np.zeros(rest.shape), where=rest > 0), 1)
            # One row of chances has one share for all.
            given = share if share.ndim else share.item()
            found.append(self.binomial(left, given, sizes, **at))
            left, rest = left - found[-1], rest - chance
        last = left if found else an_array(np.broadcast_to(np.asarray(n), sizes))
        return placed(stack([*found, last], axis=-1), layout)


def _good_ones(good: int, bad: int, numbers: Any, samples: Any) -> Any:
    """How many of each sample are good, where numbers from 0 to 1 say it."""
    made = np.empty(numbers.shape, np.int64)
    wide = np.broadcast_to(np.asarray(samples), numbers.shape)
    for sample in np.unique(wide).tolist():
        here = wide == sample
        first, shares = _shares(good, bad, sample)
        made[here] = np.searchsorted(shares, numbers[here], "right") + first
    return made


def _one(name: str, given: Any) -> float:
    """A parameter that is one number for all elements."""
    if isinstance(given, Array | np.ndarray) and given.ndim == 0:
        given = given.item()
    if not is_number(given):
        raise ValueError(f"{name} with several numbers; draw an array for each of them")
    return float(given)


def _shares(good: int, bad: int, sample: int) -> tuple[int, Any]:
    """The smallest number of good ones in a sample, and the chances of so many or fewer."""
    all_of_them = good + bad
    least, most = max(0, sample - bad), min(good, sample)
    mean = sample * good / max(all_of_them, 1)
    wide = _DEVIATIONS * (1.0 + math.sqrt(mean * bad / max(all_of_them, 1)))
    first, last = max(least, math.floor(mean - wide)), min(most, math.ceil(mean + wide))
    k = np.arange(first, last, dtype=np.float64)
    ratios = (good - k) * (sample - k) / ((k + 1.0) * (bad - sample + k + 1.0))
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    chances = np.exp(logs - logs.max())
    shares = np.cumsum(chances / chances.sum())
    # A number below 1 always finds a place.
    return first, shares[:-1]
