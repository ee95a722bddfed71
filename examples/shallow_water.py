"""A drop falls into a basin: the shallow water equations.

    python examples/shallow_water.py                     # partita on one rank
    partita run -n 4 examples/shallow_water.py           # on four, which are threads
    mpiexec -n 4 python examples/shallow_water.py        # on four, which are processes
    python examples/shallow_water.py --numpy             # NumPy

Depths stand in the middle of cells, velocities on their sides, so there is one more row of `v`
than of `depth` and one more column of `u`. Water that leaves a cell enters the next: the volume
stays. The flow is carried by gravity alone; it does not carry its own momentum along.
"""

from picture import SEA
from script import Script

GRAVITY = 9.81
SHARE = 0.1  # seconds per step and metre of a cell: waves pass less than half a cell


def simulate(np, size=400, steps=600):
    """Depths at the end, and the volume after every hundred steps."""
    depth = basin(np, size)
    u = np.zeros((size, size + 1))
    v = np.zeros((size + 1, size))
    flow_x, flow_y = np.zeros_like(u), np.zeros_like(v)
    volumes = [float(depth.mean())]
    for step in range(1, steps + 1):
        u[:, 1:-1] -= SHARE * GRAVITY * (depth[:, 1:] - depth[:, :-1])
        v[1:-1] -= SHARE * GRAVITY * (depth[1:] - depth[:-1])
        flow_x[:, 1:-1] = u[:, 1:-1] * (depth[:, 1:] + depth[:, :-1]) / 2
        flow_y[1:-1] = v[1:-1] * (depth[1:] + depth[:-1]) / 2
        depth -= SHARE * (flow_x[:, 1:] - flow_x[:, :-1] + flow_y[1:] - flow_y[:-1])
        if step % 100 == 0:
            volumes.append(float(depth.mean()))
    return depth, volumes


def basin(np, size):
    """A metre of water with a heap on it."""
    x = (np.arange(size) + 0.5) / size
    y = x[:, None]
    return 1.0 + 0.4 * np.exp(-200 * ((y - 0.35) ** 2 + (x - 0.3) ** 2))


def main():
    script = Script(__doc__, "shallow_water", size=400, steps=600)
    depth, volumes = script.run(simulate)
    script.say(f"mean depth {volumes[0]:.12f} at the start, {volumes[-1]:.12f} at the end")
    script.draw(depth, SEA, low=0.9, high=1.1)


if __name__ == "__main__":
    main()
