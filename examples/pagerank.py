"""Which pages of a random web are important: PageRank on an R-MAT graph.

    python examples/pagerank.py                     # partita on one rank
    partita run -n 4 examples/pagerank.py           # on four, which are threads
    mpiexec -n 4 python examples/pagerank.py        # on four, which are processes
    python examples/pagerank.py --numpy             # NumPy and SciPy

Whoever reads a page follows one of its links, or goes anywhere; a page is as important as often it
is read. Each step is a product with the transposed matrix of links, which is not stored. The
picture has a pixel for each page.
"""

from matrices import whole_for_numpy
from picture import HEAT
from script import Script

import partita

FOLLOWS = 0.85  # how often a reader follows a link


def rank(np, scale=16, steps=100, tolerance=1e-12):
    """How important each page is, a picture of all, and the number of steps."""
    links = whole_for_numpy(np, partita.sparse.rmat(scale, 8, seed=5))
    n = links.shape[0]
    n_links = links.sum(axis=1)
    has_links = n_links > 0
    share = np.where(has_links, 1.0 / np.where(has_links, n_links, 1.0), 0.0)
    importance = np.full(n, 1.0 / n)
    n_steps = 0
    while n_steps < steps:
        n_steps += 1
        # Whoever comes to a page without links goes anywhere.
        lost = float(np.sum(np.where(has_links, 0.0, importance)))
        followed = links.T @ (importance * share)
        after = FOLLOWS * followed + (1 - FOLLOWS + FOLLOWS * lost) / n
        change = float(np.sum(np.abs(after - importance)))
        importance = after
        if change < tolerance:
            break
    height = 1 << scale // 2
    return importance, np.reshape(np.log(importance * n), (height, n // height)), n_steps


def main():
    script = Script(__doc__, "pagerank", scale=16, steps=100)
    importance, seen, steps = script.run(rank)
    n = importance.shape[0]
    script.say(f"{n} pages, {steps} steps, all together {float(importance.sum()):.9f}")
    most = int(importance.argmax())
    script.say(f"page {most} is read {float(importance.max()) * n:.4f} times as often as the mean")
    script.draw(seen, HEAT)


if __name__ == "__main__":
    main()
