"""The Mandelbrot set: how long points take to escape.

    python examples/mandelbrot.py                     # partita on one rank
    partita run -n 4 examples/mandelbrot.py           # on four, which are threads
    mpiexec -n 4 python examples/mandelbrot.py        # on four, which are processes
    python examples/mandelbrot.py --numpy             # NumPy

Complex numbers, and a mask that says which points are still on their way.
"""

from picture import HEAT
from script import Script


def escapes(np, size=400, steps=60):
    """How many steps each point stays within a circle of radius 2, and how many never leave."""
    real = np.linspace(-2.0, 0.6, 3 * size // 2)
    imaginary = np.linspace(-1.2, 1.2, size)[:, None]
    c = 1j * imaginary + real
    z = np.zeros_like(c)
    stayed = np.zeros(c.shape, dtype=np.int64)
    for _ in range(steps):
        is_within = z.real**2 + z.imag**2 <= 4.0
        z = np.where(is_within, z * z + c, z)
        stayed += is_within
    return stayed, int(np.count_nonzero(stayed == steps))


def main():
    script = Script(__doc__, "mandelbrot", size=400, steps=60)
    stayed, n_never = script.run(escapes)
    script.say(f"{n_never} of {stayed.size} points have not left")
    script.draw(stayed, HEAT)


if __name__ == "__main__":
    main()
