"""A flow past a cylinder sheds vortices: the lattice Boltzmann method, D2Q9.

    python examples/lattice_boltzmann.py                     # partita on one rank
    partita run -n 4 examples/lattice_boltzmann.py           # on four, which are threads
    mpiexec -n 4 python examples/lattice_boltzmann.py        # on four, which are processes
    python examples/lattice_boltzmann.py --numpy             # NumPy

Nine numbers at each point say how much moves which way. In a step they come closer to their
equilibrium and go on to the next point (`np.roll`); the cylinder throws them back. Each of the nine
is an array of its own, so that every rank has rows of all.
"""

from picture import SEA
from script import Script

# Along y and x, with the weights in equilibrium; the opposite of each stands mirrored in the list.
WAYS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 0), (0, 1), (1, -1), (1, 0), (1, 1))
WEIGHTS = (1 / 36, 1 / 9, 1 / 36, 1 / 9, 4 / 9, 1 / 9, 1 / 36, 1 / 9, 1 / 36)
SPEED, REYNOLDS = 0.15, 200.0


def simulate(np, size=40, steps=600):
    """How the flow turns, the mass, and the mean flow after every hundred steps."""
    shape = (size, 4 * size)
    radius = size / 9
    relax = 1 / (3 * SPEED * 2 * radius / REYNOLDS + 0.5)
    y, x = np.arange(size)[:, None], np.arange(4 * size)
    cylinder = (y - size / 2) ** 2 + (x - size) ** 2 < radius**2
    # The flow comes askew, or the vortices would take long to begin.
    inflow = np.full(shape, SPEED)
    askew = SPEED / 4 * np.sin(2 * np.pi * x / (2 * size)) + np.zeros(shape)
    start = equilibrium(np.ones(shape), askew, inflow)
    flows = list(start)
    through = []
    for step in range(1, steps + 1):
        density, v, u = moments(flows)
        wanted = equilibrium(density, v, u)
        after = [one + relax * (other - one) for one, other in zip(flows, wanted, strict=True)]
        after = [
            np.where(cylinder, back, one) for one, back in zip(after, reversed(flows), strict=True)
        ]
        flows = [np.roll(one, way, axis=(0, 1)) for one, way in zip(after, WAYS, strict=True)]
        for one, fresh in zip(flows, start, strict=True):
            one[:, 0] = fresh[:, 0]
            one[:, -1] = one[:, -2]
        if step % 100 == 0 or step == steps:
            density, v, u = moments(flows)
            through.append(float(np.mean(np.where(cylinder, 0.0, u))))
    density, v, u = moments(flows)
    turning = np.roll(v, -1, 1) - np.roll(v, 1, 1) - np.roll(u, -1, 0) + np.roll(u, 1, 0)
    turning = np.where(cylinder, 0.0, turning)
    turning[:, [0, -1]] = 0.0
    return turning, float(np.sum(density)), through


def moments(flows):
    """The density, and the velocities along y and x."""
    density = sum(flows)
    v = sum(way[0] * one for way, one in zip(WAYS, flows, strict=True) if way[0])
    u = sum(way[1] * one for way, one in zip(WAYS, flows, strict=True) if way[1])
    return density, v / density, u / density


def equilibrium(density, v, u):
    """What the nine numbers are where nothing changes."""
    rest = 1 - 1.5 * (u * u + v * v)
    found = []
    for (down, right), weight in zip(WAYS, WEIGHTS, strict=True):
        along = 3 * (down * v + right * u)
        found.append(weight * density * (rest + along + along * along / 2))
    return found


def main():
    script = Script(__doc__, "lattice_boltzmann", size=40, steps=600)
    turning, _, through = script.run(simulate)
    script.say(f"mean flow {', '.join(f'{one:.6f}' for one in through)}")
    script.draw(turning, SEA, low=-0.04, high=0.04)


if __name__ == "__main__":
    main()
