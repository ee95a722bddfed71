"""Points for the examples: spread by a formula, and drawn.

A formula gives NumPy and any number of ranks the same points, and each rank computes its own only.
"""

# Multiples of these, without the whole numbers before the point, fill the unit cube evenly.
STEPS = (0.8191725133961645, 0.6710436067037893, 0.5497004779019703)


def even(np, number, which):
    """Numbers between 0 and 1, evenly spread; each `which` (0, 1 or 2) gives others."""
    return (0.5 + STEPS[which] * np.arange(number)) % 1.0


def normal(np, number):
    """Two rows of normally distributed numbers, by Box and Muller."""
    far = np.sqrt(-2.0 * np.log(1.0 - even(np, number, 0)))
    turn = 2 * np.pi * even(np, number, 1)
    return far * np.cos(turn), far * np.sin(turn)


def seen(np, points, values=None, size=200):
    """A picture of the points between -1 and 1: their number, or the mean of their values."""
    x, y = (np.clip((points[:, axis] + 1) * (size / 2), 0, size - 1) for axis in (0, 1))
    pixel = y.astype(np.int64) * size + x.astype(np.int64)
    count = np.bincount(pixel, minlength=size * size)
    if values is None:
        return count.reshape(size, size)
    total = np.bincount(pixel, weights=values, minlength=size * size)
    return (total / np.maximum(count, 1)).reshape(size, size)
