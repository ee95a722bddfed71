"""Elements at positions that are known only when they are computed: index arrays and masks.

- `keys`: what an index says.
- `rows`: an array as rows of which each rank has some.
- `truth`: where masks are true.
- `taking`: rows at positions that any rank may have.
- `access`: `a[key]` and `a[key] = value`, which the native class calls.
"""
