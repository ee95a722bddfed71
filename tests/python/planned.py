"""Pairs of layouts with their plan, and what the oracle says about running it."""

from __future__ import annotations

from collections import Counter

import generate
import numpy as np
import oracle
from oracle import Dense, Index, Ints, Values

import partita as pt


class Planned:
    """A pair of layouts with its plan and the dense models of both."""

    def __init__(self, source: oracle.Case, target: oracle.Case, dtype: str = "int32") -> None:
        self.source, self.target = Dense(source), Dense(target)
        self.layouts = generate.build(source), generate.build(target)
        self.plan = pt.plan(*self.layouts, dtype=dtype)
        self.is_paired = self.source.n_summands == self.target.n_summands

    def summands_for(self, place: oracle.Place) -> list[int]:
        """Summands of the source that reach a place of the target."""
        if self.is_paired:
            return [place.summand]
        return list(range(self.source.n_summands)) if place.summand == 0 else []


def random_summands(rng: np.random.Generator, dense: Dense) -> list[Ints]:
    return [rng.integers(-1000, 1000, dense.case.shape) for _ in range(dense.n_summands)]


def random_values(rng: np.random.Generator, dense: Dense) -> Values:
    zeros = dense.zeros()
    return {key: rng.integers(-1000, 1000, value.shape) for key, value in zeros.items()}


def source_data(rng: np.random.Generator, dense: Dense, summands: list[Ints]) -> Values:
    """What ranks have before a plan: what they own, and rubbish in their halos."""
    values = dense.fill(summands)
    for place in dense.places:
        for number, buffer in enumerate(place.buffers):
            rubbish = rng.integers(10**6, 10**7, buffer.shape)
            content = values[place.rank, number]
            values[place.rank, number] = np.where(buffer.owned, content, rubbish)
    return values


def target_data(found: Planned, summands: list[Ints]) -> Values:
    """What ranks should have after a plan."""
    if not found.is_paired:
        zero = np.zeros(found.target.case.shape, dtype=np.int64)
        total = zero + sum(summands)
        summands = [total, *([zero] * (found.target.n_summands - 1))]
    return found.target.fill(summands)


def assert_same(found: Values, wanted: Values) -> None:
    assert found.keys() == wanted.keys()
    for key, values in wanted.items():
        np.testing.assert_array_equal(found[key], values, err_msg=f"rank, buffer {key}")


def check_serial_adjoint(found: Planned, y: Values, backward: Values) -> None:
    wanted: Counter[tuple[int, Index]] = Counter()
    for place in found.target.places:
        for number, buffer in enumerate(place.buffers):
            for position in buffer.positions():
                value = int(y[place.rank, number][position])
                for summand in found.summands_for(place):
                    wanted[summand, buffer.index(position)] += value
    got: Counter[tuple[int, Index]] = Counter()
    for place in found.source.places:
        for number, buffer in enumerate(place.buffers):
            values = backward[place.rank, number]
            assert not values[~buffer.owned].any()
            for position in buffer.positions():
                got[place.summand, buffer.index(position)] += int(values[position])
    for key in wanted.keys() | got.keys():
        assert got[key] == wanted[key], key
