"""The functions of the Array API and their NumPy names, by what they do.

- `types`: element types, promotion, limits; constants.
- `creation`: arrays from nothing, from numbers, from shapes.
- `elementwise`: what is computed for each element alone.
- `manipulation`: other shapes, orders, several arrays together.
- `statistics`: sums, means, extremes, running sums.
- `searching`: where elements are.
- `files`: arrays in files.
- `gathered`: what brings a whole array to every rank, and is counted.
- `placing`: where new arrays go.
- `looking`: what programs will cost, what they did, how much they may take.
- `interop`: NumPy's own functions on our arrays, and their text.
- `methods`: the methods that NumPy's arrays have.
"""
