"""Arrays in files that all ranks read and write together, each its own bytes.

- `beside`: a new file under another name, which gets its own when all ranks are done.
- `paths`: what is given as a file.
- `header`: the head of a `.npy` file.
- `parts`: what a rank reads from a file and writes to it.
- `bytes_of`: rows of elements at bytes of a file.
- `npy`: one array in a file: `save`, `load`, `fromfile`, `tofile`.
- `npz`: several arrays in a file: `savez`, `savez_compressed`.
- `text`: `savetxt`, `loadtxt`.
- `boxed`: arrays of other libraries' files, box by box.
- `packages`: those that some files need, and how to get them.
- `in_zarr`: chunks of Zarr.
- `in_hdf5`: datasets of HDF5.

Files do not say how many ranks wrote them; any number reads them.
"""
