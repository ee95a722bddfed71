//! Pending work as a program of the dialect `ndarray`: what `partita opt` and `partita run` read.
//!
//! Bases that have elements are arguments, those that somebody looks at are results. A window is a
//! view of its base, made where it is read.

mod view;

use std::fmt::Write;
use std::rc::Rc;

use partita_ir::{EwBin, EwUny, Reduce, float_text};
use partita_kernel::{Dtype, Kind, Op, Reduction, Scalar};
use rustc_hash::FxHashMap;

use super::base::Base;
use super::engine::Engine;
use super::node::{Action, BaseFacts, Node, Operand, Place};
use super::run::facts;
use super::schedule::needed;
use super::segment::Segment;
use super::window::{Dims, Window, broadcast_shapes};
use crate::api::Number;
use crate::error::{LocalError, Result};
use crate::run::{binary_of, unary_of};
use view::{Stretch, View};

/// A value of the program: its name, shape and element type.
#[derive(Debug, Clone)]
struct Value {
    name: String,
    shape: Dims<usize>,
    dtype: Dtype,
}

impl Engine {
    /// The pending work as the function `@program`.
    ///
    /// # Errors
    /// Work that the dialect has no words for.
    pub fn program(&self) -> Result<String> {
        let mut text = Text { is_on_ranks: self.n_ranks() > 1, ..Text::default() };
        for segment in self.0.ready.borrow().iter() {
            text.segment(segment)?;
        }
        if let Some(segment) = &*self.0.before.borrow() {
            text.segment(segment)?;
        }
        text.segment(&self.0.current.borrow())?;
        Ok(text.finish())
    }
}

#[derive(Default)]
struct Text {
    is_on_ranks: bool,
    lines: Vec<String>,
    arguments: Vec<String>,
    known: FxHashMap<*const Base, Value>,
    /// Bases in the order in which they were met, and how many users of each are segments.
    bases: Vec<(Rc<Base>, usize)>,
    constants: FxHashMap<String, String>,
    n_values: usize,
}

fn stretch_of(window: &Window, base: &Base) -> Result<Stretch> {
    let n_elements = base.shape().iter().product();
    Stretch::of(window, n_elements).ok_or_else(|| unsaid("a view of this form"))
}

fn unsaid(what: &str) -> LocalError {
    LocalError::NoWords { what: what.to_string() }
}

impl Text {
    fn segment(&mut self, segment: &Segment) -> Result<()> {
        // What nobody can see any more is left out, as when it is computed.
        let bases: Vec<BaseFacts> = segment.bases.iter().map(facts).collect();
        let needed = needed(&segment.work.nodes, &bases);
        for base in &segment.bases {
            match self.bases.iter_mut().find(|(known, _)| Rc::ptr_eq(known, base)) {
                Some((_, n_segments)) => *n_segments += 1,
                None => self.bases.push((Rc::clone(base), 1)),
            }
        }
        let nodes = segment.work.nodes.iter().zip(needed).filter(|(_, is_needed)| *is_needed);
        nodes.map(|(node, _)| node).try_for_each(|node| self.node(node, segment))
    }

    fn finish(mut self) -> String {
        let bases = std::mem::take(&mut self.bases);
        // One user is this list, others are the segments.
        let alive = bases.iter().filter(|(base, n)| Rc::strong_count(base) > 1 + n);
        let results: Vec<Value> =
            alive.filter_map(|(base, _)| self.known.get(&Rc::as_ptr(base)).cloned()).collect();
        let names: Vec<&str> = results.iter().map(|value| value.name.as_str()).collect();
        let types: Vec<String> =
            results.iter().map(|value| self.ty(&value.shape, value.dtype)).collect();
        let (arguments, types) = (self.arguments.join(", "), types.join(", "));
        let gives = if results.is_empty() { String::new() } else { format!(" -> ({types})") };
        let mut text = format!("func.func @program({arguments}){gives} {{\n");
        self.lines.iter().for_each(|line| {
            let _ = writeln!(text, "  {line}");
        });
        let given =
            if names.is_empty() { String::new() } else { " ".to_string() + &names.join(", ") };
        let typed = if names.is_empty() { String::new() } else { format!(" : {types}") };
        let _ = writeln!(text, "  return{given}{typed}\n}}");
        text
    }

    fn ty(&self, shape: &[usize], dtype: Dtype) -> String {
        let sizes: String = shape.iter().map(|n| format!("{n}x")).collect();
        let element = element(dtype);
        if !self.is_on_ranks {
            return format!("!ndarray.ndarray<{sizes}{element}>");
        }
        if shape.is_empty() {
            return format!("!ndarray.ndarray<{element}, #dist.dist_env<team = 1>>");
        }
        let marks = vec!["?"; shape.len()];
        let (offsets, part) = (marks.join(","), marks.join("x"));
        format!(
            "!ndarray.ndarray<{sizes}{element}, #dist.dist_env<team = 1 loffs = {offsets} lparts = \
             {part},{part},{part}>>"
        )
    }

    fn fresh(&mut self) -> String {
        self.n_values += 1;
        format!("%{}", self.n_values - 1)
    }

    /// Writes an operation of the generic form with one result.
    fn op(
        &mut self,
        name: &str,
        operands: &[&Value],
        attributes: &str,
        (shape, dtype): (&[usize], Dtype),
    ) -> Value {
        let made = self.fresh();
        let names: Vec<&str> = operands.iter().map(|value| value.name.as_str()).collect();
        let types: Vec<String> =
            operands.iter().map(|value| self.ty(&value.shape, value.dtype)).collect();
        let (names, types) = (names.join(", "), types.join(", "));
        let to = self.ty(shape, dtype);
        let attributes =
            if attributes.is_empty() { String::new() } else { format!(" {{{attributes}}}") };
        self.lines.push(format!("{made} = \"{name}\"({names}){attributes} : ({types}) -> {to}"));
        Value { name: made, shape: shape.into(), dtype }
    }

    fn constant(&mut self, words: String) -> String {
        if let Some(known) = self.constants.get(&words) {
            return known.clone();
        }
        let name = self.fresh();
        self.lines.push(format!("{name} = {words}"));
        self.constants.insert(words, name.clone());
        name
    }

    fn sizes(&mut self, shape: &[usize]) -> Vec<String> {
        shape.iter().map(|n| self.constant(format!("arith.constant {n} : index"))).collect()
    }

    /// A new array, with the same number everywhere if one is given.
    fn create(&mut self, shape: &[usize], dtype: Dtype, number: Option<Scalar>) -> Result<Value> {
        let mut operands = self.sizes(shape).join(", ");
        let mut types = vec!["index".to_string(); shape.len()];
        if let Some(number) = number {
            let value = self.constant(in_words(number));
            let _ = write!(operands, "{}value {value}", if shape.is_empty() { "" } else { " " });
            types.push(element(dtype));
        }
        let (name, to) = (self.fresh(), self.ty(shape, dtype));
        let types = types.join(", ");
        self.lines.push(format!("{name} = ndarray.create {operands} : ({types}) -> {to}"));
        Ok(Value { name, shape: shape.into(), dtype })
    }

    fn value(&mut self, base: &Rc<Base>) -> Result<Value> {
        if let Some(known) = self.known.get(&Rc::as_ptr(base)) {
            return Ok(known.clone());
        }
        let has_elements = base.storage.borrow().is_some();
        let value = if has_elements {
            let name = format!("%arg{}", self.arguments.len());
            self.arguments.push(format!("{name}: {}", self.ty(base.shape(), base.dtype)));
            Value { name, shape: base.shape().into(), dtype: base.dtype }
        } else {
            self.create(base.shape(), base.dtype, None)?
        };
        self.known.insert(Rc::as_ptr(base), value.clone());
        Ok(value)
    }

    fn node(&mut self, node: &Node, segment: &Segment) -> Result<()> {
        if node.written().n_elements() == 0 {
            return Ok(());
        }
        let mut operands = Vec::new();
        for operand in &node.operands {
            operands.push(match operand {
                Operand::Array(place) => self.read(place, segment)?,
                Operand::Number(at, dtype) => {
                    self.create(&[], *dtype, Some(segment.work.numbers[*at]))?
                }
            });
        }
        let made = self.computed(node, &operands, segment)?;
        let shape = node.written().shape.clone();
        let made = if made.shape == shape { made } else { self.repeated(made, &shape)? };
        self.write(&node.target, &node.written(), made, segment)
    }

    fn computed(&mut self, node: &Node, operands: &[Value], segment: &Segment) -> Result<Value> {
        let given: Vec<&Value> = operands.iter().collect();
        let mut common: Dims<usize> = Dims::new();
        for operand in operands {
            common = broadcast_shapes(&common, &operand.shape).unwrap_or(common);
        }
        let to = (&common[..], node.dtype);
        let axes = |bits: u16| -> String {
            let set = (0..16).filter(|axis| bits >> axis & 1 == 1);
            set.map(|axis: u16| axis.to_string()).collect::<Vec<_>>().join(", ")
        };
        Ok(match node.action {
            Action::Copy => operands[0].clone(),
            Action::Cast => self.op("ndarray.cast_elemtype", &given, "", to),
            Action::Index(axis) => {
                let sizes = self.sizes(node.space());
                let (name, to) = (self.fresh(), self.ty(node.space(), node.dtype));
                let types = vec!["index"; sizes.len()].join(", ");
                let sizes = sizes.join(", ");
                self.lines.push(format!(
                    "{name} = \"ndarray.iota\"({sizes}) {{axis = {axis} : i64}} : ({types}) -> {to}"
                ));
                Value { name, shape: node.space().into(), dtype: node.dtype }
            }
            Action::Apply(Op::Where) => self.op("ndarray.where", &given, "", to),
            Action::Apply(op) if given.len() == 1 => {
                let op = unary_of(op).ok_or_else(|| unsaid(&format!("{op:?}")))?;
                let number = EwUny::number(op);
                self.op("ndarray.ewuny", &given, &format!("op = {number} : i32"), to)
            }
            Action::Apply(op) if given.len() == 2 => {
                let op = binary_of(op).ok_or_else(|| unsaid(&format!("{op:?}")))?;
                let number = EwBin::number(op);
                self.op("ndarray.ewbin", &given, &format!("op = {number} : i32"), to)
            }
            Action::Apply(op) => return Err(unsaid(&format!("{op:?}"))),
            Action::Reduce(how, bits) => {
                let whole = self.repeated(operands[0].clone(), node.space())?;
                let mut about = format!("axes = array<i64: {}>, keepdims", axes(bits));
                let _ = write!(about, ", op = {} : i32", reduce_of(how)?.number());
                if let (Reduction::Variance, Some(Operand::Number(at, _))) =
                    (how, node.operands.get(1))
                {
                    let number = Number::from_scalar(segment.work.numbers[*at]);
                    let _ = write!(about, ", correction = {number} : f64");
                }
                let to = (&node.written().shape[..], node.dtype);
                self.op("ndarray.reduction", &[&whole], &about, to)
            }
            Action::RunningSum(axis) | Action::RunningProduct(axis) => {
                let is_sum = matches!(node.action, Action::RunningSum(_));
                let how = if is_sum { Reduce::Sum } else { Reduce::Prod };
                let about = format!("axis = {axis} : i64, op = {} : i32", how.number());
                let whole = self.repeated(operands[0].clone(), node.space())?;
                self.op("ndarray.cumulative", &[&whole], &about, (node.space(), node.dtype))
            }
        })
    }

    /// The value with sizes of 1 repeated.
    fn repeated(&mut self, value: Value, shape: &[usize]) -> Result<Value> {
        if value.shape[..] == *shape {
            return Ok(value);
        }
        let all = self.create(shape, Dtype::Bool, Some(Scalar::from(true)))?;
        let dtype = value.dtype;
        Ok(self.op("ndarray.where", &[&all, &value, &value], "", (shape, dtype)))
    }

    /// A window of a base, with sizes of 1 where it repeats elements.
    fn read(&mut self, place: &Place, segment: &Segment) -> Result<Value> {
        let base = &segment.bases[place.base];
        let whole = self.value(base)?;
        let window = &place.window;
        if window.is_all_of(base.shape()) {
            return Ok(whole);
        }
        let (seen, view) = match View::of(window, base.shape()) {
            Some(view) => (whole, view),
            None => {
                let stretch = stretch_of(window, base)?;
                let flat = self.reshaped(&whole, &[whole.shape.iter().product()]);
                (self.stretched(&flat, &stretch), stretch.view)
            }
        };
        let mut value = self.subview(&seen, &view);
        value = self.permuted(value, &view.order);
        let shape: Dims<usize> = window
            .shape
            .iter()
            .zip(&window.strides)
            .map(|(size, stride)| if *stride == 0 { 1 } else { *size })
            .collect();
        Ok(if value.shape == shape { value } else { self.reshaped(&value, &shape) })
    }

    /// A stretch of the elements in C order, in the shape that its view needs.
    fn stretched(&mut self, flat: &Value, stretch: &Stretch) -> Value {
        let part = View::stretch(stretch.first, stretch.shape.iter().product());
        let part = self.subview(flat, &part);
        self.reshaped(&part, &stretch.shape)
    }

    fn subview(&mut self, whole: &Value, view: &View) -> Value {
        let (made, slicing) = (self.fresh(), view.slicing());
        let (from, to) =
            (self.ty(&whole.shape, whole.dtype), self.ty(&view.kept_sizes(), whole.dtype));
        let name = &whole.name;
        self.lines.push(format!("{made} = ndarray.subview {name}{slicing} : {from} to {to}"));
        Value { name: made, shape: view.kept_sizes(), dtype: whole.dtype }
    }

    /// The value with its dimensions in another order.
    fn permuted(&mut self, value: Value, order: &[usize]) -> Value {
        if order.iter().copied().eq(0..order.len()) {
            return value;
        }
        let shape: Dims<usize> = order.iter().map(|axis| value.shape[*axis]).collect();
        let axes: Vec<String> = order.iter().map(usize::to_string).collect();
        let about = format!("axes = array<i64: {}>", axes.join(", "));
        let dtype = value.dtype;
        self.op("ndarray.permute_dims", &[&value], &about, (&shape, dtype))
    }

    fn reshaped(&mut self, value: &Value, shape: &[usize]) -> Value {
        let sizes = self.sizes(shape).join(", ");
        let types: String = shape.iter().map(|_| ", index").collect();
        let (made, from) = (self.fresh(), self.ty(&value.shape, value.dtype));
        let to = self.ty(shape, value.dtype);
        let name = &value.name;
        let gap = if shape.is_empty() { "" } else { " " };
        self.lines.push(format!(
            "{made} = ndarray.reshape {name} shape{gap}{sizes} : ({from}{types}) -> {to}"
        ));
        Value { name: made, shape: shape.into(), dtype: value.dtype }
    }

    /// Writes a value to a window of a base.
    fn write(
        &mut self,
        target: &Place,
        window: &Window,
        value: Value,
        segment: &Segment,
    ) -> Result<()> {
        let base = &segment.bases[target.base];
        if window.is_all_of(base.shape()) {
            // An array of its own: what is read later must not change it.
            let is_own = !self.known.values().any(|known| known.name == value.name);
            let dtype = value.dtype;
            let made = match is_own {
                true => value,
                false => self.op("ndarray.copy", &[&value], "", (base.shape(), dtype)),
            };
            self.known.insert(Rc::as_ptr(base), made);
            return Ok(());
        }
        let whole = self.value(base)?;
        let Some(view) = View::of(window, base.shape()) else {
            let stretch = stretch_of(window, base)?;
            let flat = self.reshaped(&whole, &[whole.shape.iter().product()]);
            let seen = self.stretched(&flat, &stretch);
            self.insert(value, &seen, window, &stretch.view);
            let n_elements = stretch.shape.iter().product();
            let written = self.reshaped(&seen, &[n_elements]);
            self.insert_at(&written, &flat, &View::stretch(stretch.first, n_elements));
            let whole = self.reshaped(&flat, base.shape());
            self.known.insert(Rc::as_ptr(base), whole);
            return Ok(());
        };
        self.insert(value, &whole, window, &view);
        Ok(())
    }

    /// Writes a value, which has the shape of a window, to where a view shows it.
    fn insert(&mut self, value: Value, whole: &Value, window: &Window, view: &View) {
        // In the order of the base's dimensions, all of them.
        let mut back: Vec<usize> = (0..window.shape.len()).collect();
        back.sort_by_key(|axis| view.along[*axis].unwrap_or(0));
        let mut value = self.permuted(value, &back);
        if value.shape != view.sizes {
            value = self.reshaped(&value, &view.sizes);
        }
        self.insert_at(&value, whole, view);
    }

    fn insert_at(&mut self, value: &Value, whole: &Value, view: &View) {
        let (from, to) = (self.ty(&value.shape, value.dtype), self.ty(&whole.shape, whole.dtype));
        let (name, into, slicing) = (&value.name, &whole.name, view.slicing());
        self.lines
            .push(format!("ndarray.insert_slice {name} into {into}{slicing} : {from} into {to}"));
    }
}

fn reduce_of(how: Reduction) -> Result<Reduce> {
    let name = match how {
        Reduction::Sum => "sum",
        Reduction::Product => "prod",
        Reduction::Minimum | Reduction::ArgMinValue => "min",
        Reduction::Maximum | Reduction::ArgMaxValue => "max",
        Reduction::Mean | Reduction::VarianceMean => "mean",
        Reduction::Variance => "var",
        Reduction::Any => "any",
        Reduction::All => "all",
        Reduction::Count => "count_nonzero",
        Reduction::ArgMin => "argmin",
        Reduction::ArgMax => "argmax",
    };
    Reduce::from_name(name).ok_or_else(|| unsaid(name))
}

/// A type of elements in words.
fn element(dtype: Dtype) -> String {
    let bits = 8 * dtype.size();
    match dtype.kind() {
        Kind::Bool => "i1".to_string(),
        Kind::Signed => format!("i{bits}"),
        Kind::Unsigned => format!("ui{bits}"),
        Kind::Float if dtype == Dtype::BFloat16 => "bf16".to_string(),
        Kind::Float => format!("f{bits}"),
        Kind::Complex => format!("complex<f{}>", bits / 2),
    }
}

/// The constant that a number is.
fn in_words(number: Scalar) -> String {
    let ty = element(number.dtype);
    let float = |float: f64| float_text(float, part_of(number.dtype));
    match Number::from_scalar(number) {
        Number::Bool(truth) => format!("arith.constant {truth}"),
        Number::Int(int) => format!("arith.constant {int} : {ty}"),
        Number::Float(one) => format!("arith.constant {} : {ty}", float(one)),
        Number::Complex(re, im) => {
            format!("complex.constant [{}, {}] : {ty}", float(re), float(im))
        }
    }
}

/// The floating type of an element, or of its parts.
fn part_of(dtype: Dtype) -> partita_ir::Scalar {
    match dtype {
        Dtype::BFloat16 => partita_ir::Scalar::Bf16,
        Dtype::Float16 => partita_ir::Scalar::F16,
        Dtype::Float32 | Dtype::Complex64 => partita_ir::Scalar::F32,
        _ => partita_ir::Scalar::F64,
    }
}
