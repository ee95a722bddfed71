"""What is done to the memory of this rank alone, by native code: no layouts, no movement.

- `sorting`, `choosing`: elements in order; by masks and positions.
- `owners`: positions grouped by who has what is there.
- `matrices`, `fourier`: products and factorisations; transforms.
- `randomness`: numbers that depend on their position alone.
- `sparse`: matrices compressed by rows.
- `even`: elements at addresses that native loops take.
- `threads`: how many of them this rank may use.
"""
