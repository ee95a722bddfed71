//! A slow model of what programs mean: all ranks at once, one operation after the other.
//!
//! The model runs a program at any level, on any number of ranks, in one thread, and counts what
//! crosses ranks. With data it is the oracle that passes are tested with; without, only shapes and
//! indices are computed, and it tells what a program will cost ([`crate::passes::explain`]).
//!
//! Numbers of arrays are `f64` whatever their type, and operators are those that tests need; what
//! the model does not know it refuses by name. It is not how programs are run.

mod array;
mod distributed;
mod local;
mod reduce;
mod steps;

use std::collections::HashMap;

pub use array::{Dist, Local};

use crate::attr::Attr;
use crate::kind::OpKind;
use crate::module::{Block, Module, Op, Value};
use crate::types::Scalar;

partita_error::errors! {
    /// Why the model does not run a program.
    pub enum ModelError {
        NoFunction { name: String } "model-function" =>
            "the module has no function `{name}` with a body";
        Arguments { wanted: usize, given: usize } "model-arguments" =>
            "the function takes {wanted} arguments and {given} were given";
        NumberMissing { function: String, number: usize } "model-number" =>
            "argument {number} of `{function}` is a number, which may decide how often a loop runs; \
             give it (--arg {number}=VALUE)";
        Unknown { what: String, line: u32 } "model-unknown" =>
            "the model cannot run {what} (line {line}); use `partita run`";
        TooLong { limit: usize } "model-long" =>
            "the program runs more than {limit} operations; explain a shorter loop";
        Inside { what: String, line: u32 } "model-inside" =>
            "{what} (line {line}): the program or a pass is wrong";
    }
}

/// A value on one rank.
#[derive(Debug, Clone)]
pub enum Item {
    /// A number.
    Number(Attr),
    /// An array of one rank.
    Local(Local),
    /// A distributed array.
    Dist(Dist),
    /// Communication under way.
    Handle,
}

/// What a run has counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Collective movements.
    pub exchanges: usize,
    /// Bytes that crossed ranks, summed over ranks.
    pub bytes: u64,
    /// Per rank, the largest loop between the start of an exchange and its wait.
    pub cores: Vec<Vec<i64>>,
}

/// Most operations that are run.
const LIMIT: usize = 1_000_000;

/// All ranks of a team, running one program.
#[derive(Debug)]
pub struct World<'m> {
    module: &'m Module,
    n_ranks: usize,
    with_data: bool,
    values: Vec<HashMap<Value, Item>>,
    counts: Counts,
    message: Option<i64>,
    n_open: usize,
    n_steps: usize,
}

impl<'m> World<'m> {
    /// A team of `n_ranks`; without data, arrays have shapes and nothing else.
    #[must_use]
    pub fn new(module: &'m Module, n_ranks: usize, with_data: bool) -> Self {
        let counts = Counts { cores: vec![Vec::new(); n_ranks], ..Counts::default() };
        let values = vec![HashMap::new(); n_ranks];
        Self { module, n_ranks, with_data, values, counts, message: None, n_open: 0, n_steps: 0 }
    }

    /// What was counted so far.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Runs a function. Arguments are whole arrays or numbers; results are given per rank.
    ///
    /// # Errors
    /// What the model does not know, and programs that reach outside their arrays.
    pub fn run(
        &mut self,
        name: &str,
        arguments: &[Vec<f64>],
    ) -> Result<Vec<Vec<Item>>, ModelError> {
        let missing = || ModelError::NoFunction { name: name.into() };
        let function = self.module.function(name).ok_or_else(missing)?;
        let body = self.module.body(function).ok_or_else(missing)?;
        let formal = self.module.arguments(body).to_vec();
        if self.with_data && formal.len() != arguments.len() {
            let (wanted, given) = (formal.len(), arguments.len());
            return Err(ModelError::Arguments { wanted, given });
        }
        for (number, value) in formal.into_iter().enumerate() {
            let data = arguments.get(number).map_or(&[][..], Vec::as_slice);
            self.bind_argument(function, value, data)?;
        }
        let results = self.block(body)?;
        let item = |rank: usize, value: &Value| self.values[rank][value].clone();
        Ok((0..self.n_ranks)
            .map(|rank| results.iter().map(|value| item(rank, value)).collect())
            .collect())
    }

    /// The whole array that distributed parts make together.
    #[must_use]
    pub fn gathered(parts: &[&Item]) -> Vec<f64> {
        let arrays: Vec<&Dist> = parts
            .iter()
            .filter_map(|item| match item {
                Item::Dist(array) => Some(array),
                _ => None,
            })
            .collect();
        distributed::gather(&arrays)
    }

    /// Runs a block; gives the operands of its last operation.
    fn block(&mut self, block: Block) -> Result<Vec<Value>, ModelError> {
        let mut last = Vec::new();
        for op in self.module.ops(block) {
            self.n_steps += 1;
            if self.n_steps > LIMIT {
                return Err(ModelError::TooLong { limit: LIMIT });
            }
            match self.module.kind(op) {
                OpKind::FuncReturn | OpKind::ScfYield => last = self.module.operands(op).to_vec(),
                OpKind::ScfFor => self.for_loop(op)?,
                OpKind::ScfIf => self.choice(op)?,
                _ => self.step(op)?,
            }
        }
        Ok(last)
    }

    fn for_loop(&mut self, op: Op) -> Result<(), ModelError> {
        let operands = self.module.operands(op).to_vec();
        let bound = |world: &Self, n: usize| world.index(op, 0, operands[n]);
        let (lower, upper, step) = (bound(self, 0)?, bound(self, 1)?, bound(self, 2)?);
        let block = self.module.regions(op)[0];
        let arguments = self.module.arguments(block).to_vec();
        let mut carried = operands[3..].to_vec();
        let mut at = lower;
        while at < upper && step > 0 {
            for rank in 0..self.n_ranks {
                let items: Vec<Item> =
                    carried.iter().map(|v| self.values[rank][v].clone()).collect();
                self.values[rank].insert(arguments[0], Item::Number(Attr::index(at)));
                self.values[rank].extend(arguments[1..].iter().copied().zip(items));
            }
            carried = self.block(block)?;
            at += step;
        }
        self.forward(op, &carried);
        Ok(())
    }

    fn choice(&mut self, op: Op) -> Result<(), ModelError> {
        let condition = self.index(op, 0, self.module.operands(op)[0])?;
        let chosen = self.module.regions(op).get(usize::from(condition == 0)).copied();
        let given = chosen.map_or(Ok(Vec::new()), |block| self.block(block))?;
        self.forward(op, &given);
        Ok(())
    }

    fn forward(&mut self, op: Op, from: &[Value]) {
        let results = self.module.results(op).to_vec();
        for values in &mut self.values {
            let items: Vec<Item> = from.iter().map(|value| values[value].clone()).collect();
            values.extend(results.iter().copied().zip(items));
        }
    }

    fn index(&self, op: Op, rank: usize, value: Value) -> Result<i64, ModelError> {
        match self.values[rank].get(&value) {
            Some(Item::Number(attr)) => attr.as_int().ok_or_else(|| self.unknown(op)),
            _ => Err(self.unknown(op)),
        }
    }

    fn indices(&self, op: Op, rank: usize, values: &[Value]) -> Result<Vec<i64>, ModelError> {
        values.iter().map(|value| self.index(op, rank, *value)).collect()
    }

    fn unknown(&self, op: Op) -> ModelError {
        let what = self.module.name(op).to_owned();
        ModelError::Unknown { what, line: self.module.location(op).line }
    }

    fn inside(&self, op: Op, what: &str) -> ModelError {
        let what = format!("{} {what}", self.module.name(op));
        ModelError::Inside { what, line: self.module.location(op).line }
    }

    fn n_bytes(&self, value: Value) -> u64 {
        self.module.ty(value).element().map_or(8, Scalar::n_bytes) as u64
    }
}
