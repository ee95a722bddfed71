"""Arrays whose pieces are handles of a task scheduler: what Dask and Ray share.

- `array`: `TaskArray`, of which `partita.dask` and `partita.ray` have one each.
- `handles`: handles as they are given, sorted out and judged.
- `schedule`: a plan as cuts and joins, and where they run.
- `worker`: those tasks themselves.
- `loans`: parts that stay where they are, for workers of one machine.
- `chunks`: layouts that are grids of chunks.
- `share`: one process's array on every rank of a team; `plain_layouts`: its layout as plain data.
- `ray_references`: how references of Ray come to other processes.
- `cache`: a cache that type checkers see through.
- `html`: what a notebook shows.
"""
