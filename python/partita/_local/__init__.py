"""What is done to the memory of this rank alone, by native code: no layouts, no movement.

- `sorting`, `choosing`: elements in order; by masks and positions.
- `matrices`, `fourier`: products and factorisations; transforms.
- `randomness`: numbers that depend on their position alone.
- `threads`: how many of them this rank may use.
"""
