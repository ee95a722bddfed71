"""Random array programs, run by NumPy and by partita: views, aliasing, writes, dropped values.

On several ranks all make the same program from a seed; a layout says where new arrays are.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import partita as pt

LAYOUTS = ["whole", "rows", "columns", "halo", "cyclic", "grid", "mixed"]
DTYPES = ["float64", "int64", "float32", "int32", "bool", "uint8", "complex128", "int16"]


class Both:
    """The same value as NumPy and partita have it."""

    def __init__(self, plain: Any, lazy: Any) -> None:
        self.plain, self.lazy = plain, lazy


class Program:
    """A random program, one step after another."""

    def __init__(self, seed: int, layout: str = "whole") -> None:
        self.random = random.Random(seed)
        self.layout = layout
        self.log: list[str] = [f"seed {seed}, {layout}"]
        self.values: list[Both] = []
        for _ in range(self.random.randint(1, 3)):
            self.create()

    def create(self) -> None:
        shape = tuple(
            self.random.choice([1, 2, 3, 5, 0, 7]) for _ in range(self.random.randint(0, 3))
        )
        dtype = self.random.choice(DTYPES)
        numbers = np.random.default_rng(self.random.randint(0, 999)).integers(0, 5, shape)
        plain = np.array(numbers.astype(dtype))
        self.log.append(f"create {shape} {dtype}")
        self.values.append(Both(plain, self.placed(plain)))

    def placed(self, plain: Any) -> Any:
        """The array where the layout says, in memory of its own or of NumPy."""
        how, ndim = self.layout, plain.ndim
        if how == "mixed":
            how = self.random.choice(LAYOUTS[:-1])
        if how == "whole" or ndim == 0:
            return pt.asarray(plain.copy())
        if how == "rows":
            made = pt.empty(plain.shape, plain.dtype)
            made[...] = plain
            return made
        size = pt.world().size
        maps = ["*"] * ndim
        if how == "columns":
            maps[-1] = "block"
        elif how == "halo":
            maps[0] = "block+halo(1,2)"
        elif how == "cyclic":
            maps[0] = "cyclic(2)"
        else:
            maps[0] = "block(last)"
        notation = f"{', '.join(maps)} @ {size}"
        if how == "grid" and ndim > 1 and size % 2 == 0:
            maps[1] = "block"
            notation = f"{', '.join(maps)} @ 2x{size // 2}"
        return pt.asarray(plain.copy(), layout=pt.Layout(plain.shape, notation))

    def run(self) -> None:
        """All steps, then every value is compared."""
        for _ in range(self.random.randint(3, 30)):
            self.step()
        self.finish()

    def run_measured(self) -> None:
        """All steps; what is computed now and then takes no more memory than was foretold."""
        rank = pt.world().arrays
        for _ in range(self.random.randint(3, 30)):
            self.step()
            if self.random.random() < 0.3:
                foretold = rank.outline()[4]
                rank.take_memory_peak()
                rank.sync()
                assert rank.take_memory_peak() <= foretold, "\n".join(self.log)

    def one(self) -> Both:
        return self.random.choice(self.values)

    def key(self, shape: tuple[int, ...]) -> Any:
        """A basic index."""
        key: list[Any] = []
        for size in shape:
            kind = self.random.random()
            if kind < 0.15 and size:
                key.append(self.random.randint(-size, size - 1))
            elif kind < 0.25:
                key.append(None)
                key.append(slice(None))
            else:
                bound = [None, *range(-size - 1, size + 2)]
                step = self.random.choice([None, 1, 1, 2, -1, -2])
                key.append(slice(self.random.choice(bound), self.random.choice(bound), step))
        if self.random.random() < 0.2:
            cut = self.random.randint(0, len(key))
            key = [*key[:cut], ...]
        return tuple(key)

    def step(self) -> None:
        kinds = [self.view, self.view, self.compute, self.compute, self.compute, self.write]
        kinds += [
            self.write,
            self.in_place,
            self.drop,
            self.read,
            self.reduce,
            self.shape,
            self.create,
        ]
        kinds += [self.mask, self.positions, self.reshape, self.look, self.look]
        self.random.choice(kinds)()

    def view(self) -> None:
        value = self.one()
        key = self.key(value.plain.shape)
        self.log.append(f"view {key}")
        self.add(value.plain[key], value.lazy[key])

    def add(self, plain: Any, lazy: Any) -> None:
        made = Both(np.asarray(plain), lazy)
        assert made.plain.shape == lazy.shape, self.log
        assert made.plain.dtype == lazy.dtype, (made.plain.dtype, lazy.dtype, self.log)
        if len(self.values) < 12:
            self.values.append(made)
        else:
            self.values[self.random.randrange(12)] = made

    def fitting(self, shape: tuple[int, ...]) -> Both | None:
        found = [one for one in self.values if _together(shape, one.plain.shape) is not None]
        return self.random.choice(found) if found else None

    def compute(self) -> None:
        a = self.one()
        name = self.random.choice(["add", "subtract", "multiply", "maximum", "less", "equal"])
        if self.random.random() < 0.3:
            number = self.random.choice([2, 3, 0.5, True, 1.5])
            operands = [Both(number, number), a]
            self.random.shuffle(operands)
        else:
            b = self.fitting(a.plain.shape)
            if b is None:
                return
            operands = [a, b]
        dtypes = [np.result_type(one.plain).kind for one in operands]
        if (name == "subtract" and set(dtypes) == {"b"}) or (
            name in ("maximum", "less") and "c" in dtypes
        ):
            return
        self.log.append(f"{name} {[np.shape(one.plain) for one in operands]}")
        with np.errstate(all="ignore"):
            plain = getattr(np, name)(*(one.plain for one in operands))
        self.add(plain, getattr(pt, name)(*(one.lazy for one in operands)))

    def write(self) -> None:
        target = self.one()
        key = self.key(target.plain.shape)
        part = target.plain[key]
        if not isinstance(part, np.ndarray) or not part.flags.writeable:
            return
        if self.random.random() < 0.4:
            number = self.random.choice([0, 1, 2])
            self.log.append(f"write {key} number")
            target.plain[key], target.lazy[key] = number, number
            return
        source = self.one()
        if _together(part.shape, source.plain.shape) != part.shape:
            return
        if source.plain.dtype.kind == "c" and part.dtype.kind != "c":
            return
        self.log.append(
            f"write {key} array {source.plain.shape} {source.plain.dtype}->{part.dtype}"
        )
        target.plain[key] = source.plain.copy()
        target.lazy[key] = source.lazy

    def in_place(self) -> None:
        target = self.one()
        if target.plain.dtype.kind not in "fic" or not target.plain.flags.writeable:
            return
        if _repeats(target.plain):
            return
        number = self.random.choice([1, 2, 3])
        self.log.append("in place")
        if self.random.random() < 0.5:
            target.plain += number
            target.lazy += number
        else:
            target.plain *= number
            target.lazy *= number

    def drop(self) -> None:
        if len(self.values) > 2:
            self.log.append("drop")
            self.values.pop(self.random.randrange(len(self.values)))

    def read(self) -> None:
        value = self.one()
        self.log.append("read")
        self.compare(value)

    def reduce(self) -> None:
        value = self.one()
        name = self.random.choice(["sum", "max", "any", "mean", "argmax", "prod"])
        if value.plain.dtype.kind == "c" and name in ("max", "argmax"):
            return
        axis = self.random.choice([None, *range(value.plain.ndim)])
        reduced = value.plain.size if axis is None else value.plain.shape[axis]
        if reduced == 0 and name in ("max", "argmax", "mean"):
            return
        self.log.append(f"{name} {axis}")
        with np.errstate(all="ignore"):
            plain = np.asarray(getattr(np, name)(value.plain, axis=axis))
        lazy = getattr(pt, name)(value.lazy, axis=axis)
        if plain.dtype.kind in "fc":
            # Sums have another order.
            np.testing.assert_allclose(lazy.gather(), plain, rtol=1e-4, err_msg=str(self.log))
            return
        self.add(plain, lazy)

    def shape(self) -> None:
        value = self.one()
        if value.plain.ndim == 0:
            return
        self.log.append("transpose")
        self.add(value.plain.T, value.lazy.T)

    def reshape(self) -> None:
        """Another shape, a row, or the array several times."""
        value = self.one()
        how = self.random.choice(["reshape", "reshape", "ravel", "tile"])
        if how == "tile":
            times = self.random.randint(1, 2)
            self.log.append(f"tile {times}")
            self.add(np.tile(value.plain, times), pt.tile(value.lazy, times))
            return
        shape = (-1,) if how == "ravel" else self.divided(value.plain.size)
        plain = value.plain.reshape(shape)
        try:
            lazy = pt.reshape(value.lazy, plain.shape, copy=False)
            is_view = np.may_share_memory(plain, value.plain)
        except ValueError:
            is_view = False
        if not is_view:
            # The order in memory may differ, and with it which of the two needs a copy.
            plain, lazy = plain.copy(), pt.reshape(value.lazy, plain.shape, copy=True)
        self.log.append(f"reshape {value.plain.shape} {plain.shape} {is_view}")
        self.add(plain, lazy)

    def divided(self, size: int) -> tuple[int, ...]:
        """A shape of so many elements."""
        first = self.random.choice([n for n in range(1, 9) if size % n == 0])
        rest = size // first
        second = self.random.choice([n for n in range(1, 9) if rest % n == 0])
        return self.random.choice([(first, rest), (rest, first), (first, second, rest // second)])

    def look(self) -> None:
        """What lies on the ranks: buffers, other layouts, what algorithms see of it."""
        value = self.one()
        how = self.random.choice(["layout", "local", "moved", "sorted"])
        self.log.append(f"look {how}")
        if how == "layout":
            assert value.lazy.layout.shape == value.plain.shape
        elif how == "local":
            self.compare_parts(value)
        elif how == "moved" and value.plain.ndim:
            maps = ["*"] * value.plain.ndim
            maps[-1] = "block"
            moved = value.lazy.redistribute(", ".join(maps))
            self.compare(Both(value.plain, moved))
        elif how == "sorted" and value.plain.ndim and value.plain.dtype.kind != "c":
            self.compare(Both(np.sort(value.plain, axis=0), pt.sort(value.lazy, axis=0)))

    def compare_parts(self, value: Both) -> None:
        """This rank's memory beside NumPy's elements."""
        for piece, buffer in value.lazy.pieces:
            cut = zip(piece.owned_start, piece.start, piece.owned_shape, strict=True)
            sides = [(own, own - start, n) for own, start, n in cut]
            mine = buffer[tuple(slice(at, at + n) for _, at, n in sides)]
            wanted = value.plain[tuple(slice(own, own + n) for own, _, n in sides)]
            np.testing.assert_array_equal(mine, wanted, err_msg="\n".join(self.log))

    def mask(self) -> None:
        value = self.one()
        if (
            not value.plain.flags.writeable
            or value.plain.dtype.kind == "c"
            or _repeats(value.plain)
        ):
            return
        self.log.append("mask")
        value.plain[value.plain > 2] = 1
        value.lazy[value.lazy > 2] = 1

    def positions(self) -> None:
        value = self.one()
        if value.plain.ndim == 0 or value.plain.shape[0] == 0:
            return
        size = value.plain.shape[0]
        places = [self.random.randint(-size, size - 1) for _ in range(3)]
        self.log.append(f"positions {places}")
        self.add(value.plain[places], value.lazy[places])

    def compare(self, value: Both) -> None:
        found = value.lazy.gather()
        assert found.dtype == value.plain.dtype, self.log
        np.testing.assert_array_equal(found, value.plain, err_msg="\n".join(self.log))

    def finish(self) -> None:
        for value in self.values:
            self.compare(value)


def _together(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return None


def _repeats(array: Any) -> bool:
    return any(
        size > 1 and step == 0 for size, step in zip(array.shape, array.strides, strict=True)
    )
