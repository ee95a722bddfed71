"""The functions of the Array API and their NumPy names, by what they do.

- creation: arrays from nothing, from numbers, from shapes.
- elementwise: what is computed for each element alone.
- statistics: sums, means, extremes, running sums.
- manipulation: other shapes, orders, several arrays together.
- searching: where elements are.
- types: element types, promotion, limits; constants.
"""
