"""Arrays spread over a team.

- `array`: `Array`.
- `boxes`: layouts of which every rank holds one box.
- `described`: what every array knows of itself without asking anybody.
- `dtypes`: element types by name.
- `enter`: how arrays and other objects come into the engine that computes.
- `export`: how an array is handed on: `__partitioned__` in its dialects, `__distarray__`.
- `held`: what a rank holds of an array: buffers, layout, producer.
- `html`: what a notebook shows.
- `limits`: copies and movements that would take more memory than is allowed.
- `notation`: layouts by notation, for any shape and number of ranks.
- `parts`: a rank's part in the layout that an algorithm needs, and arrays of such parts.
- `place`: where in the user's program something happens.
- `runs`: stretches of a box that lie behind each other in the whole array.
"""
