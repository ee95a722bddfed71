"""The command `partita`.

- `cli`: where it begins.
- `script`: `partita run`.
- `doctor`: what `partita doctor` finds out by trying.
- `check_object`: `partita check MODULE:OBJECT`.
"""
