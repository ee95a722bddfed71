"""Distributions of real numbers, by NumPy's names.

Numbers and arrays are parameters alike; `layout=` and `team=` say where an array goes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from partita._local import randomness
from partita.random.drawing import Drawing, Local, checked, holds, in_type, is_number, shape_of


def _scaled(made: Any, loc: Any, scale: Any) -> Any:
    """What is wide as `scale` around `loc`; the same where that changes nothing."""
    if not (is_number(scale) and scale == 1):
        made = made * scale
    return made if is_number(loc) and loc == 0 else made + loc


def _plain(made: Any) -> Any:
    """One number as a number of Python."""
    return float(made) if np.ndim(made) == 0 and isinstance(made, np.generic) else made


class Continuous(Drawing):
    """Distributions of real numbers."""

    # Whether `uniform` takes its higher number first.
    _may_fall = False

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None, **at: Any) -> Any:
        """Return numbers from 0 to 1, without 1."""
        shape = shape_of(size, out=out)
        if np.dtype(dtype) != np.float32:
            return in_type(self._standard("uniform", shape, at), dtype, out)
        stream, first = self._seeds.take("single", 1 if shape is None else math.prod(shape))

        def fill(position: int, row: Local) -> None:
            randomness.fill_single(stream, first + position, row)

        return in_type(self._filled(shape, np.float32, fill, at, "uniform"), dtype, out)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None, **at: Any) -> Any:
        """Return numbers from `low` to `high`, without `high`."""
        low, high = as_numbers(low), as_numbers(high)
        width = high - low
        if not holds(np.isfinite(width) & (self._may_fall | (width >= 0))):
            if holds(np.isfinite(width)):
                raise ValueError("high is below low; give the lower one first")
            raise OverflowError("high - low is out of range; use finite numbers")
        shape = shape_of(size, low, high)
        made = self._standard("uniform", shape, at)
        return _plain(_scaled(made, low, width))

    def standard_normal(
        self, size: Any = None, dtype: Any = np.float64, out: Any = None, **at: Any
    ) -> Any:
        """Return numbers of the normal distribution around 0 with deviation 1."""
        return in_type(self._standard("normal", shape_of(size, out=out), at), dtype, out)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, **at: Any) -> Any:
        """Return numbers of the normal distribution."""
        return self._spread("normal", loc, scale, size, at)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None, **at: Any) -> Any:
        """Return numbers whose logarithms have a normal distribution."""
        checked("sigma", as_numbers(sigma) >= 0, "0 or more")
        return _plain(np.exp(self.normal(mean, sigma, size, **at)))

    def standard_exponential(
        self,
        size: Any = None,
        dtype: Any = np.float64,
        method: str = "zig",
        out: Any = None,
        **at: Any,
    ) -> Any:
        """Return numbers of the exponential distribution with mean 1, however `method` is."""
        return in_type(self._standard("exponential", shape_of(size, out=out), at), dtype, out)

    def exponential(self, scale: Any = 1.0, size: Any = None, **at: Any) -> Any:
        """Return numbers of the exponential distribution with mean `scale`."""
        return self._spread("exponential", 0.0, scale, size, at)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, **at: Any) -> Any:
        """Return numbers of the Laplace distribution."""
        return self._spread("laplace", loc, scale, size, at)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, **at: Any) -> Any:
        """Return numbers of the logistic distribution."""
        return self._spread("logistic", loc, scale, size, at)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, **at: Any) -> Any:
        """Return numbers of the Gumbel distribution."""
        return self._spread("gumbel", loc, scale, size, at)

    def _spread(self, kind: str, loc: Any, scale: Any, size: Any, at: dict[str, Any]) -> Any:
        checked("scale", as_numbers(scale) >= 0, "0 or more")
        shape = shape_of(size, loc, scale)
        return _plain(_scaled(self._standard(kind, shape, at), loc, scale))

    def standard_cauchy(self, size: Any = None, **at: Any) -> Any:
        """Return numbers of the Cauchy distribution."""
        return _plain(self._standard("cauchy", shape_of(size), at))

    def rayleigh(self, scale: Any = 1.0, size: Any = None, **at: Any) -> Any:
        """Return numbers of the Rayleigh distribution."""
        made = self._spread("exponential", 0.0, 1.0, _size(size, scale), at)
        checked("scale", as_numbers(scale) >= 0, "0 or more")
        return _plain(_scaled(np.sqrt(made * 2.0), 0.0, scale))

    def weibull(self, a: Any, size: Any = None, **at: Any) -> Any:
        """Return numbers of the Weibull distribution."""
        checked("a", as_numbers(a) > 0, "positive numbers")
        return _plain(
            self._spread("exponential", 0.0, 1.0, _size(size, a), at) ** (1.0 / as_numbers(a))
        )

    def pareto(self, a: Any, size: Any = None, **at: Any) -> Any:
        """Return numbers of the Pareto II or Lomax distribution."""
        checked("a", as_numbers(a) > 0, "positive numbers")
        made = self._spread("exponential", 0.0, 1.0, _size(size, a), at)
        return _plain(np.expm1(made / as_numbers(a)))

    def power(self, a: Any, size: Any = None, **at: Any) -> Any:
        """Return numbers from 0 to 1 whose density is a power, `a - 1`."""
        checked("a", as_numbers(a) > 0, "positive numbers")
        made = self._spread("exponential", 0.0, 1.0, _size(size, a), at)
        return _plain((-np.expm1(-made)) ** (1.0 / as_numbers(a)))

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None, **at: Any) -> Any:
        """Return numbers from `left` to `right` whose density rises to `mode` and falls."""
        left, mode, right = as_numbers(left), as_numbers(mode), as_numbers(right)
        checked("mode", (left <= mode) & (mode <= right) & (left < right), "left to right")
        u = self._standard("uniform", shape_of(size, left, mode, right), at)
        width = right - left
        rising = left + np.sqrt(u * width * (mode - left))
        falling = right - np.sqrt((1.0 - u) * width * (right - mode))
        made = np.where(u < (mode - left) / width, rising, falling)
        return float(made) if shape_of(size, left, mode, right) is None else made

    def standard_gamma(
        self, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None, **at: Any
    ) -> Any:
        """Return numbers of the gamma distribution with scale 1."""
        checked("shape", as_numbers(shape) > 0, "positive numbers")
        return in_type(self._shaped("gamma", size, [shape], at, out), dtype, out)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None, **at: Any) -> Any:
        """Return numbers of the gamma distribution."""
        checked("scale", as_numbers(scale) >= 0, "0 or more")
        made = self.standard_gamma(shape, _size(size, shape, scale), **at)
        return _plain(_scaled(made, 0.0, scale))

    def chisquare(self, df: Any, size: Any = None, **at: Any) -> Any:
        """Return numbers of the chi-square distribution."""
        checked("df", as_numbers(df) > 0, "positive numbers")
        return _plain(self.standard_gamma(as_numbers(df) / 2.0, size, **at) * 2.0)

    def beta(self, a: Any, b: Any, size: Any = None, **at: Any) -> Any:
        """Return numbers of the beta distribution."""
        checked("a", as_numbers(a) > 0, "positive numbers")
        checked("b", as_numbers(b) > 0, "positive numbers")
        return _plain(self._shaped("beta", size, [a, b], at))

    def standard_t(self, df: Any, size: Any = None, **at: Any) -> Any:
        """Return numbers of Student's distribution."""
        checked("df", as_numbers(df) > 0, "positive numbers")
        return _plain(self._shaped("standard_t", size, [df], at))

    def _shaped(
        self, kind: str, size: Any, numbers: list[Any], at: dict[str, Any], out: Any = None
    ) -> Any:
        """Numbers of a distribution that is no other one stretched."""
        shape = shape_of(size, *numbers, out=out)
        if all(is_number(one) for one in numbers):
            return self._standard(kind, shape, at, *map(float, numbers))
        assert shape is not None
        floats = [(as_numbers(one), np.float64) for one in numbers]
        return self._by_element(kind, shape, floats, at, randomness.fill_each)


def as_numbers(given: Any) -> Any:
    """A parameter that can be computed with: lists as arrays."""
    return np.asarray(given) if isinstance(given, list | tuple) else given


def _size(size: Any, *parameters: Any) -> Any:
    """The shape that is asked for, or that of the parameters."""
    return shape_of(size, *parameters)
