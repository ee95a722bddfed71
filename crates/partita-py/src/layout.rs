//! The class `Layout`.

use partita_layout as core;
use partita_layout::{Form, GridSpec, Part, RanksSpec, Slice};
use partita_picture::layout as picture;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

use crate::arrays::{Output, Rows, apart};
use crate::convert::{BufferNumber, clip, indices, items, natural, naturals, several};
use crate::errors::{OrRaise, layout_error};
use crate::maps::{read_map, write_map};
use crate::moves::Run;
use crate::pieces::Pieces;

/// Which rank holds which elements of an array, and which rank owns each element.
///
/// `Layout(shape, "block, cyclic(64) @ 2x2")`, or maps as objects with `grid=(2, 2)`.
#[pyclass(frozen, eq, hash, module = "partita")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    pub core: core::Layout,
}

#[pymethods]
impl Layout {
    #[new]
    #[pyo3(signature = (shape, maps, *, grid=None, ranks=None, partial=None))]
    fn new(
        shape: &Bound<'_, PyAny>,
        maps: &Bound<'_, PyAny>,
        grid: Option<&Bound<'_, PyAny>>,
        ranks: Option<&Bound<'_, PyAny>>,
        partial: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = shape.py();
        let shape = naturals(shape, "shape")?;
        let mut spec = match maps.cast::<PyString>() {
            Ok(notation) => core::parse_notation(&notation.to_string()).or_raise(py)?,
            Err(_) => GridSpec {
                maps: items(maps, "maps")?.iter().map(read_map).collect::<PyResult<_>>()?,
                ..GridSpec::default()
            },
        };
        if let Some(grid) = grid {
            twice(py, spec.grid.is_some(), "grid")?;
            spec.grid = Some(naturals(grid, "grid")?);
        }
        if let Some(ranks) = ranks {
            twice(py, spec.ranks.is_some(), "ranks")?;
            spec.ranks = Some(read_ranks(ranks)?);
        }
        if let Some(partial) = partial {
            let axes = naturals(partial, "partial")?;
            twice(py, !spec.partial.is_empty() && !axes.is_empty(), "partial")?;
            spec.partial.extend(axes.into_iter().map(|axis| axis as usize));
        }
        Ok(Self { core: core::Layout::new(&shape, &spec).or_raise(py)? })
    }

    /// Make a layout from boxes: for each rank, a list of (start, shape).
    ///
    /// A box may be followed by the start and shape of the part that the rank owns.
    #[classmethod]
    #[pyo3(signature = (shape, boxes, *, ranks=None))]
    fn from_boxes(
        _: &Bound<'_, PyType>,
        shape: &Bound<'_, PyAny>,
        boxes: &Bound<'_, PyAny>,
        ranks: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = shape.py();
        let shape = naturals(shape, "shape")?;
        let mut pieces = Vec::new();
        for own in items(boxes, "boxes")? {
            let own = items(&own, "boxes")?;
            pieces.push(own.iter().map(read_box).collect::<PyResult<Vec<_>>>()?);
        }
        let ranks = ranks.map(|ranks| naturals(ranks, "ranks")).transpose()?;
        let core = core::Layout::from_boxes(&shape, pieces, ranks.as_deref()).or_raise(py)?;
        Ok(Self { core })
    }

    /// Shape of the whole array.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.core.shape())
    }

    /// Number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.core.ndim()
    }

    /// Length of each grid axis.
    #[getter]
    fn grid_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.core.grid_shape())
    }

    /// Number of ranks.
    #[getter]
    fn n_ranks(&self) -> u64 {
        self.core.n_ranks()
    }

    /// The ranks in grid order; a range if they form one.
    #[getter]
    fn ranks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.core.ranks() {
            core::Ranks::Range { first, count } => {
                py.import("builtins")?.call_method1("range", (*first, first + count))
            }
            core::Ranks::List { ranks, .. } => Ok(PyTuple::new(py, ranks.iter())?.into_any()),
        }
    }

    /// Grid axes whose ranks hold summands.
    #[getter]
    fn partial<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match self.core.form() {
            Form::Grid(form) => PyTuple::new(py, form.grid().partial_axes()),
            Form::Boxes(_) => Ok(PyTuple::empty(py)),
        }
    }

    /// The map of each dimension; None for boxes.
    #[getter]
    fn maps<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Form::Grid(form) = self.core.form() else { return Ok(None) };
        let maps: Vec<_> =
            form.dims().iter().map(|dim| write_map(py, dim.map())).collect::<PyResult<_>>()?;
        PyTuple::new(py, maps).map(Some)
    }

    /// The layout in the notation; for lists and boxes, a description that does not parse.
    #[getter]
    fn notation(&self) -> String {
        self.core.notation()
    }

    /// Number of local buffers of a rank: one, or one per box.
    fn n_buffers(&self, rank: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.core.n_buffers(natural(rank, "rank")?).or_raise(rank.py())
    }

    /// Shape of a rank's local buffer, halo included.
    #[pyo3(signature = (rank, *, buffer=BufferNumber(0)), text_signature = "($self, rank, *, buffer=0)")]
    fn local_shape<'py>(
        &self,
        rank: &Bound<'py, PyAny>,
        buffer: BufferNumber,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let shape = self.core.local_shape(natural(rank, "rank")?, buffer.0).or_raise(rank.py())?;
        PyTuple::new(rank.py(), shape)
    }

    /// Number of elements that a rank owns.
    fn n_owned(&self, rank: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.core.n_owned(natural(rank, "rank")?).or_raise(rank.py())
    }

    /// Number of elements that a rank holds, halo included.
    fn n_held(&self, rank: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.core.n_held(natural(rank, "rank")?).or_raise(rank.py())
    }

    /// The boxes of global indices that a rank holds, as a lazy sequence.
    fn pieces(&self, rank: &Bound<'_, PyAny>) -> PyResult<Pieces> {
        let core = self.core.pieces(natural(rank, "rank")?).or_raise(rank.py())?;
        Ok(Pieces { core })
    }

    /// Rank that owns a global index; if it is replicated, the first on the grid.
    fn owner(&self, index: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.core.owner(&indices(index, "index")?).or_raise(index.py())
    }

    /// Rank, buffer and local index of the owner of one global index.
    fn locate_one<'py>(
        &self,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<(u64, usize, Bound<'py, PyTuple>)> {
        let py = index.py();
        let found = self.core.locate_one(&indices(index, "index")?).or_raise(py)?;
        Ok((found.rank, found.buffer, PyTuple::new(py, found.local)?))
    }

    /// Owners of many global indices: (n, ndim) int64 -> ranks (n,), local indices (n, ndim).
    ///
    /// `out` is a pair of such int64 arrays to write to, which avoids allocating new ones.
    #[pyo3(signature = (indices, *, out=None))]
    fn locate<'py>(
        &self,
        indices: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = indices.py();
        let ndim = self.core.ndim();
        let rows = Rows::new(indices, ndim)?;
        let shapes = (vec![rows.n_rows], vec![rows.n_rows, ndim]);
        let (mut ranks, mut local) = match out {
            Some(out) => {
                let [ranks, local] = several(out, "out")?;
                (Output::given(ranks, &shapes.0)?, Output::given(local, &shapes.1)?)
            }
            None => (Output::fresh(py, &shapes.0)?, Output::fresh(py, &shapes.1)?),
        };
        apart(&[rows.memory(), ranks.memory(), local.memory()])
            .map_err(|message| layout_error(py, message, "out-overlap"))?;
        let (numbers, to_ranks, to_local) = (rows.numbers(), ranks.numbers(), local.numbers());
        py.detach(|| self.core.locate(numbers, to_ranks, to_local)).or_raise(py)?;
        Ok((ranks.array, local.array))
    }

    /// Global indices of positions in a rank's buffer: (n, ndim) int64 -> (n, ndim) int64.
    #[pyo3(signature = (rank, local, *, buffer=BufferNumber(0)), text_signature = "($self, rank, local, *, buffer=0)")]
    fn globalize<'py>(
        &self,
        rank: &Bound<'py, PyAny>,
        local: &Bound<'py, PyAny>,
        buffer: BufferNumber,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = rank.py();
        let rank = natural(rank, "rank")?;
        let ndim = self.core.ndim();
        let rows = Rows::new(local, ndim)?;
        let mut global = Output::fresh(py, &[rows.n_rows, ndim])?;
        let (numbers, into) = (rows.numbers(), global.numbers());
        py.detach(|| self.core.globalize((rank, buffer.0), numbers, into)).or_raise(py)?;
        Ok(global.array)
    }

    /// What a rank holds of a slice: per dimension, runs from slice entries to buffer positions.
    #[pyo3(signature = (rank, offsets, sizes, strides))]
    fn meet_slice(
        &self,
        rank: &Bound<'_, PyAny>,
        offsets: &Bound<'_, PyAny>,
        sizes: &Bound<'_, PyAny>,
        strides: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Vec<Run>>> {
        let py = rank.py();
        let Form::Grid(form) = self.core.form() else {
            let message = "a slice of a box layout; redistribute to a grid layout first";
            return Err(layout_error(py, message, "slice-of-boxes"));
        };
        let rank = natural(rank, "rank")?;
        let (offsets, sizes) = (naturals(offsets, "offset")?, naturals(sizes, "size")?);
        let strides = indices(strides, "stride")?;
        let ndim = self.core.ndim();
        for n_given in [offsets.len(), sizes.len(), strides.len()] {
            if n_given != ndim {
                return Err(core::LayoutError::SliceNdim { n_given, ndim }).or_raise(py);
            }
        }
        let place = self.core.place_of(rank).or_raise(py)?;
        let at = form.grid().place(place, ndim);
        (0..ndim)
            .map(|dim| {
                let slice = Slice::new(offsets[dim], sizes[dim], strides[dim]);
                let map = &form.dims()[dim];
                slice.check(dim, map.extent()).or_raise(py)?;
                let runs = slice.meet(map, at.coordinates[dim], Part::Held).or_raise(py)?;
                Ok(runs.into_iter().map(|core| Run { core }).collect())
            })
            .collect()
    }

    /// The layout as SVG.
    fn draw(&self) -> String {
        picture::svg(&self.core)
    }

    fn _repr_svg_(&self) -> String {
        self.draw()
    }

    fn _repr_html_(&self) -> String {
        picture::html(&self.core)
    }

    fn __str__(&self) -> String {
        picture::text(&self.core, picture::TextStyle::default())
    }

    fn __repr__(&self) -> String {
        let shape = clip(&shape_words(self.core.shape()), 40);
        let room = 80 - "Layout(, \"\")".len() - shape.chars().count();
        let notation = clip(&self.core.notation(), room);
        format!("Layout({shape}, \"{notation}\")")
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let this = slf.get();
        let rebuild = py.import("partita._unpickle")?;
        let ranks = this.ranks(py)?;
        if let Form::Boxes(boxes) = this.core.form() {
            let pieces: Vec<Vec<_>> = (0..this.core.n_ranks())
                .map(|place| boxes.pieces(place).iter().map(box_words).collect())
                .collect();
            let args = (this.shape(py)?, pieces, ranks).into_pyobject(py)?;
            return Ok((rebuild.getattr("boxes")?, args));
        }
        let args =
            (this.shape(py)?, this.maps(py)?, this.grid_shape(py)?, ranks, this.partial(py)?);
        Ok((rebuild.getattr("layout")?, args.into_pyobject(py)?))
    }
}

type BoxWords = (Vec<u64>, Vec<u64>, Vec<u64>, Vec<u64>);

fn box_words(piece: &core::BoxPiece) -> BoxWords {
    let (held, owned) = (piece.held.clone(), piece.owned.clone());
    (held.start, held.shape, owned.start, owned.shape)
}

fn shape_words(shape: &[u64]) -> String {
    let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
    if extents.len() == 1 {
        format!("({},)", extents[0])
    } else {
        format!("({})", extents.join(", "))
    }
}

/// A sequence of ranks; a range is never listed.
fn read_ranks(value: &Bound<'_, PyAny>) -> PyResult<RanksSpec> {
    let range = value.py().import("builtins")?.getattr("range")?;
    if value.is_instance(&range)? && value.getattr("step")?.eq(1)? {
        let (start, stop) = (value.getattr("start")?, value.getattr("stop")?);
        let start = natural(&start, "ranks")?;
        return Ok(RanksSpec::Range(start, natural(&stop, "ranks")?.max(start)));
    }
    naturals(value, "ranks").map(RanksSpec::List)
}

fn twice(py: Python<'_>, is_given: bool, what: &str) -> PyResult<()> {
    if !is_given {
        return Ok(());
    }
    let message = format!("{what} stands in the notation and as an argument; give it once");
    Err(layout_error(py, &message, &format!("{what}-twice")))
}

fn read_box(value: &Bound<'_, PyAny>) -> PyResult<core::BoxPiece> {
    let parts = items(value, "box")?;
    let read = |at: usize| naturals(&parts[at], "box");
    match parts.len() {
        2 => Ok(core::BoxPiece::new(&read(0)?, &read(1)?)),
        4 => Ok(core::BoxPiece {
            held: core::IndexBox::new(&read(0)?, &read(1)?),
            owned: core::IndexBox::new(&read(2)?, &read(3)?),
        }),
        n_given => {
            let message = format!(
                "a box of {n_given} parts; use (start, shape) or (start, shape, owned_start, owned_shape)"
            );
            Err(layout_error(value.py(), &message, "box-parts"))
        }
    }
}
