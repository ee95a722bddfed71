//! The protocols: dictionaries in, findings, tables and layouts out.

#![allow(clippy::needless_pass_by_value, reason = "Python's arguments come by value")]

use partita_protocol::check::{self, Origin};
use partita_protocol::distarray::{self, Block, Dim, Distarray, Edge, Rule};
use partita_protocol::partitioned::{self, Holders, Summary, Table};
use partita_protocol::{Finding, Findings, Location, ProtocolError, Strictness, Value};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::layout::Layout;
use crate::values::Reader;

/// Path, reason and message.
type Found = (String, &'static str, String);

fn found(findings: Vec<Finding>) -> Vec<Found> {
    findings.into_iter().map(|one| (one.path, one.reason, one.message)).collect()
}

fn strictness(strict: bool) -> Strictness {
    if strict { Strictness::Strict } else { Strictness::Lenient }
}

pub(crate) fn protocol_error(py: Python<'_>, error: &ProtocolError) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let class = py.import("partita._errors")?.getattr("ProtocolError")?;
        Ok(PyErr::from_value(class.call1((error.to_string(), error.reason()))?))
    };
    make().unwrap_or_else(|error| error)
}

/// Judges one dictionary, or those of all ranks.
#[pyfunction]
pub(crate) fn check_dicts(
    py: Python<'_>,
    dicts: Vec<Bound<'_, PyAny>>,
    are_ranks: bool,
    strict: bool,
) -> PyResult<Vec<Found>> {
    let mut reader = Reader::new(py);
    let values: Vec<Value> =
        dicts.iter().map(|dict| reader.dictionary(dict)).collect::<PyResult<_>>()?;
    let strictness = strictness(strict);
    let findings = py.detach(|| match &values[..] {
        [value] if !are_ranks => check::one(value, Origin::Live, strictness),
        _ => check::ranks(&values, Origin::Live, strictness),
    });
    Ok(found(findings))
}

/// A `__partitioned__` dictionary that passed.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct Partitions {
    read: partitioned::Partitioned,
    objects: Vec<Py<PyAny>>,
}

/// Reads a `__partitioned__` dictionary: the problems, or what it says.
#[pyfunction]
pub(crate) fn read_partitioned(
    py: Python<'_>,
    value: &Bound<'_, PyAny>,
) -> PyResult<(Vec<Found>, Option<Partitions>)> {
    let mut reader = Reader::new(py);
    let value = reader.dictionary(value)?;
    let mut findings = Findings::new(Strictness::Lenient);
    let read = py.detach(|| partitioned::read(&value, Origin::Live, &mut findings));
    let objects = reader.objects.into_iter().map(Bound::unbind).collect();
    let read = read.map(|read| Partitions { read, objects });
    Ok((found(findings.into_list()), read))
}

/// Rank, address, process id and device of a place.
type PlainLocation = (Option<u64>, Option<String>, Option<u64>, Option<(u32, u32)>);

fn place(location: &Location) -> PlainLocation {
    let device = location.device.map(|device| (device.code, device.index));
    (location.rank, location.ip.as_deref().map(str::to_string), location.pid, device)
}

fn as_it_came<'py>(py: Python<'py>, location: &Location) -> PyResult<Bound<'py, PyAny>> {
    let ip = location.ip.as_deref();
    Ok(match (ip, location.pid, location.device_words.as_deref()) {
        (Some(ip), Some(pid), Some(device)) => (ip, pid, device).into_pyobject(py)?.into_any(),
        (Some(ip), Some(pid), None) => (ip, pid).into_pyobject(py)?.into_any(),
        (Some(ip), None, _) => ip.into_pyobject(py)?.into_any(),
        (None, _, _) => location.rank.into_pyobject(py)?.into_any(),
    })
}

#[pymethods]
impl Partitions {
    /// Extents of the array.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.read.table.shape())
    }

    /// Partitions per dimension.
    #[getter]
    fn tiling<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.read.table.tiling())
    }

    /// Where the rows of each dimension begin, and its extent.
    #[getter]
    fn bounds(&self) -> Vec<Vec<u64>> {
        self.read.table.bounds().to_vec()
    }

    /// Numbers of the local partitions in C order of the grid; None if it is not SPMD.
    #[getter]
    fn locals(&self) -> Option<Vec<u64>> {
        self.read.locals.clone()
    }

    /// Name of the element type, if it is known without fetching anything.
    #[getter]
    fn dtype(&self) -> Option<&str> {
        self.read.dtype.as_deref()
    }

    fn __len__(&self) -> usize {
        self.read.entries.len()
    }

    /// What other ranks need to know, as plain data: shape, tiling, bounds, locals, element type.
    fn plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (table, numbers) = (&self.read.table, |list: &Vec<u64>| to_array(py, list));
        let bounds = table.bounds().iter().map(numbers).collect::<PyResult<Vec<_>>>()?;
        let locals = self.read.locals.as_ref().map(numbers).transpose()?;
        let dtype = self.read.dtype.as_deref();
        (self.shape(py)?, self.tiling(py)?, PyTuple::new(py, bounds)?, locals, dtype)
            .into_pyobject(py)
    }

    /// Position of a partition.
    fn position<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.read.table.position(number))
    }

    /// Shape of a partition.
    fn part_shape<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.read.table.part(&self.read.table.position(number)).1)
    }

    /// Position, start and shape of every partition, in C order.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Vec<PlainPartition<'py>>> {
        let table = &self.read.table;
        let part = |number: u64| {
            let position = table.position(number);
            let (start, shape) = table.part(&position);
            Ok((PyTuple::new(py, position)?, PyTuple::new(py, start)?, PyTuple::new(py, shape)?))
        };
        (0..table.n_partitions()).map(part).collect()
    }

    /// Whether arrays have the shapes of some partitions, and all one element type.
    fn fit(&self, numbers: Vec<u64>, arrays: Vec<Bound<'_, PyAny>>) -> PyResult<bool> {
        let Some(first) = arrays.first() else { return Ok(true) };
        let py = first.py();
        let dtype = first.getattr(intern!(py, "dtype"))?;
        for (number, array) in numbers.into_iter().zip(&arrays) {
            let shape = array.getattr(intern!(py, "shape"))?;
            let shape = shape.cast::<PyTuple>().map_err(PyErr::from)?;
            let (_, wanted) = self.read.table.part(&self.read.table.position(number));
            let is_same = |(at, extent): (usize, &u64)| {
                shape
                    .get_item(at)
                    .and_then(|found| found.extract::<u64>())
                    .is_ok_and(|n| n == *extent)
            };
            let fits = shape.len() == wanted.len() && wanted.iter().enumerate().all(is_same);
            if !fits || !array.getattr(intern!(py, "dtype"))?.is(&dtype) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The data of some partitions, by number.
    fn data(&self, py: Python<'_>, numbers: Vec<usize>) -> Vec<Option<Py<PyAny>>> {
        let object = |number: usize| {
            let at = self.read.entries.get(number)?.data?;
            self.objects.get(at).map(|object| object.clone_ref(py))
        };
        numbers.into_iter().map(object).collect()
    }

    /// Where a partition is: (rank, ip, pid, device) of each place.
    fn locations(&self, number: usize) -> Vec<PlainLocation> {
        self.read
            .entries
            .get(number)
            .map_or(Vec::new(), |entry| entry.locations.iter().map(place).collect())
    }

    /// The same places as the producer wrote them: ranks, addresses, or tuples.
    fn places<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let locations = self.read.entries.get(number).map_or(&[][..], |entry| &entry.locations);
        locations.iter().map(|location| as_it_came(py, location)).collect()
    }

    /// The first rank or address that each partition names.
    fn first_places(&self) -> Vec<Option<PlainLocation>> {
        self.read.entries.iter().map(|entry| entry.locations.first().map(place)).collect()
    }

    /// The layout in which each rank holds the partitions of its list, by number.
    fn layout(&self, py: Python<'_>, holders: Vec<Vec<u64>>) -> PyResult<Layout> {
        let core = py.detach(|| self.read.table.layout(&holders));
        Ok(Layout { core: core.map_err(|error| protocol_error(py, &error))? })
    }
}

/// Indices as an array that travels well; they are at most 2^63, and come back as they were.
fn to_array<'py>(py: Python<'py>, numbers: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    crate::arrays::from_numbers(py, numbers.iter().map(|number| number.cast_signed()))
}

fn from_array(array: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let rows = crate::arrays::Rows::new(array, 1)?;
    Ok(rows.numbers().iter().map(|number| number.cast_unsigned()).collect())
}

/// Shape, tiling, bounds, locals, element type.
type PlainParts<'py> =
    (Vec<u64>, Vec<u64>, Vec<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>, Option<String>);

fn read_summary((shape, tiling, bounds, locals, dtype): PlainParts<'_>) -> PyResult<Summary> {
    let bounds = bounds.iter().map(from_array).collect::<PyResult<_>>()?;
    let locals = locals.as_ref().map(from_array).transpose()?;
    Ok(Summary { table: Table::new(shape, tiling, bounds), locals, dtype })
}

/// Numbers of the partitions that are local to each rank.
type Locals = Vec<Vec<u64>>;

/// Compares what the ranks' dictionaries say: the problems, or each rank's local partitions.
///
/// None instead of these where the dictionaries are not SPMD.
#[pyfunction]
pub(crate) fn join_partitioned(
    ranks: Vec<PlainParts<'_>>,
) -> PyResult<(Vec<Found>, Option<Locals>)> {
    let read = ranks.into_iter().map(|one| read_summary(one).map(Some));
    let read = read.collect::<PyResult<Vec<_>>>()?;
    let mut findings = Findings::new(Strictness::Lenient);
    partitioned::check_ranks(&read, &mut findings);
    if findings.count() > 0 {
        return Ok((found(findings.into_list()), None));
    }
    let sorted = |mut locals: Vec<u64>| {
        locals.sort_unstable();
        locals
    };
    let locals = read.into_iter().flatten().map(|one| one.locals.map(sorted));
    Ok((Vec::new(), locals.collect()))
}

/// Position, start and shape of a partition.
type PlainPartition<'py> = (Bound<'py, PyTuple>, Bound<'py, PyTuple>, Bound<'py, PyTuple>);

/// The partitions of a layout, and who holds them.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct PartitionTable {
    holders: Holders,
}

/// Position, buffer, local start and shape of a partition that a rank holds.
type HeldWords<'py> = (Bound<'py, PyTuple>, usize, Bound<'py, PyTuple>, Bound<'py, PyTuple>);
/// Position, start, shape and ranks of a partition.
type PartWords<'py> = (Bound<'py, PyTuple>, Bound<'py, PyTuple>, Bound<'py, PyTuple>, Vec<u64>);

#[pymethods]
impl PartitionTable {
    #[new]
    fn new(py: Python<'_>, layout: &Layout) -> PyResult<Self> {
        let holders = Holders::new(&layout.core).map_err(|error| protocol_error(py, &error))?;
        Ok(Self { holders })
    }

    /// Partitions per dimension.
    #[getter]
    fn tiling<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.holders.table.tiling())
    }

    /// Position, start, shape and ranks of every partition, in C order.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Vec<PartWords<'py>>> {
        let table = &self.holders.table;
        let part = |number: u64| {
            let position = table.position(number);
            let (start, shape) = table.part(&position);
            let ranks = self.holders.ranks(&position);
            let tuple = |numbers: Vec<u64>| PyTuple::new(py, numbers);
            Ok((tuple(position)?, tuple(start)?, tuple(shape)?, ranks))
        };
        (0..table.n_partitions()).map(part).collect()
    }

    /// The partitions that a rank holds: position, buffer, local start and shape of each.
    fn of_rank<'py>(&self, py: Python<'py>, rank: u64) -> PyResult<Vec<HeldWords<'py>>> {
        let tuple = |numbers: Vec<u64>| PyTuple::new(py, numbers);
        let held = self.holders.of_rank(rank).into_iter();
        held.map(|one| {
            Ok((tuple(one.position)?, one.buffer, tuple(one.local_start)?, tuple(one.shape)?))
        })
        .collect()
    }
}

/// A `__distarray__` dictionary that passed.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct DistDict {
    read: Distarray,
    buffer: Py<PyAny>,
}

/// Reads one rank's `__distarray__` dictionary: the problems, or what it says.
#[pyfunction]
pub(crate) fn read_distarray(
    py: Python<'_>,
    value: &Bound<'_, PyAny>,
) -> PyResult<(Vec<Found>, Option<DistDict>)> {
    let mut reader = Reader::new(py);
    let value = reader.dictionary(value)?;
    let mut findings = Findings::new(Strictness::Lenient);
    let read = distarray::read(&value, Origin::Live, &mut findings);
    let read = read.and_then(|read| {
        let buffer = reader.objects.get(read.buffer)?.clone().unbind();
        Some(DistDict { read, buffer })
    });
    Ok((found(findings.into_list()), read))
}

#[pymethods]
impl DistDict {
    /// The buffer.
    #[getter]
    fn buffer(&self, py: Python<'_>) -> Py<PyAny> {
        self.buffer.clone_ref(py)
    }

    /// Widths of the padding at the ends of the array, per dimension.
    #[getter]
    fn boundary(&self) -> Vec<(u64, u64)> {
        let boundary = |dim: &Dim| match &dim.rule {
            Rule::Block(block) => block.boundary,
            _ => (0, 0),
        };
        self.read.dims.iter().map(boundary).collect()
    }

    /// What other ranks need to know, as plain data.
    fn plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let dims = self.read.dims.iter().map(|dim| plain_dim(py, dim));
        let dims = PyTuple::new(py, dims.collect::<PyResult<Vec<_>>>()?)?;
        (self.read.dtype.as_deref(), dims).into_pyobject(py)
    }
}

/// Size, grid size, grid rank, kind, numbers, flags, indices.
fn plain_dim<'py>(py: Python<'py>, dim: &Dim) -> PyResult<Bound<'py, PyTuple>> {
    let (kind, numbers, flags, indices) = match &dim.rule {
        Rule::Block(b) => {
            let numbers = vec![b.start, b.stop, b.halo.0, b.halo.1, b.boundary.0, b.boundary.1];
            ("b", numbers, (b.periodic, b.edge == Edge::Outside), None)
        }
        Rule::Cyclic { block, start } => ("c", vec![*block, *start], (false, false), None),
        Rule::Unstructured { indices, one_to_one } => {
            let array = crate::arrays::from_numbers(py, indices.iter().copied())?;
            ("u", Vec::new(), (*one_to_one, false), Some(array))
        }
    };
    (dim.size, dim.grid_size, dim.grid_rank, kind, numbers, flags, indices).into_pyobject(py)
}

type PlainDim<'py> = (u64, u64, u64, String, Vec<u64>, (bool, bool), Option<Bound<'py, PyAny>>);

fn read_plain(value: PlainDim<'_>) -> PyResult<Dim> {
    let (size, grid_size, grid_rank, kind, numbers, flags, indices) = value;
    let rule = match (kind.as_str(), &numbers[..]) {
        ("b", &[start, stop, left, right, first, last]) => {
            let edge = if flags.1 { Edge::Outside } else { Edge::Inside };
            let (halo, boundary) = ((left, right), (first, last));
            Rule::Block(Block { start, stop, halo, boundary, periodic: flags.0, edge })
        }
        ("c", &[block, start]) => Rule::Cyclic { block, start },
        _ => {
            let rows = indices.map(|array| crate::arrays::Rows::new(&array, 1)).transpose()?;
            let indices = rows.map_or_else(Vec::new, |rows| rows.numbers().to_vec()).into();
            Rule::Unstructured { indices, one_to_one: flags.0 }
        }
    };
    Ok(Dim { size, grid_size, grid_rank, rule })
}

type PlainRank<'py> = (Option<String>, Vec<PlainDim<'py>>);

/// Fits the dictionaries of all ranks together: the problems, or the layout and that of its halos.
#[pyfunction]
pub(crate) fn join_distarrays(
    py: Python<'_>,
    ranks: Vec<PlainRank<'_>>,
) -> PyResult<(Vec<Found>, Option<Layout>, Option<Layout>)> {
    let mut read = Vec::with_capacity(ranks.len());
    for (dtype, dims) in ranks {
        let dims = dims.into_iter().map(read_plain).collect::<PyResult<Vec<Dim>>>()?;
        read.push(Some(Distarray { dims, dtype: dtype.map(Into::into), buffer: 0 }));
    }
    let mut findings = Findings::new(Strictness::Lenient);
    distarray::check_ranks(&read, &mut findings);
    if findings.count() > 0 {
        return Ok((found(findings.into_list()), None, None));
    }
    let read: Vec<Distarray> = read.into_iter().flatten().collect();
    let layouts = distarray::layouts(&read).map_err(|error| protocol_error(py, &error))?;
    let wrap = |core| Layout { core };
    Ok((Vec::new(), Some(wrap(layouts.layout)), layouts.halo.map(wrap)))
}

/// Dimension dictionaries, and what of the buffer lies beyond the array's ends, left and right.
type DimsWords<'py> = (Bound<'py, PyTuple>, Vec<(u64, u64)>);

/// The dimension dictionaries of a rank, and how much of its buffer lies beyond the array's ends.
///
/// `boundary` gives the padding at the ends of the array that is to be told.
#[pyfunction]
pub(crate) fn distarray_dims<'py>(
    py: Python<'py>,
    layout: &Layout,
    rank: u64,
    n_ranks: u64,
    boundary: Vec<(u64, u64)>,
) -> PyResult<DimsWords<'py>> {
    let dims = distarray::dims_of(&layout.core, rank, n_ranks);
    let dims = dims.map_err(|error| protocol_error(py, &error))?;
    let words = dims.iter().enumerate().map(|(at, dim)| {
        let boundary = boundary.get(at).copied().unwrap_or_default();
        dim_words(py, dim, boundary)
    });
    let words = PyTuple::new(py, words.collect::<PyResult<Vec<_>>>()?)?;
    Ok((words, distarray::beyond_ends(&layout.core, rank)))
}

fn dim_words<'py>(
    py: Python<'py>,
    dim: &Dim,
    boundary: (u64, u64),
) -> PyResult<Bound<'py, PyDict>> {
    let words = PyDict::new(py);
    let kind = match dim.rule {
        Rule::Block(_) => "b",
        Rule::Cyclic { .. } => "c",
        Rule::Unstructured { .. } => "u",
    };
    words.set_item("dist_type", kind)?;
    words.set_item("size", dim.size)?;
    words.set_item("proc_grid_size", dim.grid_size)?;
    words.set_item("proc_grid_rank", dim.grid_rank)?;
    match &dim.rule {
        Rule::Block(block) => block_words(&words, dim, block, boundary)?,
        Rule::Cyclic { block, start } => {
            words.set_item("start", *start)?;
            words.set_item("block_size", *block)?;
        }
        Rule::Unstructured { indices, one_to_one } => {
            words.set_item("indices", crate::arrays::from_numbers(py, indices.iter().copied())?)?;
            words.set_item("one_to_one", *one_to_one)?;
        }
    }
    Ok(words)
}

fn block_words(
    words: &Bound<'_, PyDict>,
    dim: &Dim,
    block: &Block,
    boundary: (u64, u64),
) -> PyResult<()> {
    let (is_first, is_last) = (dim.grid_rank == 0, dim.grid_rank + 1 == dim.grid_size);
    words.set_item("start", block.start - block.halo.0)?;
    words.set_item("stop", block.stop + block.halo.1)?;
    let padding = (
        block.halo.0 + if is_first { boundary.0 } else { 0 },
        block.halo.1 + if is_last { boundary.1 } else { 0 },
    );
    if padding != (0, 0) {
        words.set_item("padding", padding)?;
    }
    if block.periodic {
        words.set_item("periodic", true)?;
    }
    Ok(())
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Partitions>()?;
    module.add_class::<PartitionTable>()?;
    module.add_class::<DistDict>()?;
    module.add_function(wrap_pyfunction!(check_dicts, module)?)?;
    module.add_function(wrap_pyfunction!(read_partitioned, module)?)?;
    module.add_function(wrap_pyfunction!(join_partitioned, module)?)?;
    module.add_function(wrap_pyfunction!(read_distarray, module)?)?;
    module.add_function(wrap_pyfunction!(join_distarrays, module)?)?;
    module.add_function(wrap_pyfunction!(distarray_dims, module)?)
}
