"""Tensors that ranks make in parallel: none of them ever has the whole.

>>> import partita as pt
>>> print(pt.sparse.laplacian((2, 2)).gather().toarray())
[[ 4. -1. -1.  0.]
 [-1.  4.  0. -1.]
 [-1.  0.  4. -1.]
 [ 0. -1. -1.  4.]]
"""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import integer, integers, real, shown
from partita._array.array import Array
from partita._array.held import default_layout
from partita._errors import LayoutError
from partita._local.randomness import fill, permutation, words
from partita._team.spmd import own_team
from partita.random.generator import Generator
from partita.random.seeds import Seeds
from partita.sparse.agreement import agreed
from partita.sparse.elements import is_number, number_words
from partita.sparse.kinds import checked_dtype
from partita.sparse.room import entries_room
from partita.sparse.teams import part_on
from partita.sparse.telling import telling
from partita.sparse.tensor import DistTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team

Local = np.ndarray[Any, Any]

# What to do instead of arguments that SciPy's functions have.
_INSTEAD = {
    "data_sampler": "use t.with_values(sampler(size=t.nnz_local)) of the tensor",
    "random_state": "use rng=",
}


def own_numbers(n: int, team: Team) -> tuple[int, int]:
    """Return the first and last of the numbers below n that this rank makes, half open."""
    size, rank = team.size, team.rank
    # As rows are cut by default, so that what is made of a row is there already.
    sizes = [(n + one) // size for one in range(size)]
    return sum(sizes[:rank]), sum(sizes[: rank + 1])


def made(
    shape: Sequence[int],
    coords: Sequence[Local],
    values: Local,
    team: Team,
    format: str,
    where: dict[str, Any],
) -> DistTensor:
    """Return the tensor of every rank's entries, where `dist=`, `grid=` or `layout=` say."""
    if unknown := sorted(set(where) - {"dist", "grid", "layout", "index_dtype"}):
        cure = _INSTEAD.get(unknown[0], "use dist=, grid=, layout=, index_dtype=")
        message = f"no argument {unknown[0]!r} here; {cure}"
        raise team.told(TypeError(message))
    return DistTensor.from_coo(shape, coords, values, team=team, format=format, **where)


@telling
def eye(
    m: int,
    n: int | None = None,
    k: int = 0,
    dtype: Any = float,
    format: str | None = None,
    *,
    team: Team | None = None,
    **where: Any,
) -> DistTensor:
    """Return a matrix with ones on a diagonal; `dist=` or `layout=` say where. Collective.

    In the order of SciPy's arguments; CSR unless another format is named.
    """
    team = own_team(team)

    def look() -> tuple[tuple[int, int, int, np.dtype[Any]], dict[str, Any], None]:
        n_rows, at, kind = integer(m, "m"), integer(k, "k"), checked_dtype(dtype)
        n_columns = n_rows if n is None else integer(n, "n")
        facts = {"the shape": (n_rows, n_columns), "k": at, "the element type": kind.name}
        return (n_rows, n_columns, at, kind), facts, None

    (n_rows, n_columns, at, kind), _ = agreed(team, "sparse.eye", look)
    with entries_room(team, (n_rows, n_columns), min(n_rows, n_columns)):
        first, end = own_numbers(n_rows, team)
        rows = np.arange(first, end)
        rows = rows[(rows + at >= 0) & (rows + at < n_columns)]
        coords = [rows, rows + at]
        values, wanted = np.ones(len(rows), kind), format or "csr"
        return made((n_rows, n_columns), coords, values, team, wanted, where)


@telling
def diags(
    diagonals: Any,
    offsets: Any = 0,
    shape: tuple[int, int] | None = None,
    format: str | None = None,
    dtype: Any = None,
    *,
    team: Team | None = None,
    **where: Any,
) -> DistTensor:
    """Return a matrix of diagonals: arrays, or numbers that are repeated. Collective.

    Arrays of partita stay where they are but for what other ranks' rows need; NumPy's are whole on
    every rank. As SciPy's `diags` and `diags_array`; CSR unless another format is named.
    """
    team = own_team(team)

    def look() -> tuple[tuple[Any, ...], dict[str, Any], None]:
        given, places, extents = _diagonals(diagonals, offsets, shape)
        kinds = [one.dtype if isinstance(one, Array) else np.asarray(one).dtype for one in given]
        kind = checked_dtype(np.result_type(*kinds) if dtype is None else dtype)
        facts: dict[str, Any] = {"the shape": extents, "offsets": places}
        facts |= {"the element type": kind.name}
        for at, one in enumerate(given):
            facts[f"diagonal {at}"] = _words_of(one)
        return (given, places, extents, kind), facts, None

    (given, places, extents, kind), _ = agreed(team, "sparse.diags", look)
    with entries_room(team, extents, min(extents) * len(given)):
        rows, columns, values = [], [], []
        for one, k in zip(given, places, strict=True):
            size = min(extents[0] + min(k, 0), extents[1] - max(k, 0))
            first, end = own_numbers(size, team)
            at = np.arange(first, end)
            if isinstance(one, Array) and one.size != 1:
                own = part_on(one, default_layout((size,), team), team)
            else:
                own = np.broadcast_to(np.asarray(one), (size,))[first:end]
            rows.append(at + max(-k, 0))
            columns.append(at + max(k, 0))
            values.append(own.astype(kind))
        coords = [np.concatenate(rows), np.concatenate(columns)]
        wanted = format or "csr"
        return made(extents, coords, np.concatenate(values), team, wanted, where)


def _diagonals(
    diagonals: Any, offsets: Any, shape: tuple[int, int] | None
) -> tuple[list[Any], list[int], tuple[int, int]]:
    """Diagonals, their offsets and the shape, if they belong together."""
    if np.ndim(offsets) == 0:
        is_one = isinstance(diagonals, Array) or not _are_several(diagonals)
        given = [diagonals] if is_one else list(diagonals)
        places = [integer(offsets, "offsets")]
    else:
        given, places = list(diagonals), list(whole_numbers(offsets, "offsets"))
    if len(given) != len(places) or not given:
        raise ValueError(f"{len(given)} diagonals for {len(places)} offsets; use as many")
    if len(set(places)) < len(places):
        raise ValueError(f"offsets {places} have one twice; use each once")
    if shape is None:
        n = int(np.size(given[0])) + abs(places[0])
        shape = (n, n)
    extents = integers(shape, "shape")
    if len(extents) != 2:
        raise LayoutError(f"shape {shape} of diagonals; use two numbers", "shape-dims")
    m, n = extents
    for at, (one, k) in enumerate(zip(given, places, strict=True)):
        size = min(m + min(k, 0), n - max(k, 0))
        if size < 0 or np.ndim(one) > 1 or np.size(one) not in (1, size):
            message = f"diagonal {at} of length {np.size(one)} at offset {k}"
            raise ValueError(f"{message} does not fit a shape of {shape}; use {max(size, 0)}")
    return given, places, (m, n)


def _are_several(diagonals: Any) -> bool:
    """Whether something lists diagonals; numbers alone are one."""
    if isinstance(diagonals, list | tuple) and any(isinstance(one, Array) for one in diagonals):
        return any(np.ndim(one) for one in diagonals)
    return np.ndim(diagonals) >= 2


def _words_of(diagonal: Any) -> str:
    """What ranks compare of a diagonal; of an array of partita each has its part only."""
    if isinstance(diagonal, Array):
        return f"an array of {diagonal.dtype} of shape {diagonal.shape}"
    values = np.ascontiguousarray(diagonal)
    if values.size == 1:
        return number_words(values.reshape(-1)[0])
    number = zlib.crc32(values.view(np.uint8).data) if values.size else 0
    return f"{len(values)} numbers of {values.dtype} ({number:08x})"


@telling
def random_array(
    shape: Sequence[int],
    *,
    density: float = 0.01,
    format: str | None = None,
    dtype: Any = None,
    rng: Any = None,
    team: Team | None = None,
    **where: Any,
) -> DistTensor:
    """Return a tensor with random elements at random places. Collective.

    It has round(density * size) entries from 0 to 1 (whole numbers of the whole range for integers,
    ones for truth values), the same for every number of ranks. `rng` is a seed; without one, rank 0
    finds one.
    """
    team = own_team(team)

    def look() -> tuple[tuple[Any, ...], dict[str, Any], None]:
        sides, share = whole_numbers(shape, "shape"), _share(density)
        kind = checked_dtype(np.float64 if dtype is None else dtype)
        seeds = known_seeds(rng, team)
        facts = {"the shape": sides, "density": share, "the element type": kind.name}
        return (sides, kind, seeds, share), facts | {"rng": seed_words(rng, seeds)}, None

    (shape, kind, seeds, share), _ = agreed(team, "sparse.random_array", look)
    size = math.prod(shape)
    n_entries = round(share * size)
    if seeds is None:
        seeds = Seeds.of(None, team)
    with entries_room(team, shape, n_entries):
        first, end = own_numbers(n_entries, team)
        chosen = np.empty(end - first, np.int64)
        # Places of a permutation differ from each other, whoever asks for them.
        order = seeds.take_permutation()
        if end > first:
            permutation(order, size, first, chosen)
        values = _values(seeds, kind, n_entries, first, end)
        coords = np.unravel_index(chosen, shape) if size else [chosen for _ in shape]
        wanted = format or ("csr" if len(shape) == 2 else "coo")
        return made(shape, coords, values, team, wanted, where)


def known_seeds(seed: Any, team: Team) -> Seeds | None:
    """Return the state for a seed; none without one, which ranks then find together."""
    if seed is None:
        return None
    return seed._seeds if isinstance(seed, Generator) else Seeds.of(seed, team)


def seed_words(seed: Any, seeds: Seeds | None) -> str:
    """Return what ranks compare of a seed: the number itself, or the state it stands for."""
    if seeds is None:
        return "none"
    number = zlib.crc32(repr(sorted(seeds.used.items())).encode())
    return str(seed) if isinstance(seed, int) else f"a state ({seeds.key:016x}, {number:08x})"


def whole_numbers(values: Any, what: str) -> tuple[int, ...]:
    """Whole numbers, from whatever lists them and leaves none out."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        message = f"{what} {shown(values.tolist())} with masked elements; give all of them"
        raise LayoutError(message, f"{what}-masked")
    return integers(values, what)


def _share(density: Any) -> float:
    """A number from 0 to 1, of an array without dimensions, too."""
    number = density.item() if is_number(density) and hasattr(density, "item") else density
    share = real(number, "density")
    if not 0 <= share <= 1:
        raise LayoutError(f"density={share}; use a number from 0 to 1", "density-outside")
    return share


def _values(seeds: Seeds, dtype: np.dtype[Any], n: int, first: int, end: int) -> Local:
    """Some of n random numbers of a type."""

    def uniform() -> Local:
        stream, begin = seeds.take("uniform", n)
        row = np.empty(end - first)
        fill(stream, begin + first, row, "uniform")
        return row

    if dtype.kind == "b":
        return np.ones(end - first, dtype)
    if dtype.kind in "iu":
        stream, begin = seeds.take("words", n)
        row = np.empty(end - first, np.uint64)
        words(stream, begin + first, row)
        return row.astype(dtype)
    if dtype.kind == "c":
        return (uniform() + 1j * uniform()).astype(dtype)
    return uniform().astype(dtype)
