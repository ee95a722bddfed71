"""What is done to the memory of this rank alone, by native code: no team, no layout.

- `choosing`: elements by masks and by positions.
- `fourier`: Fourier transforms.
- `matrices`: products and factorisations.
- `randomness`: random numbers of a position.
- `sorting`: sorting, merging, searching.
"""
