//! The map classes: `Block`, `Cyclic`, `Whole`, `Unstructured`.

use std::sync::Arc;

use partita_layout as core;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::convert::{clip, items, natural, naturals};
use crate::errors::layout_error;

/// One interval per rank of a grid axis.
///
/// `rule` is "first" (extra elements go to the first ranks, as in numpy.array_split), "last", or
/// "ceil" (blocks of ceil(n / p)); `sizes` gives the block sizes instead. `halo` is (left, right)
/// for all ranks, or a list of such pairs, one per rank; `periodic` wraps halos around the ends.
#[pyclass(frozen, eq, hash, module = "partita")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Block {
    pub map: core::Map,
}

#[pymethods]
impl Block {
    fn __repr__(&self) -> String {
        self.words()
    }

    #[new]
    #[pyo3(signature = (rule=None, *, sizes=None, halo=None, periodic=None))]
    fn new(
        py: Python<'_>,
        rule: Option<&Bound<'_, PyAny>>,
        sizes: Option<&Bound<'_, PyAny>>,
        halo: Option<&Bound<'_, PyAny>>,
        periodic: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let rule = rule.map(ToString::to_string);
        let periodic = periodic.map_or(Ok(false), read_flag)?;
        let rule = match (rule.as_deref(), sizes) {
            (None, Some(sizes)) => core::BlockRule::Sizes(naturals(sizes, "sizes")?.into()),
            (None | Some("first"), None) => core::BlockRule::First,
            (Some("last"), None) => core::BlockRule::Last,
            (Some("ceil"), None) => core::BlockRule::Ceil,
            (Some(rule), None) => {
                let message = format!("unknown block rule {rule:?}; use first, last or ceil");
                return Err(layout_error(py, &message, "block-rule"));
            }
            (Some(rule), Some(_)) => {
                let message = format!("block rule {rule:?} beside sizes; give one of the two");
                return Err(layout_error(py, &message, "block-rule-and-sizes"));
            }
        };
        let halo = halo.map_or(Ok(core::Halo::default()), read_halo)?;
        Ok(Self { map: core::Map::Block(core::Block { rule, halo, periodic }) })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let rebuild = py.import("partita._unpickle")?.getattr("block")?;
        let block = slf.get().block();
        let (rule, sizes) = match &block.rule {
            core::BlockRule::First => (Some("first"), None),
            core::BlockRule::Last => (Some("last"), None),
            core::BlockRule::Ceil => (Some("ceil"), None),
            core::BlockRule::Sizes(sizes) => (None, Some(sizes.to_vec())),
        };
        let args = (rule, sizes, slf.get().halo(py)?, block.periodic).into_pyobject(py)?;
        Ok((rebuild, args))
    }

    /// How the extent is cut: "first", "last", "ceil" or "sizes".
    #[getter]
    fn rule(&self) -> &'static str {
        match self.block().rule {
            core::BlockRule::First => "first",
            core::BlockRule::Last => "last",
            core::BlockRule::Ceil => "ceil",
            core::BlockRule::Sizes(_) => "sizes",
        }
    }

    /// The block sizes, if they were given.
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match &self.block().rule {
            core::BlockRule::Sizes(sizes) => PyTuple::new(py, sizes.iter()).map(Some),
            _ => Ok(None),
        }
    }

    /// (left, right), or a tuple of such pairs.
    #[getter]
    fn halo<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.block().halo {
            core::Halo::Same(left, right) => PyTuple::new(py, [left, right]),
            core::Halo::Each(widths) => PyTuple::new(py, widths.iter().copied()),
        }
    }

    /// Whether halos wrap around the ends.
    #[getter]
    fn periodic(&self) -> bool {
        self.block().periodic
    }
}

impl Block {
    fn block(&self) -> &core::Block {
        match &self.map {
            core::Map::Block(block) => block,
            _ => unreachable!("a Block is made from a block map only"),
        }
    }

    fn words(&self) -> String {
        let block = self.block();
        let mut words = Vec::new();
        match &block.rule {
            core::BlockRule::First => {}
            core::BlockRule::Sizes(sizes) => {
                words.push(format!("sizes={}", clip(&format!("{sizes:?}"), 22)));
            }
            _ => words.push(format!("rule={:?}", self.rule())),
        }
        match &block.halo {
            core::Halo::Same(0, 0) => {}
            core::Halo::Same(left, right) => words.push(format!("halo=({left}, {right})")),
            core::Halo::Each(widths) => {
                words.push(format!("halo={}", clip(&format!("{widths:?}"), 22)));
            }
        }
        if block.periodic {
            words.push("periodic=True".to_string());
        }
        format!("Block({})", words.join(", "))
    }
}

/// True or False, nothing that merely counts as one.
fn read_flag(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.extract::<bool>().map_err(|_| {
        let message = format!("periodic {value} is no flag; use True or False");
        layout_error(value.py(), &message, "periodic-type")
    })
}

/// (l, r) for all, or one pair per rank.
fn read_halo(value: &Bound<'_, PyAny>) -> PyResult<core::Halo> {
    let parts = items(value, "halo")?;
    let is_pair = parts.len() == 2 && parts.iter().all(|part| part.try_iter().is_err());
    if is_pair {
        return Ok(core::Halo::Same(natural(&parts[0], "halo")?, natural(&parts[1], "halo")?));
    }
    let pair = |part: &Bound<'_, PyAny>| -> PyResult<(u64, u64)> {
        match naturals(part, "halo")?[..] {
            [left, right] => Ok((left, right)),
            _ => {
                let message = format!("halo {part} is no pair; use (left, right) per rank");
                Err(layout_error(part.py(), &message, "halo-pair"))
            }
        }
    };
    let widths: Vec<(u64, u64)> = parts.iter().map(pair).collect::<PyResult<_>>()?;
    Ok(core::Halo::Each(widths.into()))
}

/// Blocks of `block` indices, assigned to the ranks in turn.
#[pyclass(frozen, eq, hash, module = "partita")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cyclic {
    pub map: core::Map,
}

#[pymethods]
impl Cyclic {
    fn __repr__(&self) -> String {
        self.words()
    }

    #[new]
    #[pyo3(signature = (block=None))]
    fn new(block: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let block = block.map_or(Ok(1), |block| natural(block, "cyclic"))?;
        Ok(Self { map: core::Map::Cyclic { block } })
    }

    fn __getnewargs__(&self) -> (u64,) {
        (self.block(),)
    }

    /// Indices per block.
    #[getter]
    fn block(&self) -> u64 {
        match self.map {
            core::Map::Cyclic { block } => block,
            _ => unreachable!("a Cyclic is made from a cyclic map only"),
        }
    }
}

impl Cyclic {
    fn words(&self) -> String {
        format!("Cyclic({})", self.block())
    }
}

/// The whole dimension on every rank.
#[pyclass(frozen, eq, hash, module = "partita")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Whole {
    pub map: core::Map,
}

#[pymethods]
impl Whole {
    fn __repr__(&self) -> String {
        self.words()
    }

    #[new]
    fn new() -> Self {
        Self { map: core::Map::Whole }
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> Bound<'py, PyTuple> {
        PyTuple::empty(py)
    }
}

impl Whole {
    fn words(&self) -> String {
        "Whole()".to_string()
    }
}

/// An explicit list of global indices per rank of a grid axis, in buffer order.
///
/// Indices can be any integers. An index in several lists is owned by the first of them, unless
/// `one_to_one` forbids it.
#[pyclass(frozen, eq, hash, module = "partita")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Unstructured {
    pub map: core::Map,
}

#[pymethods]
impl Unstructured {
    fn __repr__(&self) -> String {
        self.words()
    }

    #[new]
    #[pyo3(signature = (indices, *, one_to_one=false))]
    fn new(indices: &Bound<'_, PyAny>, one_to_one: bool) -> PyResult<Self> {
        let mut lists = Vec::new();
        for list in items(indices, "indices")? {
            lists.push(crate::arrays::Rows::new(&list, 1)?.numbers().to_vec());
        }
        let py = indices.py();
        let map = py.detach(|| {
            if one_to_one {
                core::Unstructured::one_to_one(&lists)
            } else {
                core::Unstructured::new(&lists)
            }
        });
        Ok(Self { map: core::Map::Unstructured(Arc::new(map)) })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let rebuild = py.import("partita._unpickle")?.getattr("unstructured")?;
        let args = (slf.get().indices(py)?, slf.get().one_to_one()).into_pyobject(py)?;
        Ok((rebuild, args))
    }

    /// The lists, as NumPy arrays.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let lists = self.lists();
        (0..lists.n_coordinates())
            .map(|k| crate::arrays::from_numbers(py, lists.list(k).iter().copied()))
            .collect()
    }

    /// Whether an index may appear in only one list.
    #[getter]
    fn one_to_one(&self) -> bool {
        self.lists().is_one_to_one()
    }
}

impl Unstructured {
    fn lists(&self) -> &core::Unstructured {
        match &self.map {
            core::Map::Unstructured(lists) => lists,
            _ => unreachable!("an Unstructured is made from lists only"),
        }
    }

    fn words(&self) -> String {
        let lists = self.lists();
        format!("Unstructured({} lists, {} indices)", lists.n_coordinates(), lists.n_distinct())
    }
}

/// Any of the map classes, or a word of the notation.
pub(crate) fn read_map(value: &Bound<'_, PyAny>) -> PyResult<core::Map> {
    if let Ok(map) = value.cast::<Block>() {
        return Ok(map.get().map.clone());
    }
    if let Ok(map) = value.cast::<Cyclic>() {
        return Ok(map.get().map.clone());
    }
    if let Ok(map) = value.cast::<Whole>() {
        return Ok(map.get().map.clone());
    }
    if let Ok(map) = value.cast::<Unstructured>() {
        return Ok(map.get().map.clone());
    }
    let message = format!("{value} is no map; use Block, Cyclic, Whole or Unstructured");
    Err(layout_error(value.py(), &message, "map-type"))
}

/// The map as an object of its class.
pub(crate) fn write_map<'py>(py: Python<'py>, map: &core::Map) -> PyResult<Bound<'py, PyAny>> {
    let map = map.clone();
    Ok(match map {
        core::Map::Block(_) => Bound::new(py, Block { map })?.into_any(),
        core::Map::Cyclic { .. } => Bound::new(py, Cyclic { map })?.into_any(),
        core::Map::Whole => Bound::new(py, Whole { map })?.into_any(),
        core::Map::Unstructured(_) => Bound::new(py, Unstructured { map })?.into_any(),
    })
}
