"""Ranks that act together.

- `team`: `Team` and `Grid`.
- `spmd`: how a rank comes to its team: `world`, `spmd`.
- `mpi`: the world of an MPI job.
- `place`: whether this process has the place in a job that its environment speaks of.
- `run`: plans, run on this rank's buffers.
- `routing`: rows that go to any rank.
- `together`: work that each rank does alone, and whose errors all ranks raise.
- `wire`: the fixed format of data between ranks; nothing is pickled.
- `addresses`: address and process id of each rank.
"""
