"""A particle meets a wall with two slits: Schroedinger's equation by Fourier transforms.

    python examples/schroedinger.py                     # partita on one rank
    partita run -n 4 examples/schroedinger.py           # on four, which are threads
    mpiexec -n 4 python examples/schroedinger.py        # on four, which are processes
    python examples/schroedinger.py --numpy             # NumPy

Half a step of the potential, a step of free flight, half a step of the potential: each is one
product, the flight one of wave numbers. The transforms along rows move the array between ranks.
The chance to find the particle somewhere stays 1.
"""

from picture import HEAT
from script import Script

SIDE, TIME = 20.0, 0.01
WALL = 200.0  # the energy it takes to be in the wall
MOMENTUM = 6.0


def simulate(np, size=256, steps=120):
    """The wave at the end, the chance after every twenty steps, and the share behind the wall."""
    space = SIDE / size
    x = space * np.arange(size) - SIDE / 2
    y = x[:, None]
    wave = np.exp(-((x + 4) ** 2 / 2 + y**2 / 4) + 1j * MOMENTUM * x)
    wave /= np.sqrt(np.sum(np.abs(wave) ** 2)) * space
    half = np.exp(-0.5j * TIME * potential(np, x, y))
    number = 2 * np.pi * np.fft.fftfreq(size, space)
    flight = np.exp(-0.5j * TIME * (number**2 + number[:, None] ** 2))
    chances = []
    for step in range(1, steps + 1):
        wave = half * np.fft.ifft2(flight * np.fft.fft2(half * wave))
        if step % 20 == 0 or step == steps:
            chances.append(float(np.sum(np.abs(wave) ** 2)) * space**2)
    behind = float(np.sum(np.where(x > 0.5, np.abs(wave) ** 2, 0.0))) * space**2
    return wave, chances, behind


def potential(np, x, y):
    """A thin wall across the middle, with two slits."""
    is_wall = (np.abs(x) < 0.2) & (np.abs(np.abs(y) - 1.0) > 0.4)
    return np.where(is_wall, WALL, 0.0)


def main():
    script = Script(__doc__, "schroedinger", size=256, steps=120)
    wave, chances, behind = script.run(simulate)
    off = max(abs(chance - 1) for chance in chances)
    script.say("the chance stays 1" if off < 1e-10 else f"the chance is off by {off}")
    script.say(f"{100 * behind:.4f} % is behind the wall")
    script.draw(abs(wave), HEAT)


if __name__ == "__main__":
    main()
