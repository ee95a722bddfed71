"""Two small galaxies pass each other: every body pulls every other one.

    python examples/nbody.py                     # partita on one rank
    partita run -n 4 examples/nbody.py           # on four, which are threads
    mpiexec -n 4 python examples/nbody.py        # on four, which are processes
    python examples/nbody.py --numpy             # NumPy

Each rank moves its own bodies, and in each step needs the places of all. The steps are leapfrog's,
which keep the energy but for a little that does not grow. The picture shows the bodies at the end.
"""

from picture import HEAT
from scatter import even, seen
from script import Script

SOFT = 0.05  # bodies that are closer than this pull no harder
HEART = 0.7  # how much of a galaxy's mass is in its middle
TIME = 0.0025


def simulate(np, bodies=300, steps=300):
    """Places and velocities at the end, the energy after every hundred steps, and a picture."""
    mass, place, velocity = two_galaxies(np, bodies)
    energies = [energy(np, mass, place, velocity)]
    pull = pulled(np, mass, place)
    for step in range(1, steps + 1):
        velocity = velocity + TIME / 2 * pull
        place = place + TIME * velocity
        pull = pulled(np, mass, place)
        velocity = velocity + TIME / 2 * pull
        if step % 100 == 0:
            energies.append(energy(np, mass, place, velocity))
    return place, velocity, energies, seen(np, place, size=100)


def between(np, place):
    """The way along x and y from each body (rows) to each other (columns), and its square."""
    x, y = (place[None, :, axis] - place[:, None, axis] for axis in (0, 1))
    return x, y, x * x + y * y + SOFT**2


def pulled(np, mass, place):
    """How the speed of each body changes; the mass of each is that of the column."""
    x, y, square = between(np, place)
    strength = mass / (square * np.sqrt(square))
    return np.stack([np.sum(strength * x, axis=1), np.sum(strength * y, axis=1)], axis=1)


def energy(np, mass, place, velocity):
    """Of the movement and of the pull; a body's own share of the latter never changes."""
    moving = np.sum(mass * np.sum(velocity**2, axis=1)) / 2
    _, _, square = between(np, place)
    bound = np.sum(mass[:, None] * mass / np.sqrt(square)) / 2
    return float(moving - bound)


def two_galaxies(np, bodies):
    """Mass, place and velocity: two discs that turn, with half of the bodies each."""
    number = np.arange(bodies)
    side = np.where(number % 2 == 0, -1.0, 1.0)
    is_heart = number < 2
    far = np.where(is_heart, 0.0, 0.1 + 0.2 * np.sqrt(even(np, bodies, 0)))
    turn = 2 * np.pi * even(np, bodies, 1)
    inside = HEART + (1 - HEART) * (far / 0.3) ** 2
    speed = np.sqrt(inside * far**2 / (far**2 + SOFT**2) ** 1.5)
    x = side * 0.45 + far * np.cos(turn)
    y = side * 0.3 + far * np.sin(turn)
    u = -speed * np.sin(turn) - side * 0.9
    v = speed * np.cos(turn)
    mass = np.where(is_heart, HEART, (1 - HEART) / (bodies / 2 - 1))
    return mass, np.stack([x, y], axis=1), np.stack([u, v], axis=1)


def main():
    script = Script(__doc__, "nbody", bodies=300, steps=300)
    _, _, energies, drawn = script.run(simulate)
    script.say(f"energy {energies[0]:.6f} at the start, {energies[-1]:.6f} at the end")
    script.draw(drawn, HEAT, low=0, high=3)


if __name__ == "__main__":
    main()
