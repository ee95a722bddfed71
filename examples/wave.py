"""A wave meets a wall with two slits.

    python examples/wave.py                            # partita on one rank
    partita run -n 4 examples/wave.py                  # on four, which are threads
    mpiexec -n 4 python examples/wave.py --size 1000   # on four, which are processes
    python examples/wave.py --numpy                    # NumPy

The wave equation in two dimensions by central differences (leapfrog). The edges and the wall stay
at rest. What the scheme keeps is not the energy of one moment but that between two, so it is this
that is read now and then: it changes in the last digits only.
"""

from picture import SEA
from script import Script

COURANT = 0.5  # how much of a cell a wave passes in one step


def simulate(np, size=400, steps=500):
    """Heights at the end, and the energy after every hundred steps."""
    before, now, wall = start(np, size)
    energies = [energy(np, before, now)]
    for step in range(1, steps + 1):
        advance(before, now, wall)
        before, now = now, before
        if step % 100 == 0:
            energies.append(energy(np, before, now))
    return now, energies


def start(np, size):
    """Heights at two moments, and where the wall is."""
    x = np.linspace(0, 1, size)
    y = x[:, None]
    distance = COURANT / (size - 1)
    return pulse(np, x, y + distance), pulse(np, x, y), two_slits(np, size)


def advance(before, now, wall):
    """Put the heights after `now` in the place of those before."""
    neighbours = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]
    inside = now[1:-1, 1:-1]
    change = COURANT**2 * (neighbours - 4 * inside)
    before[1:-1, 1:-1] = 2 * inside - before[1:-1, 1:-1] + change
    before[wall] = 0.0


def pulse(np, x, y):
    """A ridge across the upper part, which will travel down."""
    ridge = np.exp(-(((y - 0.25) / 0.04) ** 2)) * np.sin(np.pi * x)
    ridge[:, [0, -1]] = 0.0
    ridge[[0, -1]] = 0.0
    return ridge


def two_slits(np, size):
    """Where the wall is."""
    wall = np.zeros((size, size), dtype=bool)
    top, width = size // 2, max(2, size // 20)
    rows = slice(top, top + 2)
    wall[rows] = True
    for middle in (2 * size // 5, 3 * size // 5):
        wall[rows, middle - width // 2 : middle + width // 2] = False
    return wall


def energy(np, before, now):
    """Of the movement and of the slopes; each is a sum over the plate."""
    movement = np.sum((now - before) ** 2) / COURANT**2
    across = np.sum((now[:, 1:] - now[:, :-1]) * (before[:, 1:] - before[:, :-1]))
    along = np.sum((now[1:] - now[:-1]) * (before[1:] - before[:-1]))
    return float(movement + across + along) / 2


def main():
    script = Script(__doc__, "wave", size=400, steps=500)
    heights, energies = script.run(simulate)
    script.say(f"energy {energies[0]:.9f} at the start, {energies[-1]:.9f} at the end")
    script.draw(heights, SEA, low=-0.3, high=0.3)


if __name__ == "__main__":
    main()
