"""Which points belong together: k-means with seven centres.

    python examples/kmeans.py                     # partita on one rank
    partita run -n 4 examples/kmeans.py           # on four, which are threads
    mpiexec -n 4 python examples/kmeans.py        # on four, which are processes
    python examples/kmeans.py --numpy             # NumPy

Each rank has some of the points and all of the centres. A table says which point is nearest to
which centre; its product with the points is the sum of each group. The picture shows the groups.
"""

from picture import HEAT
from scatter import even, normal, seen
from script import Script

N_GROUPS = 7


def groups(np, points=100_000, steps=50):
    """The centres, how many points each has, the number of steps, and a picture of the groups."""
    points = a_cloud(np, points)
    centres = far_apart(np, points)
    step = 0
    while step < steps:
        step += 1
        nearest = np.argmin(squares(points, centres), axis=1)
        belongs = (nearest[:, None] == np.arange(N_GROUPS)).astype(float)
        counts = belongs.sum(axis=0)
        moved = belongs.T @ points / np.maximum(counts, 1.0)[:, None]
        change = float(np.max(np.abs(moved - centres)))
        centres = moved
        if change < 1e-6:
            break
    drawn = seen(np, points, nearest + 1.0)
    return centres, counts, step, drawn


def squares(points, centres):
    """How far each point (rows) is from each centre (columns), squared."""
    x, y = (points[:, None, axis] - centres[:, axis] for axis in (0, 1))
    return x * x + y * y


def far_apart(np, points):
    """The first point, then always the one that is farthest from those before."""
    centres = points[:1]
    for _ in range(N_GROUPS - 1):
        away = np.min(squares(points, centres), axis=1)
        farthest = int(np.argmax(away))
        centres = np.concatenate([centres, points[farthest : farthest + 1]])
    return centres


def a_cloud(np, number):
    """Points around seven places on a spiral."""
    x, y = normal(np, number)
    place = np.floor(even(np, number, 2) * N_GROUPS)
    turn, far = 2 * np.pi * place / N_GROUPS, 0.45 + 0.05 * place
    return np.stack([far * np.cos(turn) + 0.1 * x, far * np.sin(turn) + 0.1 * y], axis=1)


def main():
    script = Script(__doc__, "kmeans", points=100_000, steps=50)
    _, counts, steps, drawn = script.run(groups)
    sizes = ", ".join(f"{int(count)}" for count in counts)
    script.say(f"{steps} steps; groups of {sizes} points")
    script.draw(drawn, HEAT)


if __name__ == "__main__":
    main()
