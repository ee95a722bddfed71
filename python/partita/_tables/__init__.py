"""Tables spread over a team.

- `frame`: `Frame`, and the ways to make one.
- `schema`: what all ranks must know alike of a table.
- `columns`: columns as lanes of numbers, and back with the dtype they had.
- `texts`: text as a row of bytes with lengths.
- `column_moves`: one plan per element type of lanes, one for the bytes.
"""
