"""Sparse tensors in files that other programs read and write too.

- `header`: the head of a Matrix Market file. `stretch`: a rank's lines of a text.
  `parsing`: lines as numbers. `damage`: which line is no such.
- `market`: Matrix Market, read by all ranks. `market_out`: written by all ranks.
- `archive`: SciPy's `.npz`, read and written.
"""
