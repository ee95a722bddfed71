"""The functions of the Array API and their NumPy names, by what they do.

- `types`: element types, promotion, limits; constants.
- `creation`: arrays from nothing, from numbers, from shapes.
- `likes`: arrays like others.
- `elementwise`: what is computed for each element alone.
- `manipulation`: other shapes, orders, several arrays together.
- `statistics`: sums, means, extremes, running sums.
- `searching`: where elements are.
- `indexing`: elements at given positions.
- `differences`: how far elements are from their neighbours.
- `placing`: where new arrays go.
- `gathered`: what takes whole arrays to every rank, and is counted.
- `looking`: what programs will cost, what they did, how much they may take.
- `inspection`: what the library has of the Array API.
- `interop`: NumPy's own functions on our arrays, and their text.
- `methods`: the methods that NumPy's arrays have.
"""
