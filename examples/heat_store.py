"""Heat spreads over a plate that lies in a file, NumPy's or a Zarr store.

    python examples/heat_store.py --end plate.npy                        # partita on one rank
    partita run -n 4 examples/heat_store.py --start plate.npy --end plate.zarr   # four threads
    mpiexec -n 4 python examples/heat_store.py --start plate.zarr        # four processes
    python examples/heat_store.py --numpy                                # NumPy

Without a file to start from, the plate has a hot ring. Every rank reads and writes its own part, so
no rank ever has the whole plate. Stores need Zarr (`pip install zarr`); .npy files need nothing.
"""

from picture import HEAT
from script import Script

SPREAD = 0.2  # how much of a difference to a neighbour is gone after one step; below 1/4


def simulate(np, size=300, steps=500, start=None, end=None):
    """Temperatures at the end, and the mean after every hundred steps; the edges stay cold."""
    for path in (start, end):
        if is_store(path):
            the_library(path)  # a long run should not end by what could be known before
    plate = a_ring(np, size) if start is None else read(np, start)
    means = [float(np.mean(plate))]
    for step in range(1, steps + 1):
        here = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        here += SPREAD * (around - 4 * here)
        if step % 100 == 0:
            means.append(float(np.mean(plate)))
    if end is not None:
        write(np, end, plate)
    return plate, means


def a_ring(np, size):
    """A hot ring on a cold plate."""
    x = np.linspace(-1, 1, size)
    far = np.sqrt(x**2 + x[:, None] ** 2)
    return np.where(np.abs(far - 0.6) < 0.1, 100.0, 0.0)


def is_store(path):
    """Whether a path is that of a Zarr store."""
    return path is not None and path.suffix != ".npy"


def read(np, path):
    """A plate from a file."""
    if not is_store(path):
        return np.load(path)
    if hasattr(np, "from_zarr"):
        return np.from_zarr(path)
    return the_library(path).open(path, mode="r")[...]


def write(np, path, plate):
    """Put a plate in a file; what was there is replaced."""
    if not is_store(path):
        np.save(path, plate)
    elif hasattr(plate, "to_zarr"):
        plate.to_zarr(path, overwrite=True)
    else:
        the_library(path).create_array(path, data=plate, overwrite=True)


def the_library(path):
    """Zarr, or how to get it."""
    try:
        import zarr
    except ModuleNotFoundError:
        message = f"{path} is a Zarr store; use a .npy file, or `pip install zarr`"
        raise SystemExit(message) from None
    return zarr


def main():
    script = Script(__doc__, "heat_store", size=300, steps=500, start=None, end=None)
    plate, means = script.run(simulate)
    script.say(f"{means[0]:.6f} degrees on average at the start, {means[-1]:.6f} at the end")
    script.draw(plate, HEAT)


if __name__ == "__main__":
    main()
