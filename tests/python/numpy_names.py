"""Expressions that mean the same with NumPy and with partita, as data.

Each is text: `np` is one of the two modules, and the names of `operands` are arrays of it. Those
that write give back what they wrote to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import partita as pt


def operands() -> dict[str, Any]:
    """NumPy's arrays, by the names that expressions use."""
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(7, 5))
    holes = matrix.copy()
    holes[::3, 1] = np.nan
    holes[2, 2:] = np.inf
    holes[4, 4] = -np.inf
    return {
        "x": matrix,
        "v": np.array([3.5, -1.0, 0.0, 2.25, 8.0, -4.5, 1.0, 2.25, -0.0, 7.0, 0.5]),
        "w": np.array([1.0, -2.0, 0.5]),
        "n": holes,
        "i": np.array([[4, -2, 9], [0, 7, 7], [1, -8, 3], [5, 6, -3]]),
        "k": np.array([3, 0, 5, 1, 3, 9, 0], np.int32),
        "s": np.array([1, -7, 100, 127, -128, 0, 12], np.int8),
        "u": np.array([3, 0, 200, 255, 17], np.uint8),
        "f": np.array([0.5, -1.5, 3.25, np.nan, np.inf, -np.inf, 0.0, -0.0], np.float32),
        "c": np.array([1 + 2j, -3.0, 0.5j, np.nan, 2 - 1j]),
        "b": np.array([True, False, True, True, False, False, True]),
        "e": np.zeros((0, 3)),
        "o": np.array([2.5]),
        "z": np.array(3.0),
        "q": np.arange(24.0).reshape(2, 3, 4),
    }


# Complex numbers are ordered by their real parts, then by their imaginary parts.
COMPLEX_ORDER = """
np.argmax(c), np.argmin(c), np.argmax(c[1:3]), c[:3].argmin()
np.nanmax(c), np.nanmin(c), np.nanargmax(c), np.nanargmin(c)
np.max(c[:3]), np.min(c[:3]), c[4:].max(), np.ptp(c[:3])
np.isnan(np.max(c)), np.isnan(c.min())
np.max(i * 1j + 7), np.argmin(i * 1j + 7)
np.max(x - 1j * x, axis=0), np.min(x + 1j, axis=1, keepdims=True)
np.argmax(x % 2 + 1j * x, axis=1), np.argmin((k % 2) * 1j, keepdims=True)
np.max(q + 1j * q[::-1], axis=(0, 2)), np.min(q.astype(np.complex64), axis=1)
np.max(x + 1j, axis=1, initial=0.5 + 2j), np.max(c, initial=0.25, where=np.isfinite(c))
np.maximum(c, c[::-1]), np.minimum(c, 0.5), np.maximum(1j, c), np.fmax(c, c[::-1])
np.fmin(c[::-1], c), np.clip(c[:3], -1, 1 + 1j), np.maximum.reduce(c[:3])
np.maximum(c.astype(np.complex64), 1.0), np.minimum(w, c[:3])
np.maximum(c, c[::-1], out=np.zeros(5, complex))
"""

GRIDS = """
np.mgrid[0:3, 0:4]
np.mgrid[0:1:5j, 2:4:2]
np.mgrid[2:7]
np.ogrid[0:3, 0:1:3j]
np.indices((3, 2))
np.indices((3, 2), sparse=True)
np.indices((3, 0), dtype=float)
np.ix_([0, 2], [True, False, True])
x[np.ix_([0, 2, 4], [1, 3])]
np.r_[1:4, 0, 4]
np.r_[v, 0, w]
np.r_['1', x, x]
np.r_['0,2', w, w]
np.c_[v, v]
np.c_[x, x]
np.identity(4, dtype=np.int8)
np.mask_indices(4, np.triu)
np.lexsort(k), np.lexsort([3, 1, 2])
np.partition(e, 5, axis=0), np.argpartition(e, 0, axis=0)
np.bincount(u.astype(np.uint64) % 7)
np.mask_indices(5, np.tril, -1)
x[np.mask_indices(5, np.triu, 1)]
np.asarray_chkfinite(v)
np.asfortranarray(x)
np.require(k, float, ['C', 'W'])
np.einsum_path('ij,jk,kl->il', x, x.T, x)[0]
np.typename('d'), np.mintypecode('fd'), np.typecodes['Integer']
np.tri(4, 5, 1)
np.tril_indices(4, -1)
np.triu_indices(4, 1, 6)
np.triu_indices_from(x[:5], 1)
np.tril_indices_from(x)
np.diag_indices(4)
np.diag_indices_from(x[:5])
np.unravel_index(k, (3, 4))
np.unravel_index(7, (3, 4))
np.ravel_multi_index((k % 3, k % 2), (3, 4))
np.ravel_multi_index((k, k), (3, 4), mode='wrap')
np.ravel_multi_index((k, k), (3, 4), mode='clip')
np.logspace(0, 2, 5)
np.logspace(0, 2, 5, endpoint=False, base=2)
np.geomspace(1, 256, 9)
np.geomspace(-1000, -1, 4)
np.vander(w, 4)
np.vander(k)
np.vander(w, increasing=True)
np.fromfunction(lambda r, c: r * 10 + c, (4, 3))
np.fromfunction(lambda r, c: r == c, (3, 3), dtype=int)
np.fromiter((n * n for n in range(5)), float)
np.frombuffer(bytes(range(8)), dtype=np.uint8)
np.meshgrid(range(3), range(2))
np.meshgrid(w, v, indexing='ij')
np.meshgrid(w, v, sparse=True)
np.arange(np.array(5))
np.arange(np.asarray(2), 6)
np.linspace(-3, 3, 5, dtype=int)
np.linspace(-7, 2, 6, dtype=np.int8)
np.linspace(0, 1, 5, retstep=True)
np.full_like(x, 2, dtype=int)
np.array([x, x * 2])
np.array([[v, v], [v, -v]])
np.array([v.sum(), 2])
np.array(w, ndmin=3)
np.ascontiguousarray(z)
np.asanyarray(k, dtype=float)
np.from_dlpack(np.arange(3))
x + [x[0], x[1]][0]
np.hanning(7)
np.hamming(8)
np.blackman(5)
np.bartlett(6)
np.kaiser(9, 5.0)
np.hanning(1)
np.linspace(start=0, stop=1, num=3)
np.copy([1, 2])
"""

JOINING = """
np.dstack([w, w])
np.dstack([x, x])
np.column_stack([v, v])
np.column_stack([x, x[:, 0]])
np.vstack([w, w])
np.split(x, [2, 5])
np.split(x[:6], 3)
np.array_split(v, 4)
np.array_split(x, 3, axis=1)
np.hsplit(x[:, :4], 2)
np.vsplit(x, 7)
np.dsplit(q, 2)
np.block([[x, x], [x[:1], x[:1]]])
np.block([w, w])
np.block([[1.0, w[:1]], [w[1:]]])
np.append(v, w)
np.concatenate([v, w], dtype=np.float32)
np.concatenate((k, u), axis=0)
np.repeat(x, repeats=2, axis=0)
np.tile(w, reps=2)
np.moveaxis(q, source=0, destination=2)
np.swapaxes(q, axis1=0, axis2=1)
np.roll(x, shift=2, axis=0)
np.append(x, x[:2], axis=0)
np.insert(v, 2, 5)
np.insert(v, [1, 1, 4], [7, 8, 9])
np.insert(x, 1, 3.0, axis=1)
np.insert(x, 2, np.arange(5), axis=0)
np.insert(x, [0, 3], np.zeros((2, 5)), axis=0)
np.insert(x, -1, 5, axis=0)
np.insert(k, slice(1, 4), 9)
np.delete(v, 3)
np.delete(x, [0, -1], axis=0)
np.delete(x, slice(1, 6, 2), axis=0)
np.delete(x, 2, axis=1)
np.delete(v, [])
np.delete(k, b)
np.resize(v, (3, 5))
np.resize(v, 4)
np.resize(e, (2, 2))
np.rot90(x)
np.rot90(x, 2)
np.rot90(q, -1, axes=(1, 2))
np.flipud(x)
np.fliplr(x)
np.rollaxis(q, 2)
np.rollaxis(q, 0, 3)
np.atleast_1d(z)
np.atleast_2d(w, z)
np.atleast_3d(x)
np.atleast_3d(v)
np.diag(v)
np.diag(v, 2)
np.diag(v, -3)
np.diag(x)
np.diag(x, 1)
np.diag(x, -2)
np.diag(x, 9)
np.diagflat(i, 1)
np.trim_zeros(np.array([0, 0, 1, 2, 0, 3, 0]))
(np.fill_diagonal(x, 9.0), x)[1]
(np.fill_diagonal(x, w, wrap=True), x)[1]
(np.fill_diagonal(x[:, :2].T, 4.0), x)[1]
"""

PICKING = """
np.take(v, [0, 3, -1])
np.take(x, k % 5, axis=1)
np.take(x, 3)
np.take(x, 2, axis=0)
np.take(v, [[0, 40], [-3, 2]], mode='wrap')
np.take(v, [[0, 40], [-3, 2]], mode='clip')
np.take(x, [], axis=0)
np.take_along_axis(i, np.array([[0, 2], [1, 1], [2, 0], [0, 0]]), axis=1)
np.take_along_axis(i, np.argmax(i, axis=0, keepdims=True), axis=0)
np.take_along_axis(i, np.array([3, 7, 7, 1]), None)
(np.put_along_axis(i, np.array([[0], [1], [2], [0]]), 99, axis=1), i)[1]
(np.put(x, [0, 11, -1], [7.0, 8.0, 9.0]), x)[1]
(np.put(x, [0, 40, 3], [7.0, 8.0], mode='clip'), x)[1]
(np.put(x.T, [1, 2], 5.0), x)[1]
(np.copyto(x, w[0]), x)[1]
(np.copyto(x, x[0] * 2, where=x > 0), x)[1]
(np.copyto(k, 4), k)[1]
np.choose([2, 0, 1, 0], [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]])
np.choose(k, [w[0], 5, 6], mode='clip')
np.choose(k % 2, [k, k * 10])
np.compress([True, False, True], x, axis=0)
np.compress(b, x, axis=0)
np.compress(v > 1, v)
np.extract(x > 0.2, x)
(np.place(x, x > 0, [1.0, 2.0, 3.0]), x)[1]
(np.putmask(x, x > 0, [1.0, 2.0, 3.0]), x)[1]
(np.putmask(x, x > 0, x * 10), x)[1]
np.select([x > 1, x > 0], [x, x * 100], 42)
np.select([k > 4, k > 1], [k, 7])
np.piecewise(x, [x < 0, x >= 0.5], [-1, lambda y: y * 3])
np.piecewise(v, [v < 0, v >= 3], [lambda y: -y, 0.0, 9.0])
np.argwhere(x > 0.5)
np.argwhere(k)
np.flatnonzero(x > 0)
x.take([1, 2], axis=1)
x.compress([0, 1, 1], axis=0)
(k % 3).choose([5, 6, 7])
(x.put([3, 4], 0.0), x)[1]
"""

ELEMENTS = """
np.deg2rad(v)
np.radians(k)
np.rad2deg(f)
np.degrees(s)
np.float_power(v, 2)
np.float_power(k, k)
np.float_power(f, 0.5)
np.fmod(v, 2)
np.fmod(s, np.int8(7))
np.fmod(f, 1)
np.fmod(u, 7)
np.divmod(v, 2)
np.divmod(s, -5)
divmod(k, 4)
np.modf(f)
np.modf(v)
np.modf(k)
np.frexp(f)
np.frexp(v)
np.ldexp(v, [3])
np.ldexp(f, 2)
np.ldexp(v, 1100)
np.ldexp(v * 0.0 + 1, -1074)
np.gcd(i, 12)
np.bitwise_count(i)
np.angle(c, deg=True)
np.clip(v, a_min=0, a_max=2)
np.gcd(s, np.int8(64))
np.lcm(i, 6)
np.lcm(k, k[::-1])
np.heaviside(f, 0.5)
np.heaviside(v, k[0])
np.logaddexp2(v, 1.5)
np.logaddexp2(f, f)
np.spacing(f)
np.spacing(v)
np.fix(v)
np.sinc(v)
np.sinc(k)
np.i0(v)
np.isposinf(f)
np.isneginf(f)
np.isposinf(k)
np.isreal(c)
np.iscomplex(c)
np.isreal(v)
np.real_if_close(c)
np.real_if_close(np.array([1 + 1e-20j, 2]))
np.nan_to_num(f)
np.nan_to_num(n, nan=-1.0, posinf=5, neginf=-5)
np.nan_to_num(c)
np.nan_to_num(k)
np.unwrap(v)
np.unwrap(x * 6, axis=0)
np.unwrap(k, period=4)
np.interp(x, [-1.0, 0.0, 2.0], [3.0, 1.0, 5.0])
np.interp(v, np.array([0.0, 1.0]), np.array([5.0, 6.0]), left=-9)
np.interp(z, [0.0, 9.0], [1.0, 2.0])
np.polyval([2, 0, 1], v)
np.poly1d([1, 2, 3])(x)
np.poly1d([1, 2, 3])(2)
np.poly1d(w)(x)
np.poly1d(w)(w)
(np.poly1d([1, 2]) * np.poly1d([1, 0, 1]))(v)
(2 + np.poly1d([1, 2]) ** 2 - 1)(v)
np.poly1d([2, 3], True)(k)
np.poly1d([1, 0, -1]).roots
(np.poly1d([1, 2, 1]) / np.poly1d([1, 1]))[0](v)
np.poly1d([1, 2, 1]).deriv()(v), np.poly1d([1, 2, 1]).integ(2, 1)(v)
np.polymul(np.poly1d([1, 2]), [1, 3])(v)
np.polyder(np.poly1d([1, 2, 3]))(v)
str(np.poly1d([1, 2, 3])), np.poly1d([1, 2, 3])[1], np.poly1d([0, 2, 3]).order
np.polyval(np.poly1d([1, 2]), x)
np.poly1d([1, 2])(np.poly1d([1, 1])).c
np.polyval(w, k)
np.isscalar(3.5)
np.isscalar(v)
np.iscomplexobj(c)
np.isrealobj(v)
np.array_equiv(x[0], x[:1])
np.array_equiv(x, w)
np.isclose(n, n + 1e-12, equal_nan=True)
np.array_equal(f, f, equal_nan=True)
"""

DIFFERENCES = """
np.diff(v)
np.diff(x, n=2, axis=0)
np.diff(b)
np.diff(u)
np.diff(x, axis=1, prepend=0)
np.diff(v, append=[1.0, 2.0])
np.diff(o)
np.ediff1d(x)
np.ediff1d(v, to_begin=-9, to_end=[1, 2])
np.gradient(v)
np.gradient(x)
np.gradient(x, 2.0, axis=0)
np.gradient(x, 0.5, 3.0, edge_order=2)
np.gradient(v, np.cumsum(np.arange(11) + 1.0))
np.gradient(v, np.cumsum(np.arange(11) + 1.0), edge_order=2)
np.gradient(k)
np.gradient(f)
np.trapezoid(v)
np.trapezoid(x, axis=0, dx=0.5)
np.trapezoid(v, np.cumsum(np.arange(11)))
np.convolve(v, w)
np.convolve(v, w, 'same')
np.convolve(v, [1.0, np.inf])
np.convolve(np.arange(90.0), np.arange(70.0))
np.convolve(np.arange(90.0), np.arange(70.0), 'valid')
np.convolve(b, b)
np.convolve(s, [1, 2])
np.convolve(w, v, 'valid')
np.convolve(k, [1, 0, 2, 3], 'same')
np.convolve(c[:3], w)
np.correlate(v, w)
np.correlate(w, v, 'full')
np.correlate(v, w, 'same')
np.correlate(c[:2], c[::4], 'full')
np.cov(x)
np.cov(x, rowvar=False)
np.cov(v)
np.cov(v, v[::-1], bias=True)
np.cov(x.T, aweights=[1, 2, 1, 1, 1, 1, 3])
np.cov(x.T, fweights=[1, 2, 1, 1, 1, 1, 3], ddof=0)
np.corrcoef(x)
np.corrcoef(v, v * 2 + 1)
np.average(x)
np.average(x, axis=0, weights=[1, 2, 3, 4, 5, 6, 7])
np.average(k, weights=k)
np.average(x, axis=1, weights=[1.0, 2.0, 1.0, 0.0, 1.0], returned=True)
np.ptp(x, axis=0)
np.ptp(k)
np.ptp(u)
"""

NANS = """
np.mean(np.array([1 + 2j, complex(3, np.inf)])).real
np.mean(np.array([1 + 2j, complex(3, np.inf)])).imag
np.array([[1 + 2j, complex(-np.inf, 1)], [3j, 5]]).mean(axis=1).imag
np.array([[1 + 2j, complex(-np.inf, 1)], [3j, 5]], np.complex64).mean(axis=0).real
np.nanmean(np.array([1 + 2j, complex(3, np.inf), complex(np.nan, 0)])).real
np.nansum(n)
np.nansum(n[:, :2], axis=0)
np.nansum(k, axis=0)
np.nanprod(n[:2], axis=1)
np.nancumsum(n[:, 1])
np.nancumprod(n[:, :2], axis=0)
np.nanmean(n[:, :2], axis=0)
np.nanmean(f[:4])
np.nanmean(k)
np.nanmean(c)
np.nanvar(n[:, :2], axis=0, ddof=1)
np.nanstd(n[:, :2])
np.nanstd(n[:, :2], axis=1, keepdims=True)
np.nanvar(c)
np.nanmin(n, axis=0)
np.nanmax(n, axis=1, keepdims=True)
np.nanmax(k)
np.nanargmin(n, axis=1)
np.nanargmax(n[:2])
"""

PADDING = """
np.pad(v, 2)
np.pad(k, (1, 3), constant_values=(7, 9))
np.pad(x, ((1, 2), (0, 3)), 'edge')
np.pad(x, 1, 'linear_ramp', end_values=4)
np.pad(k, 3, 'linear_ramp', end_values=(2, -6))
np.pad(x, 2, 'maximum')
np.pad(x, 2, 'minimum', stat_length=2)
np.pad(x, ((2, 1), (1, 0)), 'mean')
np.pad(k, 2, 'mean', stat_length=((3, 2),))
np.pad(x, ((3, 2), (2, 4)), 'reflect')
np.pad(w, 7, 'reflect')
np.pad(w, 7, 'symmetric')
np.pad(w, (2, 9), 'wrap')
np.pad(x, 3, 'wrap')
np.pad(w, (5, 8), 'reflect', reflect_type='odd')
np.pad(w, (5, 8), 'symmetric', reflect_type='odd')
np.pad(o, 2, 'reflect')
np.pad(x, ((1, 3), (2, 13)), 'reflect')
np.pad(x, ((1, 17), (2, 13)), 'symmetric', reflect_type='odd')
np.pad(i, 5, 'linear_ramp')
np.pad(e, ((2, 0), (1, 1)))
np.pad(z, 0)
"""

UFUNCS = """
np.add.reduce(x)
np.add.reduce(x, axis=None)
np.add.reduce(b)
np.add.reduce(s, dtype=np.int8)
np.multiply.reduce(x, axis=1, keepdims=True)
np.maximum.reduce(x, axis=(0, 1))
np.minimum.reduce(e, axis=1, initial=3.0)
np.logical_and.reduce(x > -9, axis=1)
np.logical_or.reduce(x, axis=0)
np.logical_xor.reduce(b)
np.bitwise_or.reduce(i, axis=0)
np.bitwise_and.reduce(k)
np.bitwise_xor.reduce(i, axis=None)
np.bitwise_xor.reduce(k[:0])
np.gcd.reduce(i, axis=1)
np.hypot.reduce(x, axis=0)
np.logaddexp.reduce(x, axis=1)
np.fmax.reduce(n, axis=0)
np.subtract.reduce(x, axis=0)
np.subtract.reduce(i, axis=1)
np.divide.reduce(q + 1, axis=2)
np.add.accumulate(x, axis=1)
np.add.accumulate(s)
np.maximum.accumulate(v)
np.maximum.accumulate(x, axis=0)
np.minimum.accumulate(f)
np.bitwise_xor.accumulate(k)
np.subtract.accumulate(x, axis=0)
np.multiply.accumulate(k)
np.add.outer(v, w)
np.multiply.outer(i, [1, 10])
np.less.outer(w, v)
np.add.reduceat(v, [0, 4, 1, 9])
np.maximum.reduceat(x, [0, 3], axis=1)
np.add.reduceat(x, [0, 5, 2], axis=0)
(np.add.at(v, [0, 0, 3, 0, -1], 1.5), v)[1]
(np.add.at(v, [0, 0, 3], [1.0, 2.0, 3.0]), v)[1]
(np.subtract.at(x, ([0, 0, 6], [1, 1, 4]), 1.0), x)[1]
(np.maximum.at(x, (slice(None), 2), 0.25), x)[1]
(np.negative.at(k, [1, 1, 2]), k)[1]
(np.add.at(x, x > 0, 10.0), x)[1]
(np.multiply.at(x.T, [0, 0], 3.0), x)[1]
(np.add.at(k, [], 1), k)[1]
(np.add.at(z, (), 2.0), z)[1]
(np.add.at(v, np.array([[0, -1], [-11, 3]]), np.array([[1.0, 2.0], [4.0, 8.0]])), v)[1]
(np.add.at(i, (slice(1, 3),), [[1, 2, 3]]), i)[1]
(np.add.at(q, ..., 1.0), q)[1]
(np.logaddexp.at(o, [0, 0], 1.0), o)[1]
(np.multiply(x, x, x), x)[1]
(np.sqrt(v, out=v, where=v > 0), v)[1]
np.add(k, 1, dtype=np.float32)
np.add(x, 1, casting='unsafe')
np.divide(k, 4, dtype=np.float32)
(np.modf(v, v), v)[1]
np.add.nin, np.add.nout, np.add.nargs, np.add.identity, np.multiply.identity
np.exp.nin, np.modf.nout, np.maximum.identity
np.add(u, 3)
"""

APPLYING = """
np.apply_along_axis(lambda r: r.max() - r.min(), 0, x)
np.apply_along_axis(lambda r: r[::-1] * 2, 1, x)
np.apply_along_axis(lambda r: [r[0], r[-1]], 0, q)
np.apply_along_axis(lambda r: r[:, None] * r, 1, i)
np.apply_over_axes(np.sum, q, [0, 2])
np.vectorize(lambda a, b: a - b if a > b else a + b)(i, 2)
np.vectorize(lambda a: a > 0)(x)
np.vectorize(lambda a: int(a), otypes=[float])(k)
np.vectorize(lambda a, b: (a - b, a > b))(i, 2)
np.vectorize(lambda a, b: (a * b).max(), signature='(n),(n)->()')(x, x[0])
np.vectorize(lambda a, b: np.max(a * b), signature='( n ), (n) -> ()')(x, x[0])
np.vectorize(lambda a: a[:2] * 2, signature='(n)->(m)')(q)
np.vectorize(lambda a, b: (a + b, a.max()), signature='(m,n),(n)->(m,n),()')(q, q[0, 0])
np.vectorize(lambda a: a.max(), signature='(n)->()')(v)
np.vectorize(lambda a: a.max(), otypes=[float], signature='(n)->()')(np.zeros((0, 4)))
np.vectorize(lambda a: a, otypes=[float], signature='(n)->(n)')(np.zeros((0, 4)))
np.vectorize(lambda a, p: sum(c * a**k for k, c in enumerate(p)), excluded=['p'])(v, p=[1, 2])
np.vectorize(lambda a, p: a + p[0], excluded={1})(x, w)
np.vectorize(lambda a, b=1: a * b)(k, b=2)
np.vectorize(otypes=[float])(lambda a: a + 1)(k)
np.vectorize(lambda a: np.maximum(a, 1))(k)
np.apply_along_axis(lambda r: np.max(r) - np.min(r), 0, x)
np.apply_along_axis(lambda r: np.sort(r), 1, x)
"""

METHODS = """
x.T.T.T
q.T
x.strides
k.strides
x.nbytes, x.itemsize, x.size
x.tobytes()
x.T.tobytes()
k.item(3)
x.item(2, 1)
[float(one) for one in x.flat][:4]
x.flat[3]
x.flat[2:9:3]
x.flat[[1, 5]]
(x.flat.__setitem__(slice(0, 6), 1.0), x)[1]
(x.flat.__setitem__(3, 9.0), x)[1]
(setattr(x, 'flat', [1.0, 2.0]), x)[1]
len(x.flat)
k.view(np.uint32)
v.view(np.int64)
c.view(np.float64)
x.view(np.float32)
x.view(np.uint8)
x[:, :4].copy().view(np.complex128)
k[:6].copy().view(np.int64)
z.view(np.int64)
e.view(np.int32)
k.astype(np.int8).view(np.uint8)
x.mean(axis=0).tolist()
b ** b
np.power(b, 2)
x.conjugate()
i.cumsum(axis=1)
"""

ALL = [
    line
    for text in (
        COMPLEX_ORDER,
        GRIDS,
        JOINING,
        PICKING,
        ELEMENTS,
        DIFFERENCES,
        NANS,
        PADDING,
        UFUNCS,
        APPLYING,
        METHODS,
    )
    for line in text.strip().splitlines()
]


def evaluate(text: str, module: Any, place: Any) -> Any:
    """What an expression gives with one of the modules; operands that it names are placed."""
    code = compile(text, text, "eval")
    given = {name: place(one) for name, one in operands().items() if name in code.co_names}
    return eval(code, {"np": module, **given})  # the texts stand above


def compare(text: str, found: Any, wanted: Any) -> None:
    """Refuse a result that is not NumPy's."""
    if isinstance(wanted, tuple | list):
        assert isinstance(found, tuple | list), (text, type(found))
        assert len(found) == len(wanted), (text, len(found), len(wanted))
        for one, other in zip(found, wanted, strict=True):
            compare(text, one, other)
        return
    if isinstance(wanted, float) and isinstance(found, float):
        assert abs(found - wanted) < 1e-12, (text, found, wanted)
        return
    if isinstance(wanted, bool | int | float | str | bytes | type(None)) and not isinstance(
        found, pt.Array
    ):
        assert found == wanted, (text, found, wanted)
        return
    wanted = np.asarray(wanted)
    assert tuple(found.shape) == wanted.shape, (text, found.shape, wanted.shape)
    assert found.dtype == wanted.dtype, (text, found.dtype, wanted.dtype)
    here: Any = found.gather() if isinstance(found, pt.Array) else np.asarray(found)
    if wanted.dtype.kind in "fc" and "view" not in text:
        precision = 2e-6 if wanted.dtype.itemsize // (1 + (wanted.dtype.kind == "c")) < 8 else 3e-13
        np.testing.assert_allclose(here, wanted, rtol=precision, atol=1e-13, err_msg=text)
    else:
        np.testing.assert_array_equal(here, wanted, err_msg=text)


def placed(array: Any, layout: str) -> Any:
    """An array of partita in a layout, as far as it has dimensions; whole where none is given."""
    if layout == "whole" or array.ndim == 0:
        return pt.array(array)
    maps = layout.split(", ")
    wanted = [maps[at] if at < len(maps) else "*" for at in range(array.ndim)]
    if all(one == "*" for one in wanted):
        wanted[-1] = "block"
    return pt.array(array, layout=", ".join(wanted))


def check(team: pt.Team, layout: str, every: int) -> None:
    """All expressions, or one of so many, with arrays in one layout."""
    failures = []
    for text in ALL[team.size % every :: every]:
        with np.errstate(all="ignore"):
            wanted = evaluate(text, np, np.copy)
            try:
                compare(text, evaluate(text, pt, lambda one: placed(one, layout)), wanted)
            except Exception as error:
                failures.append(f"{text}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)
