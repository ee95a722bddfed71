"""The functions of the Array API and their NumPy names, by what they do.

- `types`: element types, promotion, limits; constants.
- `creation`: arrays from nothing, from numbers, from shapes.
- `elementwise`: what is computed for each element alone.
- `manipulation`: other shapes, orders, several arrays together.
- `statistics`: sums, means, extremes, running sums.
- `products`: of vectors, matrices and stacks; `matmul`: which rank multiplies what.
- `einsums`: sums of products by `subscripts`.
- `searching`: where elements are.
- `placing`: where new arrays go.
- `looking`: what programs will cost, what they did, how much they may take.
- `interop`: NumPy's own functions on our arrays, and their text.
- `methods`: the methods that NumPy's arrays have.
"""
