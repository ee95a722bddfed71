"""The functions of the Array API and their NumPy names, by what they do.

- `types`, `kinds`: element types, promotion, limits, questions about types; constants.
- `creation`, `grids`: arrays from nothing, from numbers, from shapes; coordinates, positions.
- `likes`: arrays like others.
- `ndarrays`: the class by NumPy's name.
- `elementwise`, `numbers`: what is computed for each element alone, native and made of that;
  `complex_order`: extremes of complex numbers.
- `ufunc`, `ufuncs`: those as objects with NumPy's methods, over `accumulating` and `updating`.
- `manipulation`, `memory_order`, `joining`, `diagonals`: other orders, arrays together and apart.
- `shaping`: other shapes, also in place.
- `padding`, `windows`: margins; windows of signals.
- `statistics`, `moments`, `nans`: sums, means, extremes, running sums; weights; without NaNs;
  `masked`: means and variances of what is left.
- `differences`: slopes, areas, convolutions.
- `searching`, `picking`, `flat`: where elements are; taken and set by positions and choices.
- `locally`, `applying`, `vectorizing`, `bits`: NumPy's functions and users' on each rank's part;
  `enclosed`: arrays that users' functions use.
- `texts`: arrays as text.
- `sorting`: elements in order, and the positions that bring them there.
- `finding`: places in sorted arrays.
- `sets`: different elements, and arrays as sets.
- `order`: medians, quantiles and percentiles; `weighted`: of elements that count more.
- `counting`, `histograms`, `binning`: how often elements occur; the bounds of histograms.
- `polynomials`, `poly1d`: coefficients, which every rank knows; polynomials as objects.
- `products`: of vectors, matrices and stacks; `core_axes`: along which axes; `matmul`: which rank
  multiplies what.
- `einsums`: sums of products by `subscripts`.
- `files`: arrays in files.
- `placing`: where new arrays go.
- `gathered`: what takes whole arrays to every rank, and is counted.
- `looking`: what programs will cost, what they did, how much they may take.
- `inspection`: what the library has of the Array API.
- `interop`: NumPy's own functions on our arrays. `serving`: ours on what serves them itself.
- `methods`: the methods that NumPy's arrays have.
"""
