"""What options are worth: Black and Scholes for every price of a share and every time left.

    python examples/black_scholes.py                     # partita on one rank
    partita run -n 4 examples/black_scholes.py           # on four, which are threads
    mpiexec -n 4 python examples/black_scholes.py        # on four, which are processes
    python examples/black_scholes.py --numpy             # NumPy

A long expression for each element, and no neighbours: nothing is exchanged. The picture shows what
a call is worth, with the share's price from left to right and the time left from top to bottom.
"""

from picture import HEAT
from script import Script

STRIKE, RATE, VOLATILITY = 100.0, 0.03, 0.25

# Abramowitz and Stegun, 26.2.17: the error is below 7.5e-8.
TAIL = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)


def prices(np, size=1000):
    """Calls, puts, and how far the two are from the parity that must hold between them."""
    share = np.linspace(50.0, 150.0, size)
    years = np.linspace(0.01, 2.0, size)[:, None]
    spread = VOLATILITY * np.sqrt(years)
    likely = (np.log(share / STRIKE) + (RATE + VOLATILITY**2 / 2) * years) / spread
    paid = STRIKE * np.exp(-RATE * years)
    call = share * normal(np, likely) - paid * normal(np, likely - spread)
    put = paid * normal(np, spread - likely) - share * normal(np, -likely)
    gap = float(np.max(np.abs(call - put - (share - paid))))
    return call, put, gap


def normal(np, x):
    """The share of a normal distribution below x."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    polynomial = 0.0
    for factor in reversed(TAIL):
        polynomial = t * (factor + polynomial)
    tail = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * polynomial
    return np.where(x < 0, tail, 1.0 - tail)


def main():
    script = Script(__doc__, "black_scholes", size=1000)
    call, put, gap = script.run(prices)
    script.say(
        f"the dearest call is {float(call.max()):.4f}, the dearest put {float(put.max()):.4f}"
    )
    script.say("parity holds" if gap < 1e-10 else f"parity is missed by {gap}")
    script.draw(call, HEAT)


if __name__ == "__main__":
    main()
