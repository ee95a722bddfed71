"""What others hand over: judged, and taken over.

- `check`: everything that is wrong with an object; `across_ranks`: with those of all ranks.
- `dictionary`: the dictionaries that objects offer.
- `heat`: what Heat's dictionaries do not say themselves.
- `asarray`: taking over whatever is there, by
  - `partitioned`: `from_partitioned`,
  - `distarray`: `from_distarray`,
  - `taking_over`: what both begin and end with.
- `from_local`: an array from what each rank already has.
"""
