//! What can be known of a foreign array without touching its elements.

use std::collections::HashMap;
use std::sync::Arc;

use partita_protocol::{Device, Facts, Role};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMemoryView, PyString, PyTuple, PyType};
use pyo3::{ffi, intern};

use crate::values::quiet;

/// How an object shows its elements; found once per type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Rows and columns with names.
    Frame,
    /// NumPy's own array: the usual case, and there may be a hundred thousand.
    Ndarray,
    /// A number of NumPy, which may be a handle as well.
    Number,
    /// `__array_interface__`.
    Interface,
    /// `__dlpack__`.
    Dlpack,
    /// A view of memory.
    Memory,
    /// The buffer protocol and nothing else, as bytes have it: they may be a handle as well.
    Buffer,
    /// None of these, but it can be called.
    Function,
    /// None of these.
    Handle,
}

/// An element type with its name, and why its elements cannot be shared.
type KnownDtype<'py> = (Bound<'py, PyAny>, Arc<str>, Option<Arc<str>>);

/// What was learnt about types and element types so far.
pub(crate) struct Kinds<'py> {
    py: Python<'py>,
    kinds: HashMap<usize, (Bound<'py, PyType>, Kind, Arc<str>)>,
    dtypes: HashMap<usize, KnownDtype<'py>>,
}

impl<'py> Kinds<'py> {
    pub(crate) fn new(py: Python<'py>) -> Self {
        Self { py, kinds: HashMap::new(), dtypes: HashMap::new() }
    }

    /// Module and name of a type.
    pub(crate) fn name(&mut self, class: &Bound<'py, PyType>) -> PyResult<Arc<str>> {
        if let Some((_, _, name)) = self.kinds.get(&(class.as_ptr() as usize)) {
            return Ok(Arc::clone(name));
        }
        let name = quiet(self.py, class.fully_qualified_name())?;
        Ok(name.map_or_else(|| "object".into(), |name| name.to_string().into()))
    }

    fn kind(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Kind> {
        let class = value.get_type();
        if let Some((_, kind, _)) = self.kinds.get(&(class.as_ptr() as usize)) {
            return Ok(*kind);
        }
        let name = self.name(&class)?;
        let has = |name: &str| -> PyResult<bool> {
            Ok(quiet(self.py, value.hasattr(name))?.unwrap_or(false))
        };
        // A type of arrays may have an attribute for everything; a class is none of these.
        let kind = if value.is_instance_of::<PyType>() {
            Kind::Function
        } else if has("iloc")? && has("columns")? {
            Kind::Frame
        } else if &*name == "numpy.ndarray" {
            Kind::Ndarray
        } else if is_number(&class) {
            Kind::Number
        } else if has("__array_interface__")? {
            Kind::Interface
        } else if has("__dlpack__")? {
            Kind::Dlpack
        } else if value.is_instance_of::<PyMemoryView>() {
            Kind::Memory
        } else if shows_buffer(value) {
            Kind::Buffer
        } else if value.is_callable() {
            Kind::Function
        } else {
            Kind::Handle
        };
        self.kinds.insert(class.as_ptr() as usize, (class, kind, name));
        Ok(kind)
    }

    /// Whether it can be read as an array at all.
    pub(crate) fn is_buffer(&mut self, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        Ok(!matches!(self.kind(value)?, Kind::Frame | Kind::Function | Kind::Handle))
    }

    /// What an object can do. `as_buffer`: it must show its memory.
    pub(crate) fn role(&mut self, value: &Bound<'py, PyAny>, as_buffer: bool) -> PyResult<Role> {
        let kind = self.kind(value)?;
        let facts = match kind {
            Kind::Function => return Ok(Role::Function),
            // What `get` gives for these is the data, and that may be anything.
            Kind::Number | Kind::Buffer if !as_buffer => None,
            Kind::Handle => None,
            Kind::Frame => self.shape(value)?.map(|shape| Facts { shape, ..Facts::default() }),
            Kind::Ndarray | Kind::Number => self.array_facts(value, as_buffer)?,
            Kind::Interface | Kind::Dlpack => {
                let device = self.device(value)?;
                self.array_facts(value, as_buffer)?.map(|facts| Facts { device, ..facts })
            }
            Kind::Memory | Kind::Buffer => quiet(self.py, memory_facts(value))?,
        };
        Ok(facts.map_or(Role::Handle, |facts| Role::Array(facts.into())))
    }

    /// Where an array says that it lies; what has an `__array_interface__` alone lies here.
    fn device(&self, value: &Bound<'py, PyAny>) -> PyResult<Option<Device>> {
        let name = intern!(self.py, "__dlpack_device__");
        if quiet(self.py, value.hasattr(name))? != Some(true) {
            return Ok(Some(Device::HOST));
        }
        let told = value.call_method0(name).and_then(|told| told.extract::<(u32, u32)>());
        Ok(quiet(self.py, told)?.and_then(|(code, index)| Device::numbered(code, index)))
    }

    fn shape(&self, value: &Bound<'py, PyAny>) -> PyResult<Option<Vec<u64>>> {
        let read = || -> PyResult<Vec<u64>> {
            let shape = value.getattr(intern!(self.py, "shape"))?;
            // Other sequences take a longer way.
            let Ok(tuple) = shape.cast::<PyTuple>() else { return shape.extract() };
            (0..tuple.len()).map(|at| tuple.get_item(at)?.extract()).collect()
        };
        quiet(self.py, read())
    }

    fn array_facts(
        &mut self,
        value: &Bound<'py, PyAny>,
        as_buffer: bool,
    ) -> PyResult<Option<Facts>> {
        let Some(shape) = self.shape(value)? else { return self.interface_facts(value) };
        let Some(dtype) = quiet(self.py, value.getattr(intern!(self.py, "dtype")))? else {
            return self.interface_facts(value);
        };
        let (dtype, defect) = self.dtype(&dtype)?;
        let is_time = dtype.starts_with("datetime64") || dtype.starts_with("timedelta64");
        let no_buffer = "it shows no buffer; use its view('int64')";
        let defect = defect.or_else(|| (as_buffer && is_time).then(|| no_buffer.into()));
        Ok(Some(Facts { shape, dtype, defect, device: Some(Device::HOST), numbers: None }))
    }

    /// An object that has `__array_interface__` and nothing else.
    fn interface_facts(&self, value: &Bound<'py, PyAny>) -> PyResult<Option<Facts>> {
        let read = || -> PyResult<Facts> {
            let interface = value.getattr("__array_interface__")?;
            let interface = interface.cast::<PyDict>().map_err(PyErr::from)?;
            let shape = interface.as_any().get_item("shape")?.extract()?;
            let code: String = interface.as_any().get_item("typestr")?.extract()?;
            let dtype = self.py.import("numpy")?.call_method1("dtype", (code,))?;
            let dtype: String = dtype.getattr("name")?.extract()?;
            Ok(Facts { shape, dtype: dtype.into(), ..Facts::default() })
        };
        quiet(self.py, read())
    }

    /// Name of an element type, and why its elements cannot be shared.
    fn dtype(&mut self, dtype: &Bound<'py, PyAny>) -> PyResult<(Arc<str>, Option<Arc<str>>)> {
        if let Some((_, name, defect)) = self.dtypes.get(&(dtype.as_ptr() as usize)) {
            return Ok((Arc::clone(name), defect.clone()));
        }
        let name = self.dtype_words(dtype)?;
        let objects = quiet(self.py, dtype.getattr("hasobject").and_then(|has| has.is_truthy()))?;
        let defect: Option<Arc<str>> = (objects == Some(true))
            .then(|| "objects cannot be shared; use numbers or text of fixed length".into());
        let known = (dtype.clone(), Arc::clone(&name), defect.clone());
        self.dtypes.insert(dtype.as_ptr() as usize, known);
        Ok((name, defect))
    }

    pub(crate) fn dtype_name(&mut self, dtype: &Bound<'py, PyAny>) -> PyResult<Arc<str>> {
        Ok(self.dtype(dtype)?.0)
    }

    fn dtype_words(&self, dtype: &Bound<'py, PyAny>) -> PyResult<Arc<str>> {
        let text = |value: PyResult<Bound<'py, PyAny>>| -> PyResult<Option<String>> {
            quiet(self.py, value.and_then(|value| value.extract::<String>()))
        };
        if dtype.is_instance_of::<PyString>() {
            return Ok(text(Ok(dtype.clone()))?.unwrap_or_default().into());
        }
        // Names are those of native numbers; anything else differs and is written out.
        let is_plain = text(dtype.getattr("kind"))?.is_none_or(|kind| kind != "V");
        let is_native =
            quiet(self.py, dtype.getattr("isnative").and_then(|is| is.is_truthy()))? != Some(false);
        if is_plain && is_native {
            for name in ["name", "__name__"] {
                if let Some(name) = text(dtype.getattr(name))? {
                    return Ok(name.into());
                }
            }
        }
        let words = quiet(self.py, dtype.str().map(|words| words.to_string()))?.unwrap_or_default();
        let words = words.strip_prefix("torch.").unwrap_or(&words);
        Ok(words.chars().take(200).collect::<String>().into())
    }

    /// The integers of a buffer, or what it is instead; none where it is no buffer.
    pub(crate) fn numbers(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Option<Facts>> {
        if !self.is_buffer(value)? {
            return Ok(None);
        }
        quiet(self.py, read_numbers(value))
    }
}

/// Whether the values of a type are NumPy's scalars.
fn is_number(class: &Bound<'_, PyType>) -> bool {
    let is_generic = |one: Bound<'_, PyAny>| {
        one.cast::<PyType>()
            .ok()
            .and_then(|one| one.fully_qualified_name().ok())
            .is_some_and(|name| name == "numpy.generic")
    };
    class.mro().iter().any(is_generic)
}

fn shows_buffer(value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: `value` is a live object, and the check reads its type only.
    unsafe { ffi::PyObject_CheckBuffer(value.as_ptr()) == 1 }
}

/// Facts of an object with the buffer protocol only.
fn memory_facts(value: &Bound<'_, PyAny>) -> PyResult<Facts> {
    let py = value.py();
    // NumPy takes bytes for text unless they come as memory.
    let memory = PyMemoryView::from(value)?;
    let array = py.import("numpy")?.call_method1("asarray", (memory,))?;
    let dtype = array.getattr("dtype")?;
    let is_object: bool = dtype.getattr("hasobject")?.extract()?;
    let name: String = dtype.getattr("name")?.extract()?;
    Ok(Facts {
        shape: array.getattr("shape")?.extract()?,
        dtype: name.into(),
        defect: is_object.then(|| "objects cannot be shared; use numbers".into()),
        device: Some(Device::HOST),
        numbers: None,
    })
}

fn read_numbers(value: &Bound<'_, PyAny>) -> PyResult<Facts> {
    let py = value.py();
    let numpy = py.import("numpy")?;
    let array = if shows_buffer(value) {
        numpy.call_method1("asarray", (PyMemoryView::from(value)?,))?
    } else if value.hasattr("__array_interface__")? {
        numpy.call_method1("asarray", (value,))?
    } else {
        numpy.call_method1("from_dlpack", (value,))?
    };
    let mut facts = memory_facts(&array)?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let fits = match kind.as_str() {
        "i" => true,
        "u" => {
            facts.shape.iter().product::<u64>() == 0
                || array.call_method0("max")?.extract::<u64>()? <= i64::MAX as u64
        }
        _ => false,
    };
    if fits && facts.shape.len() == 1 {
        let kwargs = PyDict::new(py);
        kwargs.set_item("dtype", "int64")?;
        let dense = numpy.call_method("ascontiguousarray", (array,), Some(&kwargs))?;
        facts.numbers = Some(PyBuffer::<i64>::get(&dense)?.to_vec(py)?.into());
    }
    Ok(facts)
}
