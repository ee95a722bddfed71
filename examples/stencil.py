"""A star of radius 2 passes over a grid: each point from eight neighbours.

    python examples/stencil.py                     # partita on one rank
    partita run -n 4 examples/stencil.py           # on four, which are threads
    mpiexec -n 4 python examples/stencil.py        # on four, which are processes
    python examples/stencil.py --numpy             # NumPy

The star adds up how steeply the grid rises along rows and along columns, as the stencil of the
Parallel Research Kernels does. The grid grows by 1 after each pass, so no pass can be left out.
"""

from picture import SEA
from script import Script

RADIUS = 2


def passes(np, size=600, steps=50):
    """What all passes add up to, and the mean of its magnitude."""
    grid = ripples(np, size)
    rise = np.zeros((size, size))
    inner = slice(RADIUS, size - RADIUS)
    for _ in range(steps):
        for distance in range(1, RADIUS + 1):
            weight = 1.0 / (2 * distance * RADIUS)
            low = slice(RADIUS - distance, size - RADIUS - distance)
            high = slice(RADIUS + distance, size - RADIUS + distance)
            rise[inner, inner] += weight * (grid[inner, high] - grid[inner, low])
            rise[inner, inner] += weight * (grid[high, inner] - grid[low, inner])
        grid += 1.0
    return rise, float(np.mean(np.abs(rise)))


def ripples(np, size):
    """Rings around a point."""
    x = np.linspace(-1, 1, size)
    y = x[:, None]
    return np.cos(20 * np.sqrt((y + 0.1) ** 2 + (x - 0.2) ** 2))


def main():
    script = Script(__doc__, "stencil", size=600, steps=50)
    rise, mean = script.run(passes)
    script.say(f"the mean rise is {mean:.9f}")
    script.draw(rise, SEA)


if __name__ == "__main__":
    main()
