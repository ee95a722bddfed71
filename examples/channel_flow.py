"""Water flows through a channel around a pillar: the Navier-Stokes equations.

    python examples/channel_flow.py                     # partita on one rank
    partita run -n 4 examples/channel_flow.py           # on four, which are threads
    mpiexec -n 4 python examples/channel_flow.py        # on four, which are processes
    python examples/channel_flow.py --numpy             # NumPy

The problem is the last of the well known "12 steps to Navier-Stokes": a force drives the water
along x, what leaves on the right comes in on the left, and it sticks to the walls above and below.
Each step finds the pressure that keeps the flow free of sources by sweeps of Jacobi's method.
"""

from picture import HEAT
from script import Script

HEIGHT, VISCOSITY, FORCE = 2.0, 0.1, 1.0
N_SWEEPS = 30


def simulate(np, size=41, steps=400):
    """Velocities along x and y, the pressure, and the throughput after every hundred steps."""
    space = HEIGHT / (size - 1)
    time = 0.2 * space**2 / VISCOSITY
    u, v, pressure = (np.zeros((size, 2 * size)) for _ in range(3))
    pillar = a_pillar(np, size)
    throughputs = []
    for step in range(1, steps + 1):
        pressure = pressed(np, pressure, sources(np, u, v, space, time), space)
        slope_x, slope_y = slopes(np, pressure, space)
        changes = (FORCE - slope_x, -slope_y)
        u, v = (
            moved(np, one, (u, v), change, space, time)
            for one, change in zip((u, v), changes, strict=True)
        )
        u[pillar] = 0.0
        v[pillar] = 0.0
        if step % 100 == 0:
            throughputs.append(float(u.mean()) * HEIGHT)
    return u, v, pressure, throughputs


def around(np, field):
    """The rows between the walls and their neighbours: here, left, right, below, above."""
    here = field[1:-1]
    return here, np.roll(here, 1, axis=1), np.roll(here, -1, axis=1), field[:-2], field[2:]


def slopes(np, field, space):
    """How a field rises along x and y."""
    _, left, right, below, above = around(np, field)
    return (right - left) / (2 * space), (above - below) / (2 * space)


def sources(np, u, v, space, time):
    """What the pressure has to balance."""
    (u_x, u_y), (v_x, v_y) = slopes(np, u, space), slopes(np, v, space)
    return (u_x + v_y) / time - u_x**2 - 2 * u_y * v_x - v_y**2


def pressed(np, pressure, source, space):
    """The pressure, closer to what the sources ask for; it does not rise at the walls."""
    for _ in range(N_SWEEPS):
        _, left, right, below, above = around(np, pressure)
        pressure[1:-1] = (left + right + below + above - space**2 * source) / 4
        pressure[0], pressure[-1] = pressure[1], pressure[-2]
    return pressure


def moved(np, field, velocity, change, space, time):
    """A velocity one step later: carried along, smoothed by viscosity, changed by forces."""
    here, left, right, below, above = around(np, field)
    u, v = (one[1:-1] for one in velocity)
    carried = u * (here - left) + v * (here - below)
    smoothed = left + right + below + above - 4 * here
    later = np.zeros_like(field)
    later[1:-1] = here + time * (VISCOSITY / space**2 * smoothed - carried / space + change)
    return later


def a_pillar(np, size):
    """Where the pillar stands."""
    pillar = np.zeros((size, 2 * size), dtype=bool)
    pillar[2 * size // 5 : 3 * size // 5, size // 2 : size // 2 + size // 5] = True
    return pillar


def main():
    script = Script(__doc__, "channel_flow", size=41, steps=400)
    u, v, _, throughputs = script.run(simulate)
    script.say(f"throughput {', '.join(f'{one:.6f}' for one in throughputs)}")
    script.draw((u**2 + v**2) ** 0.5, HEAT)


if __name__ == "__main__":
    main()
