"""What varies most in a tall table: principal components by QR and SVD.

    python examples/pca.py                     # partita on one rank
    partita run -n 4 examples/pca.py           # on four, which are threads
    mpiexec -n 4 python examples/pca.py        # on four, which are processes
    python examples/pca.py --numpy             # NumPy

The table has many rows and twelve columns. QR leaves its rows where they are and gives a small
triangle; its singular values are those of the table. The picture shows the rows in the plane of the
first two components, in which three groups come apart.
"""

from picture import HEAT
from scatter import even, normal, seen
from script import Script

N_COLUMNS, N_GROUPS = 12, 3


def components(np, rows=100_000):
    """The components as rows, the share of each in what varies, and a picture of the plane."""
    table = a_table(np, rows)
    table = table - np.mean(table, axis=0)
    _, triangle = np.linalg.qr(table)
    _, sizes, found = np.linalg.svd(triangle)
    found = found * signs(np, found)[:, None]
    shares = sizes**2 / np.sum(sizes**2)
    plane = table @ found[:2].T
    # The last components are noise, and differ where the noise has no direction.
    return found[:2], shares, seen(np, plane / 8.0)


def signs(np, rows):
    """1 or -1 for each row: a component has no sign, so its largest entry is made positive."""
    largest = np.argmax(np.abs(rows), axis=1)
    return np.sign(np.take_along_axis(rows, largest[:, None], axis=1)[:, 0])


def a_table(np, rows):
    """Rows of three groups in a plane of their own, which lies askew in twelve columns."""
    x, y = normal(np, rows)
    group = np.floor(even(np, rows, 2) * N_GROUPS)
    turn = 2 * np.pi * group / N_GROUPS
    across, along = 3 * np.cos(turn) + x, 2 * np.sin(turn) + 0.5 * y
    column = np.arange(N_COLUMNS)
    first, second = np.sin(0.7 * column + 0.3), np.cos(1.9 * column)
    noise = 0.2 * np.sin(12.9898 * np.arange(rows)[:, None] + 78.233 * column**2)
    return across[:, None] * first / 2 + along[:, None] * second / 2 + noise


def main():
    script = Script(__doc__, "pca", rows=100_000)
    _, shares, drawn = script.run(components)
    script.say("shares " + ", ".join(f"{100 * float(share):.3f} %" for share in shares[:4]))
    script.draw(drawn, HEAT)


if __name__ == "__main__":
    main()
