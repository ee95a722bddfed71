"""Ranks that act together.

- `team`: `Team` and `Grid`.
- `spmd`: how a rank comes to its team: `world`, `spmd`.
- `mpi`: the world of an MPI job.
- `place`: whether this process has the place in a job that its environment speaks of; `exits`: why
  it ends.
- `run`: plans, run on this rank's buffers.
- `routing`: rows that go to any rank; `routes`: again and again, by plans that are kept.
- `alike`: whether ranks were given the same arrays.
- `together`: work that each rank does alone, and whose errors all ranks raise; `known`: which
  errors all ranks know.
- `window`: arrays that ranks read of each other without the owner's help; `shown`, `seen`
  and `far`: those of this process, of others, and of those whose memory is out of reach.
- `wire`: the fixed format of data between ranks; nothing is pickled.
- `addresses`: address and process id of each rank.
"""
