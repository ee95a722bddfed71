"""Memory of one rank.

- `warm`: fresh arrays that neighbours can reach.
- `bfloat`: bfloat16 as bits, which NumPy cannot hold otherwise.
- `sharing`: whether processes of one machine may touch each other's.
- `views`: other libraries' arrays as NumPy views.
"""
