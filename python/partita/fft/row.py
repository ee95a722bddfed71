"""One long row that is cut among the ranks.

A row of n1 * n2 numbers is a table of n1 rows: transform its columns, turn every number by an angle
that depends on where it is, transform the rows, and read the table by columns. The table moves
three times: to columns, to rows, and to the order of the result.

Rows whose length has no two factors that are large enough become a convolution of rows that have
(Bluestein's way), at six times the cost; short ones are gathered instead, and counted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from partita._array import enter
from partita._array.array import Array
from partita._array.boxes import box_of, is_one_box_each
from partita._array.held import default_layout
from partita._functions.creation import zeros
from partita._functions.elementwise import conj, cos, minimum, real, sin
from partita._functions.gathered import whole
from partita._functions.manipulation import concat, flip
from partita._functions.searching import where
from partita._local import fourier
from partita._partita import Block, Layout, lazy_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partita._team.team import Team

# Rows up to here are gathered, where they cannot be cut.
_SHORT = 4096

Box = tuple[tuple[int, int], tuple[int, int]]


def of_complex(line: Array, n: int, *, is_inverse: bool = False) -> Array:
    """The transform of the first n numbers, zeros if there are fewer."""
    kind = np.result_type(line.dtype, np.complex64)
    line = _padded(line if line.dtype == kind else line._cast(kind), n)
    n_rows = _rows(n)
    if n_rows < line.team.size:
        return (_on_every_rank if n <= _SHORT else _convolved)(line, is_inverse)
    table = _as_table(line, n_rows).redistribute("*, block(last)")
    table = _lines(table, 0, is_inverse) * _angles(table, -1.0 if not is_inverse else 1.0)
    table = _lines(table.redistribute("block(last), *"), 1, is_inverse)
    return _by_columns(table.redistribute("*, block(last)"))


def from_real(line: Array, n: int, *, is_inverse: bool = False) -> Array:
    """The first half of the transform of real numbers; computed as if they were complex."""
    return of_complex(line, n, is_inverse=is_inverse)[: n // 2 + 1]


def to_real(line: Array, n: int, *, is_inverse: bool = True) -> Array:
    """The real numbers whose transform begins with these; computed as if they were complex."""
    half = _padded(line, n // 2 + 1)
    both = concat([half, conj(flip(half[1 : (n + 1) // 2]))])
    made: Array = real(of_complex(both, n, is_inverse=is_inverse)).copy()
    return made


def _padded(line: Array, n: int) -> Array:
    if line.size >= n:
        return line[:n]
    return concat([line, zeros(n - line.size, line.dtype, team=line.team)])


def _rows(n: int) -> int:
    """The largest factor that is at most the root."""
    return next(rows for rows in range(math.isqrt(n), 0, -1) if n % rows == 0)


def _on_every_rank(line: Array, is_inverse: bool) -> Array:
    made = fourier.fft(whole(line, "fft"), 0, inverse=is_inverse)
    layout = default_layout(made.shape, line.team)
    (start,), (size,) = box_of(layout, line.team.rank)
    return Array([made[start : start + size].copy()], layout, line.team, made.dtype)


def _convolved(line: Array, is_inverse: bool) -> Array:
    """The transform as a convolution with numbers on a circle, whose length is a power of two."""
    n, rank = line.size, enter.own_rank(line.team)
    wide = 1 << (2 * n - 2).bit_length()
    sign = 1.0 if is_inverse else -1.0
    turned = _on_circle(lazy_index(rank, (n,), 0), n, sign)
    place = lazy_index(rank, (wide,), 0)
    from_end = minimum(place, wide - place)
    around = where(from_end < n, _on_circle(from_end, n, -sign), 0.0)
    product = of_complex(line * turned, wide) * of_complex(around, wide)
    made: Array = of_complex(product, wide, is_inverse=True)[:n] * (turned * (1 / wide))
    return made if made.dtype == line.dtype else made._cast(line.dtype)


def _on_circle(place: Array, n: int, sign: float) -> Array:
    """Half steps of a circle of n, as many as the place's square."""
    angle = (place * place % (2 * n))._cast(np.float64) * (sign * math.pi / n)
    made: Array = cos(angle) + 1j * sin(angle)
    return made


def _as_table(line: Array, n_rows: int) -> Array:
    """A row as a table, where it lies: a rank's stretch is a box of rows and what juts out."""
    n_columns = line.size // n_rows
    team = line.team
    if not is_one_box_each(line.layout, team.size) or _is_repeated(line.layout, team):
        line = line.redistribute(default_layout(line.shape, team))
    boxes = []
    for rank in range(team.size):
        (start,), (size,) = box_of(line.layout, rank)
        boxes.append(list(_boxes(start, start + size, n_columns)))
    (first,), _ = box_of(line.layout, team.rank)
    buffers = []
    for (at, column), shape in boxes[team.rank]:
        from_here = at * n_columns + column - first
        buffers.append(line.local[from_here : from_here + math.prod(shape)].reshape(shape))
    layout = Layout.from_boxes((n_rows, n_columns), boxes)
    return Array(buffers, layout, team, line.dtype)


def _is_repeated(layout: Layout, team: Team) -> bool:
    return sum(layout.n_held(rank) for rank in range(team.size)) > math.prod(layout.shape)


def _boxes(start: int, stop: int, width: int) -> Iterator[Box]:
    """A stretch of a row as boxes of a table: the end of a line, lines, the begin of one."""
    while start < stop:
        line, column = divmod(start, width)
        n_lines = 1 if column else max((stop - start) // width, 1)
        length = (
            width if column == 0 and stop - start >= width else min(width - column, stop - start)
        )
        yield (line, column), (n_lines, length)
        start += n_lines * length


def _lines(table: Array, axis: int, is_inverse: bool) -> Array:
    """Transform the lines of a table that was moved here, in its own memory."""
    part = table.local
    made = fourier.fft(part, axis, inverse=is_inverse, out=part) if part.size else part
    return Array([made], table.layout, table.team, table.dtype)


def _angles(table: Array, sign: float) -> Array:
    """The numbers by which a table's are turned: of row i and column j, i * j steps of a circle."""
    rank = enter.own_rank(table.team)
    n = math.prod(table.shape)
    steps = lazy_index(rank, table.shape, 0) * lazy_index(rank, table.shape, 1)
    # Row times column is less than n.
    angle = steps._cast(np.float64) * (sign * 2 * math.pi / n)
    turned: Array = cos(angle) + 1j * sin(angle)
    return turned if turned.dtype == table.dtype else turned._cast(table.dtype)


def _by_columns(table: Array) -> Array:
    """The numbers of a table of which ranks have columns, one column behind the other."""
    n_rows, n_columns = table.shape
    sizes = [n_rows * box_of(table.layout, rank)[1][1] for rank in range(table.team.size)]
    layout = Layout((n_rows * n_columns,), [Block(sizes=sizes)], grid=(table.team.size,))
    own = np.ascontiguousarray(table.local.T).reshape(-1)
    return Array([own], layout, table.team, table.dtype)
