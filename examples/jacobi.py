"""A plate with one hot edge: Jacobi's method, until it changes no more.

    python examples/jacobi.py                     # partita on one rank
    partita run -n 4 examples/jacobi.py           # on four, which are threads
    mpiexec -n 4 python examples/jacobi.py        # on four, which are processes
    python examples/jacobi.py --numpy             # NumPy

Every inner point becomes the mean of its four neighbours. The loop ends by a value of the array
itself; it is read every hundredth sweep only, so that the sweeps between run without a stop.
"""

from picture import HEAT
from script import Script


def solve(np, size=200, sweeps=20000, tolerance=1e-3):
    """Temperatures, and after how many sweeps none of them changes by more than the tolerance."""
    plate = np.zeros((size, size))
    plate[0] = 100.0
    inside = plate[1:-1, 1:-1]
    up, down = plate[:-2, 1:-1], plate[2:, 1:-1]
    left, right = plate[1:-1, :-2], plate[1:-1, 2:]
    for sweep in range(1, sweeps + 1):
        mean = 0.25 * (up + down + left + right)
        if sweep % 100 == 0 and np.max(np.abs(mean - inside)) < tolerance:
            break
        inside[...] = mean
    return plate, sweep


def main():
    script = Script(__doc__, "jacobi", size=200, sweeps=20000)
    plate, sweeps = script.run(solve)
    script.say(f"{sweeps} sweeps; {float(plate.mean()):.6f} degrees on average")
    script.draw(plate, HEAT)


if __name__ == "__main__":
    main()
