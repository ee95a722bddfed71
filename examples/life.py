"""Conway's Game of Life: a gun shoots gliders, and five cells take a thousand turns to settle.

    python examples/life.py                     # partita on one rank
    partita run -n 4 examples/life.py           # on four, which are threads
    mpiexec -n 4 python examples/life.py        # on four, which are processes
    python examples/life.py --numpy             # NumPy

A cell lives in the next turn if three of its eight neighbours live, or two and the cell itself.
Nothing lives on the edge of the board.
"""

from picture import INK
from script import Script

GUN = """
........................O...........
......................O.O...........
............OO......OO............OO
...........O...O....OO............OO
OO........O.....O...OO..............
OO........O...O.OO....O.O...........
..........O.....O.......O...........
...........O...O....................
............OO......................
"""
FIVE_CELLS = """
.OO
OO.
.O.
"""


def play(np, size=256, steps=500):
    """The board at the end, and how many cells lived after every hundred turns."""
    board = np.zeros((size, size), dtype=np.uint8)
    put(board, GUN, 2, 2)
    put(board, FIVE_CELLS, size // 2, 2 * size // 3)
    counts = [int(board.sum())]
    for step in range(1, steps + 1):
        rows = board[:-2] + board[1:-1] + board[2:]
        around = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]  # the cell itself is counted, too
        cells = board[1:-1, 1:-1]
        cells[...] = (around == 3) | ((around == 4) & (cells == 1))
        if step % 100 == 0:
            counts.append(int(board.sum()))
    return board, counts


def put(board, pattern, row, column):
    """Let the cells of a pattern live."""
    cells = [[int(cell == "O") for cell in line] for line in pattern.split()]
    board[row : row + len(cells), column : column + len(cells[0])] = cells


def main():
    script = Script(__doc__, "life", size=256, steps=500)
    board, counts = script.run(play)
    script.say(f"living cells: {', '.join(map(str, counts))}")
    script.draw(board, INK)


if __name__ == "__main__":
    main()
