"""The field of four charges: Poisson's equation by Fourier transforms.

    python examples/poisson.py                     # partita on one rank
    partita run -n 4 examples/poisson.py           # on four, which are threads
    mpiexec -n 4 python examples/poisson.py        # on four, which are processes
    python examples/poisson.py --numpy             # NumPy

On a plane that goes on at its edges, a transform turns the differences of neighbours into factors:
transform, divide, transform back. The answer is checked with the differences themselves.
"""

from picture import SEA
from script import Script

CHARGES = ((0.25, 0.3, 1.0), (0.7, 0.35, -1.0), (0.3, 0.75, -1.0), (0.75, 0.7, 1.0))


def solve(np, size=512):
    """The field, its energy, and how far its differences are from the charges."""
    charge = charges(np, size)
    space = 1.0 / size
    factor = (2 - 2 * np.cos(2 * np.pi * np.fft.fftfreq(size))) / space**2
    half = (2 - 2 * np.cos(2 * np.pi * np.fft.rfftfreq(size))) / space**2
    factors = factor[:, None] + half
    factors[0, 0] = 1.0  # the mean of the charges, which is 0
    field = np.fft.irfft2(np.fft.rfft2(charge) / factors, s=(size, size))
    around = sum(np.roll(field, step, axis) for axis in (0, 1) for step in (-1, 1))
    missing = float(np.max(np.abs((4 * field - around) / space**2 - charge)))
    energy = float(np.sum(charge * field)) * space**2 / 2
    return field, energy, missing


def charges(np, size):
    """Two round clouds of each sign; what is left of their sum is taken from every point."""
    x = np.arange(size) / size
    y = x[:, None]
    found = np.zeros((size, size))
    for row, column, sign in CHARGES:
        found += sign * np.exp(-((y - row) ** 2 + (x - column) ** 2) / 0.002)
    return found - np.mean(found)


def main():
    script = Script(__doc__, "poisson", size=512)
    field, energy, missing = script.run(solve)
    script.say(f"energy {energy:.9f}")
    script.say("the charges are met" if missing < 1e-8 else f"the charges are missed by {missing}")
    script.draw(field, SEA)


if __name__ == "__main__":
    main()
