"""A membrane under three weights: conjugate gradients with a Laplacian that is a function.

    python examples/conjugate_gradient.py                     # partita on one rank
    partita run -n 4 examples/conjugate_gradient.py           # on four, which are threads
    mpiexec -n 4 python examples/conjugate_gradient.py        # on four, which are processes
    python examples/conjugate_gradient.py --numpy             # NumPy

The matrix of five points is never stored: the method asks only what it makes of an array. Three
sums are read in each step, and by them the method knows how far to go and when to stop.
"""

from picture import SEA
from script import Script

WEIGHTS = ((0.3, 0.3, 1.0), (0.7, 0.4, -1.0), (0.5, 0.8, 0.7))  # where, and how heavy


def solve(np, size=150, steps=2000, tolerance=1e-10):
    """How deep the membrane hangs, the number of steps, and how much of the load is left."""
    load = a_load(np, size)
    depth = np.zeros_like(load)
    left = load.copy()
    towards = left.copy()
    start = length = float(np.sum(left * left))
    step = 0
    while step < steps:
        step += 1
        pulled = laplacian(np, towards)
        far = length / float(np.sum(towards * pulled))
        depth += far * towards
        left -= far * pulled
        before, length = length, float(np.sum(left * left))
        if length <= tolerance**2 * start:
            break
        towards = left + length / before * towards
    missing = float(np.max(np.abs(load - laplacian(np, depth))))
    return depth, step, missing


def laplacian(np, values):
    """Four times each point less its neighbours; outside the membrane is held at 0."""
    wide = np.pad(values, 1)
    return 4 * values - wide[:-2, 1:-1] - wide[2:, 1:-1] - wide[1:-1, :-2] - wide[1:-1, 2:]


def a_load(np, size):
    """Three round weights; one of them pulls up."""
    x = np.linspace(0, 1, size + 2)[1:-1]
    y = x[:, None]
    heavy = np.zeros((size, size))
    for row, column, weight in WEIGHTS:
        heavy += weight * np.exp(-((y - row) ** 2 + (x - column) ** 2) / 0.005)
    return heavy / (size + 1) ** 2


def main():
    script = Script(__doc__, "conjugate_gradient", size=150, steps=2000)
    depth, steps, missing = script.run(solve)
    script.say(f"{steps} steps; the deepest point is at {float(depth.max()):.6f}")
    script.say("the load is carried" if missing < 1e-12 else f"{missing} of the load is left")
    script.draw(depth, SEA)


if __name__ == "__main__":
    main()
