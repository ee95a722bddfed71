"""On which side of a curve is a point: logistic regression by gradient descent.

    python examples/logistic_regression.py                     # partita on one rank
    partita run -n 4 examples/logistic_regression.py           # on four, which are threads
    mpiexec -n 4 python examples/logistic_regression.py        # on four, which are processes
    python examples/logistic_regression.py --numpy             # NumPy

Each rank has some of the points; the ten weights are on all. A step is two products: points with
weights, and what is wrong with points. The picture shows how sure the weights are of each place.
"""

from picture import SEA
from scatter import even
from script import Script

RATE = 4.0


def learn(np, points=30_000, steps=200):
    """The weights, what is lost after every fifty steps, the share told right, and a picture."""
    x, y = (2 * even(np, points, which) - 1 for which in (0, 1))
    table = features(np, x, y)
    is_inside = (y > np.sin(3 * x) / 2).astype(float)
    # One answer in twenty is wrong.
    answer = np.where(even(np, points, 2) < 0.05, 1 - is_inside, is_inside)
    weights = np.zeros(table.shape[1])
    losses = []
    for step in range(1, steps + 1):
        sure = sigmoid(np, table @ weights)
        weights = weights - RATE / points * (table.T @ (sure - answer))
        if step % 50 == 0 or step == steps:
            losses.append(float(-np.mean(np.log(np.where(answer == 1, sure, 1 - sure)))))
    right = float(np.mean((sigmoid(np, table @ weights) > 0.5) == (answer == 1)))
    return weights, losses, right, a_picture(np, weights)


def features(np, x, y):
    """The products of x and y up to the third power, as columns."""
    powers = [(i, j) for i in range(4) for j in range(4 - i)]
    return np.stack([x**i * y**j for i, j in powers], axis=-1)


def sigmoid(np, x):
    """The chance of an answer of 1."""
    return 1 / (1 + np.exp(-x))


def a_picture(np, weights, size=200):
    """How sure the weights are at each place."""
    along = np.linspace(-1, 1, size)
    x, y = np.meshgrid(along, along)
    return sigmoid(np, features(np, x, y) @ weights)


def main():
    script = Script(__doc__, "logistic_regression", points=30_000, steps=200)
    _, losses, right, drawn = script.run(learn)
    script.say(f"loss {', '.join(f'{loss:.6f}' for loss in losses)}")
    script.say(f"{100 * right:.3f} % are told right")
    script.draw(drawn, SEA, low=0, high=1)


if __name__ == "__main__":
    main()
