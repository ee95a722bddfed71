"""Algorithms on the ranks of a team, between the functions and each rank's memory.

- `rows`: elements in a row over the ranks, and arrays of such rows.
- `lines`: what is done to each line along an axis, on the rank that has it whole.
- `selection`: where sorted rows are cut so that all ranks together have a given order.
- `sample_sort`: rows sorted over the ranks.
- `distinct`: different elements, how often and where they are.
- `quantiles`: elements at given places of the order.
- `lookup`: places in a sorted row that is cut.
- `totals`: each rank's counts added up.
"""
