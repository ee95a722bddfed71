"""Arrays in files that all ranks read and write together, each its own bytes.

- `together`: work that each rank does alone, and whose errors all ranks raise.
- `beside`: a new file under another name, which gets its own when all ranks are done.
- `paths`: what is given as a file.
- `header`: the head of a `.npy` file.
- `parts`: what a rank reads from a file and writes to it.
- `bytes_of`: where a rank's part lies in a file, read and written.
- `npy`: one array in a file: `save`, `load`, `fromfile`, `tofile`.
- `npz`: several arrays in a file: `savez`, `savez_compressed`.
- `text`: `savetxt`, `loadtxt`.
- `in_zarr`: chunks of Zarr.
- `in_hdf5`: datasets of HDF5.

Files do not say how many ranks wrote them; any number reads them.
"""
