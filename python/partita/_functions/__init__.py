"""The functions of the Array API and their NumPy names, by what they do.

- `types`, `kinds`: element types, promotion, limits, questions about types; constants.
- `creation`, `grids`: arrays from nothing, from numbers, from shapes; coordinates, positions.
- `ndarrays`: the class by NumPy's name.
- `elementwise`, `numbers`: what is computed for each element alone, native and made of that.
- `ufunc`, `ufuncs`: those as objects with NumPy's methods, over `accumulating` and `updating`.
- `manipulation`, `joining`, `diagonals`: other shapes, orders, arrays together and apart.
- `padding`, `windows`: margins; windows of signals.
- `statistics`, `moments`, `nans`: sums, means, extremes, running sums; weights; without NaNs.
- `differences`: slopes, areas, convolutions.
- `searching`, `picking`, `flat`: where elements are; taken and set by positions and choices.
- `locally`, `applying`, `bits`: NumPy's functions and users' on each rank's part.
- `gathered`: what brings whole arrays to every rank, counted.
- `texts`: arrays as text.
- `placing`: where new arrays go.
- `looking`: what programs will cost, what they did, how much they may take.
- `interop`: NumPy's own functions on our arrays.
- `methods`: the methods that NumPy's arrays have.
"""
