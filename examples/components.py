"""Who is connected with whom in a random graph: components by masked products.

    python examples/components.py                     # partita on one rank
    partita run -n 4 examples/components.py           # on four, which are threads
    mpiexec -n 4 python examples/components.py        # on four, which are processes
    python examples/components.py --numpy             # NumPy and SciPy

Every vertex begins with a label of its own. In each step it takes the largest label of its
neighbours, if that is larger: the matrix times the labels, element by element, of which only those
that have changed are not masked. The picture has a pixel for each vertex, bright where its
component is large.
"""

from matrices import largest_in_rows, whole_for_numpy
from picture import SEA
from script import Script

import partita


def connect(np, scale=14, steps=1000):
    """The label of each vertex, a picture of all, and the number of steps."""
    edges = whole_for_numpy(np, partita.sparse.rmat(scale, 1, seed=2, directed=False)) != 0
    n = edges.shape[0]
    edges = edges * 1
    labels = np.arange(1, n + 1)
    changed = labels > 0
    n_steps = 0
    while n_steps < steps:
        n_steps += 1
        told = edges * np.where(changed, labels, 0)[None, :]
        after = np.maximum(labels, largest_in_rows(np, told))
        changed = after != labels
        labels = after
        if not bool(np.any(changed)):
            break
    sizes = np.bincount(labels, minlength=n + 1)[labels]
    height = 1 << scale // 2
    return labels, np.reshape(np.log(1.0 * sizes), (height, n // height)), n_steps


def main():
    script = Script(__doc__, "components", scale=14, steps=1000)
    labels, seen, steps = script.run(connect)
    sizes = script.np.bincount(labels)
    n_components = int((sizes > 0).sum())
    script.say(f"{labels.shape[0]} vertices, {n_components} components, {steps} steps")
    script.say(f"the largest has {int(sizes.max())} vertices")
    script.draw(seen, SEA)


if __name__ == "__main__":
    main()
