"""Memory of one rank.

- `warm`: fresh arrays that neighbours can reach.
- `bfloat`: bfloat16 as bits, which NumPy cannot hold otherwise.
- `views`: other libraries' arrays as NumPy views.
"""
