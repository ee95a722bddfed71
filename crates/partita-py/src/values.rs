//! Protocol dictionaries of Python as plain values.
//!
//! Only what the protocols name is read, once, into memory of our own, so that a dictionary that
//! changes later changes nothing, and one that holds a list a million times costs no more than its
//! size. Whatever an object's own code raises makes it an unknown thing; nothing is raised from here
//! but interrupts.

use std::sync::Arc;

use partita_protocol::{MOST_DIMS, Role, Thing, Value};
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};

use crate::facts::Kinds;

/// Longest list of locations that is read.
const MOST_LOCATIONS: usize = 4096;
/// Tuples of numbers in lists of tuples: nothing deeper has a meaning.
const DEEPEST: usize = 2;
/// Most values that are read; what is shared a million times ends here.
const MOST_VALUES: usize = 1 << 26;

/// What a dimension dictionary may say, besides its indices.
const DIM_FIELDS: [&str; 10] = [
    "dist_type",
    "size",
    "proc_grid_size",
    "proc_grid_rank",
    "start",
    "stop",
    "padding",
    "periodic",
    "block_size",
    "one_to_one",
];

/// Keys and values of a dictionary as they are now: it may change while its objects are asked, and
/// one of a class of its own may give others than it has. Two lists, for a tuple per item would set
/// off the collection of garbage.
fn items<'py>(
    dict: &Bound<'py, PyDict>,
) -> impl Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (keys, values) = (dict.keys(), dict.values());
    keys.into_iter().zip(values)
}

/// Field names of a partition, as Python and as we have them.
struct Fields<'py>([(Bound<'py, PyString>, Value); 5]);

impl<'py> Fields<'py> {
    fn new(py: Python<'py>) -> Self {
        let names = ["start", "shape", "data", "location", "dtype"];
        Self(names.map(|name| (PyString::intern(py, name), Value::text(name))))
    }
}

/// Reads dictionaries and keeps the objects it met.
pub(crate) struct Reader<'py> {
    py: Python<'py>,
    /// Objects by the number that their values carry.
    pub objects: Vec<Bound<'py, PyAny>>,
    kinds: Kinds<'py>,
    n_values: usize,
    fields: Fields<'py>,
}

/// An error becomes nothing, unless it is an interrupt.
pub(crate) fn quiet<T>(py: Python<'_>, result: PyResult<T>) -> PyResult<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

impl<'py> Reader<'py> {
    pub(crate) fn new(py: Python<'py>) -> Self {
        Self {
            py,
            objects: Vec::new(),
            kinds: Kinds::new(py),
            n_values: 0,
            fields: Fields::new(py),
        }
    }

    /// A dictionary of either protocol.
    pub(crate) fn dictionary(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        let Ok(dict) = value.cast::<PyDict>() else { return self.plain(value, 0) };
        let mut entries = Vec::with_capacity(dict.len());
        for (key, value) in items(dict) {
            let Ok(name) = key.cast::<PyString>() else {
                entries.push((self.plain(&key, 0)?, Value::Null));
                continue;
            };
            let Some(name) = quiet(self.py, name.extract::<String>())? else { continue };
            let read = match name.as_str() {
                "partitions" => self.partitions(&value)?,
                "locals" | "local" => self.listed(&value, usize::MAX)?,
                "dim_data" => self.dim_data(&value)?,
                "buffer" => self.data(&value, true)?,
                "get" if value.is_callable() => self.thing(&value, Role::Function)?,
                "get" => self.plain(&value, 0)?,
                "shape" | "partition_tiling" | "__version__" => self.plain(&value, 0)?,
                _ => Value::Null,
            };
            entries.push((Value::Text(name.into()), read));
        }
        Ok(Value::Dict(entries))
    }

    fn partitions(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        let Ok(dict) = value.cast::<PyDict>() else { return self.plain(value, 0) };
        let mut entries = Vec::with_capacity(dict.len());
        for (key, value) in items(dict) {
            entries.push((self.plain(&key, 0)?, self.partition(&value)?));
        }
        Ok(Value::Dict(entries))
    }

    fn partition(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        let Ok(dict) = value.cast::<PyDict>() else { return self.plain(value, 0) };
        let mut entries = Vec::with_capacity(4);
        for at in 0..self.fields.0.len() {
            let (name, key) = &self.fields.0[at];
            let (found, key) = (dict.get_item(name)?, key.clone());
            let Some(found) = found else { continue };
            let read = match at {
                0 | 1 => self.plain(&found, 0)?,
                2 => self.data(&found, false)?,
                3 => self.listed(&found, MOST_LOCATIONS)?,
                _ => Value::Text(self.kinds.dtype_name(&found)?),
            };
            entries.push((key, read));
        }
        Ok(Value::Dict(entries))
    }

    fn dim_data(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        if !value.is_instance_of::<PyTuple>() && !value.is_instance_of::<PyList>() {
            return self.plain(value, 0);
        }
        let mut dims = Vec::new();
        for item in value.try_iter()?.take(MOST_DIMS + 1) {
            dims.push(self.dim(&item?)?);
        }
        Ok(if value.is_instance_of::<PyList>() { Value::List(dims) } else { Value::Tuple(dims) })
    }

    fn dim(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        let Ok(dict) = value.cast::<PyDict>() else { return self.plain(value, 0) };
        let mut entries = Vec::new();
        for (key, value) in items(dict) {
            let key = self.plain(&key, DEEPEST)?;
            let read = match &key {
                Value::Text(name) if &**name == "indices" => self.indices(&value)?,
                Value::Text(name) if DIM_FIELDS.contains(&&**name) => self.plain(&value, 0)?,
                _ => Value::Null,
            };
            entries.push((key, read));
        }
        Ok(Value::Dict(entries))
    }

    fn indices(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
            return self.listed(value, usize::MAX);
        }
        match self.kinds.numbers(value)? {
            Some(facts) => Ok(self.thing(value, Role::Array(facts.into()))?),
            None => self.plain(value, 0),
        }
    }

    /// A list of any length whose items are plain; anything else is plain itself.
    fn listed(&mut self, value: &Bound<'py, PyAny>, most: usize) -> PyResult<Value> {
        if let Ok(list) = value.cast::<PyList>() {
            let mut items = Vec::with_capacity(list.len().min(most));
            // By number, for the list may change while its items are asked.
            while items.len() < most && items.len() < list.len() {
                items.push(self.plain(&list.get_item(items.len())?, 1)?);
            }
            return Ok(Value::List(items));
        }
        let Ok(tuple) = value.cast::<PyTuple>() else { return self.plain(value, 0) };
        let items = tuple.iter().take(most).map(|item| self.plain(&item, 1));
        Ok(Value::Tuple(items.collect::<PyResult<_>>()?))
    }

    /// An array, a handle or a function; never looked into.
    fn data(&mut self, value: &Bound<'py, PyAny>, as_buffer: bool) -> PyResult<Value> {
        if value.is_none() {
            return Ok(Value::Null);
        }
        if as_buffer && !self.kinds.is_buffer(value)? {
            return self.plain(value, 0);
        }
        let role = self.kinds.role(value, as_buffer)?;
        self.thing(value, role)
    }

    fn thing(&mut self, value: &Bound<'py, PyAny>, role: Role) -> PyResult<Value> {
        let number = self.objects.len();
        self.objects.push(value.clone());
        Ok(Value::Thing(Thing { kind: self.kinds.name(&value.get_type())?, role, number }))
    }

    /// Numbers, words, and short tuples of them.
    fn plain(&mut self, value: &Bound<'py, PyAny>, depth: usize) -> PyResult<Value> {
        self.n_values += 1;
        if self.n_values > MOST_VALUES {
            let kind = "value after too many others".into();
            return Ok(Value::Thing(Thing { kind, role: Role::Handle, number: usize::MAX }));
        }
        if value.is_exact_instance_of::<PyInt>() {
            return self.integer(value);
        }
        if value.is_none() {
            return Ok(Value::Null);
        }
        if value.is_instance_of::<PyString>() {
            return self.text(value);
        }
        if let Ok(flag) = value.cast::<PyBool>() {
            return Ok(Value::Bool(flag.is_true()));
        }
        if value.is_instance_of::<PyInt>() {
            return self.integer(value);
        }
        if let Ok(number) = value.cast::<PyFloat>() {
            return Ok(Value::Float(number.value()));
        }
        if depth < DEEPEST
            && (value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>())
        {
            return self.sequence(value, depth);
        }
        if let Ok(dict) = value.cast::<PyDict>() {
            // Its number of entries is all that a message says of it.
            return Ok(Value::Dict(vec![(Value::Null, Value::Null); dict.len().min(MOST_DIMS)]));
        }
        self.unknown(value)
    }

    fn sequence(&mut self, value: &Bound<'py, PyAny>, depth: usize) -> PyResult<Value> {
        if let Ok(tuple) = value.cast::<PyTuple>() {
            let mut items = Vec::with_capacity(tuple.len().min(MOST_DIMS + 1));
            for at in 0..tuple.len().min(MOST_DIMS + 1) {
                items.push(self.plain(&tuple.get_item(at)?, depth + 1)?);
            }
            return Ok(Value::Tuple(items));
        }
        let list = value.cast::<PyList>().map_err(PyErr::from)?;
        let mut items = Vec::new();
        while items.len() <= MOST_DIMS && items.len() < list.len() {
            items.push(self.plain(&list.get_item(items.len())?, depth + 1)?);
        }
        Ok(Value::List(items))
    }

    fn integer(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        if let Ok(number) = value.extract::<i64>() {
            return Ok(Value::Int(number));
        }
        // Python refuses to print very long numbers.
        let words = quiet(self.py, value.str().map(|words| words.to_string()))?;
        let words = words.unwrap_or_else(|| "an integer of thousands of digits".into());
        Ok(Value::Huge(words.chars().take(60).collect::<String>().into()))
    }

    /// NumPy's numbers, and things.
    fn unknown(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        let kind = self.kinds.name(&value.get_type())?;
        if &*kind == "numpy.bool" || &*kind == "numpy.bool_" {
            return Ok(Value::Bool(quiet(self.py, value.is_truthy())?.unwrap_or(false)));
        }
        let is_scalar = quiet(self.py, value.hasattr(intern!(self.py, "__len__")))? == Some(false);
        let is_type = value.is_instance_of::<PyType>();
        if is_scalar
            && !is_type
            && quiet(self.py, value.hasattr(intern!(self.py, "__index__")))? == Some(true)
        {
            let number = quiet(self.py, value.call_method0(intern!(self.py, "__index__")))?;
            if let Some(number) = number.filter(|n| n.is_instance_of::<PyInt>()) {
                return self.integer(&number);
            }
        }
        let role = if value.is_callable() { Role::Function } else { Role::Handle };
        Ok(Value::Thing(Thing { kind, role, number: usize::MAX }))
    }

    fn text(&self, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        let word = value.cast::<PyString>().map_err(PyErr::from)?;
        let text = quiet(self.py, word.to_str().map(Arc::<str>::from))?;
        Ok(Value::Text(text.unwrap_or_else(|| "text that is no Unicode".into())))
    }
}
