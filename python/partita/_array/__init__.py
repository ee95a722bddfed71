"""Arrays spread over a team.

- `array`: `Array`.
- `described`: what every array knows of itself without asking anybody.
- `export`: how an array is handed on: `__partitioned__` in its dialects, `__distarray__`.
- `html`: what a notebook shows.
"""
