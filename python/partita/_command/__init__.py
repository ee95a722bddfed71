"""The command `partita`.

- `cli`: where it begins.
- `script`: `partita run`. `program`: the same for programs whose ranks are processes.
- `doctor`: what `partita doctor` finds out by trying.
- `check_object`: `partita check MODULE:OBJECT`.
"""
