//! Blocks, one operation after another: calls, loops, choices, numbers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use partita_ir::{Attr, Block, Module, OpKind, Scalar, Type};
use partita_ir::{Op, Value as Name};
use partita_layout::IndexBox;
use partita_team::is_interrupted;

use super::Runner;
use super::exchange::Site;
use super::facts::Facts;
use super::numbers::{compute, fitted};
use super::problem::{Outcome, Problem, RunError, problem};
use super::value::{Number, Value};

/// How often a loop asks whether it should end: asking takes the interpreter's lock.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Calls inside calls; more are taken for a recursion without end.
const MOST_CALLS: usize = 64;

/// The values of one call of a function.
#[derive(Debug)]
pub(super) struct Frame {
    values: Vec<Option<Value>>,
    pub facts: Rc<Facts>,
    /// What halo exchanges have found out.
    pub sites: RefCell<HashMap<Op, Rc<Site>>>,
    /// What all ranks have asked for in steady operations.
    pub boxes: RefCell<HashMap<Op, Rc<Vec<Vec<IndexBox>>>>>,
}

impl Frame {
    fn new(n_values: usize, facts: Rc<Facts>) -> Self {
        let (sites, boxes) = Default::default();
        Self { values: vec![None; n_values], facts, sites, boxes }
    }

    pub fn set(&mut self, name: Name, value: Value) {
        if self.values.len() <= name.index() {
            self.values.resize(name.index() + 1, None);
        }
        self.values[name.index()] = Some(value);
    }

    pub fn find(&self, name: Name) -> Option<&Value> {
        self.values.get(name.index()).and_then(Option::as_ref)
    }

    pub fn get(&self, name: Name) -> Outcome<&Value> {
        self.find(name).ok_or_else(|| problem("an operand has no value here; verify the program"))
    }

    /// Whether an operation has given numbers before that cannot have changed.
    fn knows(&self, module: &Module, op: Op) -> bool {
        self.facts.steady.has_numbers(op)
            && module.results(op).iter().all(|name| self.find(*name).is_some())
    }

    /// Drops values that nobody needs after an operation.
    fn forget(&mut self, op: Op) {
        for name in self.facts.lifetimes.after(op) {
            if let Some(value) = self.values.get_mut(name.index()) {
                *value = None;
            }
        }
    }

    pub fn number(&self, name: Name) -> Outcome<Number> {
        match self.get(name)? {
            Value::Number(number) => Ok(*number),
            _ => Err(problem("an array where a number is needed; load an element")),
        }
    }

    pub fn int(&self, name: Name) -> Outcome<i64> {
        Ok(self.number(name)?.int())
    }

    pub fn ints(&self, names: &[Name]) -> Outcome<Vec<i64>> {
        names.iter().map(|name| self.int(*name)).collect()
    }
}

impl Runner<'_> {
    /// Calls a function with values for its arguments.
    pub(super) fn call(&mut self, function: Op, arguments: Vec<Value>) -> Outcome<Vec<Value>> {
        let Some(body) = self.module.body(function) else {
            return Err(problem("the function has no body here; give it one"));
        };
        if self.depth == MOST_CALLS {
            return Err(problem(format!(
                "{MOST_CALLS} calls inside each other; end the recursion"
            )));
        }
        let module = self.module;
        let facts = self.facts.entry(function);
        let facts = facts.or_insert_with(|| Rc::new(Facts::of(module, function)));
        let mut frame = Frame::new(module.n_values(), Rc::clone(facts));
        self.depth += 1;
        let results = self.block(body, arguments, &mut frame);
        self.depth -= 1;
        results
    }

    /// Runs a block; gives the operands of what ends it.
    fn block(
        &mut self,
        block: Block,
        arguments: Vec<Value>,
        frame: &mut Frame,
    ) -> Outcome<Vec<Value>> {
        for (name, value) in self.module.arguments(block).iter().zip(arguments) {
            frame.set(*name, value);
        }
        for op in self.module.ops(block) {
            let kind = self.module.kind(op);
            let ends = [OpKind::FuncReturn, OpKind::ScfYield, OpKind::RegionEnvRegionYield];
            if ends.contains(&kind) {
                let results = self.given(op, frame).map_err(|problem| self.named(op, problem))?;
                frame.forget(op);
                return Ok(results);
            }
            if !frame.knows(self.module, op) {
                self.op(op, kind, frame).map_err(|problem| self.named(op, problem))?;
            }
            frame.forget(op);
        }
        Ok(Vec::new())
    }

    /// The operands of what ends a block.
    fn given(&self, op: Op, frame: &Frame) -> Outcome<Vec<Value>> {
        let operands = self.module.operands(op).iter();
        let results: Vec<Value> =
            operands.map(|name| frame.get(*name).cloned()).collect::<Outcome<_>>()?;
        results.iter().try_for_each(|value| self.deleted.check(value))?;
        Ok(results)
    }

    /// A problem with what a function gives, at the line where it does.
    pub(super) fn at_return(&self, function: Op, problem: Problem) -> Problem {
        let last = self.module.body(function).and_then(|body| self.module.last_op(body));
        self.named(last.unwrap_or(function), problem)
    }

    fn named(&self, op: Op, problem: Problem) -> Problem {
        let Problem::Own(problem) = problem else { return problem };
        let location = self.module.location(op);
        let operation = self.module.name(op).to_string();
        // A program that was built without text has no lines.
        if location.line == 0 {
            return Problem::Named(RunError::Whole { operation, problem });
        }
        Problem::Named(RunError::Operation {
            operation,
            line: location.line,
            column: location.column,
            problem,
        })
    }

    fn op(&mut self, op: Op, kind: OpKind, frame: &mut Frame) -> Outcome<()> {
        if !self.mover.is_idle() {
            self.settle(op, frame)?;
        }
        if !self.deleted.is_empty() {
            for name in self.module.operands(op) {
                self.deleted.check(frame.get(*name)?)?;
            }
        }
        match kind.dialect() {
            "arith" | "math" => self.number_op(op, kind, frame),
            "ndarray" => self.array_op(op, kind, frame),
            "dist" => self.dist_op(op, kind, frame),
            "distruntime" => self.runtime_op(op, kind, frame),
            "partition" => self.partition_op(op, kind, frame),
            _ => self.flow(op, kind, frame),
        }
    }

    /// Waits for movements that an operation depends on or would disturb.
    fn settle(&mut self, op: Op, frame: &Frame) -> Outcome<()> {
        use partita_ir::table::Traits;
        let traits = self.module.info(op).map_or(Traits::UNKNOWN, |info| info.traits);
        if traits.has(Traits::PURE) {
            return Ok(());
        }
        for name in self.module.operands(op) {
            let arrays = match frame.get(*name)? {
                Value::Array(array) => vec![array.clone()],
                Value::Dist(array) => array.parts.clone(),
                _ => continue,
            };
            for array in &arrays {
                match traits.has(Traits::WRITES) {
                    true => self.mover.settle_write(array)?,
                    false => self.mover.settle_read(array)?,
                }
            }
        }
        Ok(())
    }

    fn flow(&mut self, op: Op, kind: OpKind, frame: &mut Frame) -> Outcome<()> {
        let regions = self.module.regions(op);
        let results = match kind {
            OpKind::ScfFor => self.for_loop(op, frame)?,
            OpKind::ScfIf => {
                let condition = frame.int(self.module.operands(op)[0])? != 0;
                match regions.get(usize::from(!condition)) {
                    Some(region) => self.block(*region, Vec::new(), frame)?,
                    None => Vec::new(),
                }
            }
            OpKind::RegionEnvRegion => {
                let operands = self.module.operands(op).iter();
                let operands = operands.map(|name| frame.get(*name).cloned());
                self.block(regions[0], operands.collect::<Outcome<_>>()?, frame)?
            }
            OpKind::FuncCall => self.func_call(op, frame)?,
            _ => {
                let name = self.module.name(op);
                return Err(problem(format!(
                    "{name} cannot be run; use the operations of ndarray, dist, distruntime, partition, arith, math, scf and func"
                )));
            }
        };
        self.give(op, results, frame)
    }

    /// Gives an operation's results their values.
    pub(super) fn give(&self, op: Op, values: Vec<Value>, frame: &mut Frame) -> Outcome<()> {
        let results = self.module.results(op);
        if results.len() != values.len() {
            let (given, wanted) = (values.len(), results.len());
            return Err(problem(format!(
                "{given} values for {wanted} results; verify the program"
            )));
        }
        for (name, value) in results.iter().zip(values) {
            frame.set(*name, value);
        }
        Ok(())
    }

    fn func_call(&mut self, op: Op, frame: &mut Frame) -> Outcome<Vec<Value>> {
        let callee = match self.module.attr(op, "callee") {
            Some(Attr::Symbol(name)) => name.to_string(),
            _ => return Err(problem("it names no function; give it a callee")),
        };
        let function = self.function(&callee).map_err(Problem::Named)?;
        let arguments = self.module.operands(op).iter().map(|name| frame.get(*name).cloned());
        let arguments = arguments.collect::<Outcome<_>>()?;
        self.call(function, arguments)
    }

    fn for_loop(&mut self, op: Op, frame: &mut Frame) -> Outcome<Vec<Value>> {
        let operands = self.module.operands(op).to_vec();
        let body = self.module.regions(op)[0];
        let [lower, upper, step] = [0, 1, 2].map(|at| frame.int(operands[at]));
        let (lower, upper, step) = (lower?, upper?, step?);
        if step <= 0 {
            return Err(problem(format!("a loop counts by {step}; use a step above 0")));
        }
        let carried = operands[3..].iter().map(|name| frame.get(*name).cloned());
        let mut carried: Vec<Value> = carried.collect::<Outcome<_>>()?;
        // What the loop alone still uses must not be kept alive by its first values.
        for name in &operands[3..] {
            if self.module.uses(*name).len() == 1 {
                frame.values[name.index()] = None;
            }
        }
        let mut at = lower;
        let mut looked = Instant::now();
        while at < upper {
            if looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                if is_interrupted() {
                    return Err(self.interrupted());
                }
            }
            let mut arguments = vec![Value::Number(Number::Int(at))];
            arguments.append(&mut carried);
            carried = self.block(body, arguments, frame)?;
            self.engine.flush()?;
            let Some(next) = at.checked_add(step) else { break };
            at = next;
        }
        Ok(carried)
    }

    pub(super) fn number_op(&mut self, op: Op, kind: OpKind, frame: &mut Frame) -> Outcome<()> {
        let result = self.module.result(op);
        let Type::Scalar(ty) = self.module.ty(result) else {
            return self.tensor_op(op, kind, frame);
        };
        if kind == OpKind::ArithConstant {
            let value = constant(self.module.attr(op, "value"), *ty)?;
            frame.set(result, Value::Number(value));
            return Ok(());
        }
        let mut numbers = Vec::with_capacity(3);
        for name in self.module.operands(op) {
            match frame.get(*name)? {
                Value::Number(number) => numbers.push(*number),
                _ => return Err(problem("an array where a number is needed; load an element")),
            }
        }
        let first = self.module.operands(op).first();
        let from = first.and_then(|name| self.module.ty(*name).as_scalar()).unwrap_or(*ty);
        let predicate = self.module.attr(op, "predicate");
        let value = compute(kind, &numbers, predicate, from, *ty)?;
        frame.set(result, Value::Number(value));
        Ok(())
    }

    /// Choosing between arrays is the one thing `arith` does with them here.
    fn tensor_op(&mut self, op: Op, kind: OpKind, frame: &mut Frame) -> Outcome<()> {
        let operands = self.module.operands(op);
        if kind == OpKind::ArithSelect
            && let Value::Number(condition) = frame.get(operands[0])?
        {
            let chosen = operands[if condition.int() == 0 { 2 } else { 1 }];
            let chosen = frame.get(chosen)?.clone();
            frame.set(self.module.result(op), chosen);
            return Ok(());
        }
        let name = self.module.name(op);
        Err(problem(format!("{name} of tensors cannot be run; use ndarray.ewbin or ndarray.ewuny")))
    }
}

fn constant(value: Option<&Attr>, ty: Scalar) -> Outcome<Number> {
    let number = match value {
        Some(Attr::Int(number, _)) => Number::Int(*number),
        Some(Attr::Float(number, _)) => Number::Float(number.0),
        Some(Attr::Complex(real, imaginary, _)) => Number::Complex(real.0, imaginary.0),
        Some(Attr::Bool(truth)) => Number::Int((*truth).into()),
        _ => return Err(problem("the constant is no single number; use a number")),
    };
    Ok(fitted(number, ty))
}
