"""A plate and a cube, heated at three places: sparse Laplacians and conjugate gradients.

    python examples/sparse_poisson.py                     # partita on one rank
    partita run -n 4 examples/sparse_poisson.py           # on four, which are threads
    mpiexec -n 4 python examples/sparse_poisson.py        # on four, which are processes
    python examples/sparse_poisson.py --numpy             # NumPy and SciPy

The matrices of five and of seven points are stored, each rank has its rows. The picture shows the
plate, and beside it a cut through the middle of the cube.
"""

from matrices import solvers, whole_for_numpy
from picture import HEAT
from script import Script

import partita

PLACES = ((0.3, 0.3), (0.7, 0.4), (0.45, 0.8))  # where it is heated, in each plane


def solve(np, size=200, tolerance=1e-12):
    """The plate, a cut through the cube, both as one picture, and how much heat is missing."""
    plate, far = warm(np, (size, size), tolerance)
    edge = max(size // 8, 2)
    cube, further = warm(np, (edge, edge, edge), tolerance)
    cut = cube[edge // 2]
    # As large as the plate, and as bright.
    wide = np.repeat(np.repeat(cut, -(-size // edge), axis=0), -(-size // edge), axis=1)
    seen = np.concatenate([plate / np.max(plate), wide[:size, :size] / np.max(cut)], axis=1)
    return plate, cut, seen, max(far, further)


def warm(np, shape, tolerance):
    """The temperatures of a grid whose ends are held at 0, and how far they are from right."""
    matrix = whole_for_numpy(np, partita.sparse.laplacian(shape))
    heat = np.reshape(sources(np, shape), -1)
    found, info = solvers(np).cg(matrix, heat, rtol=tolerance)
    assert info == 0, f"{info} steps were too few"
    missing = float(np.max(np.abs(heat - matrix @ found)))
    return np.reshape(found, shape), missing / float(np.max(heat))


def sources(np, shape):
    """Round spots; in a cube they stand in the middle of its first dimension."""
    sides = [np.linspace(0, 1, n + 2)[1:-1] for n in shape]
    y, x = sides[-2][:, None], sides[-1]
    spots = sum(np.exp(-((y - row) ** 2 + (x - column) ** 2) / 0.005) for row, column in PLACES)
    if len(shape) == 2:
        return spots
    return np.exp(-((sides[0] - 0.5) ** 2) / 0.02)[:, None, None] * spots


def main():
    script = Script(__doc__, "sparse_poisson", size=200)
    plate, cut, seen, missing = script.run(solve)
    script.say(f"plate up to {float(plate.max()):.6f}, cube up to {float(cut.max()):.6f}")
    script.say("the heat is carried" if missing < 1e-8 else f"{missing} of the heat is missing")
    script.draw(seen, HEAT)


if __name__ == "__main__":
    main()
