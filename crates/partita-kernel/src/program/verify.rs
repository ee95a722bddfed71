//! Whether a program means anything: judged once, before it is compiled.

use super::{
    Action, Fault, Instruction, MAX_BUFFERS, MAX_INSTRUCTIONS, MAX_NDIM, Op, Output, Program,
    Reduction, Value,
};
use crate::dtype::Dtype;
use crate::error::{KernelError, Result};

impl Program {
    /// Refuses programs that have no meaning.
    ///
    /// # Errors
    /// The first fault found, by name: see [`KernelError::reason`].
    pub fn verify(&self) -> Result<()> {
        if let Some(fault) = self.fault {
            return Err(self.refuse(fault));
        }
        self.verify_counts()?;
        for (at, instruction) in self.instructions.iter().enumerate() {
            self.verify_instruction(at, instruction)?;
        }
        for (output, what) in self.outputs.iter().enumerate() {
            self.verify_output(output, what)?;
        }
        self.verify_axes()
    }

    fn refuse(&self, fault: Fault) -> KernelError {
        let ndim = self.ndim as usize;
        match fault {
            Fault::Dimensions(count) => {
                KernelError::TooMany { what: "dimensions", count, most: MAX_NDIM }
            }
            Fault::Axis(axis) => KernelError::AxisUnknown { axis, ndim },
            Fault::Index { at, axis } => {
                KernelError::SourceUnknown { at, op: Op::Index, number: axis, known: ndim }
            }
            Fault::Operands { at, op, given } => {
                KernelError::OperandCount { at, op, given, wanted: op.n_operands() }
            }
        }
    }

    fn verify_counts(&self) -> Result<()> {
        let bounds = [
            ("dimensions", self.ndim as usize, MAX_NDIM),
            ("inputs", self.inputs.len(), MAX_BUFFERS),
            ("scalars", self.scalars.len(), MAX_BUFFERS),
            ("outputs", self.outputs.len(), MAX_BUFFERS),
            ("constants", self.constants.len(), MAX_INSTRUCTIONS),
            ("instructions", self.instructions.len(), MAX_INSTRUCTIONS),
        ];
        for (what, count, most) in bounds {
            if count > most {
                return Err(KernelError::TooMany { what, count, most });
            }
        }
        if self.outputs.is_empty() {
            return Err(KernelError::NoOutput);
        }
        Ok(())
    }

    fn verify_instruction(&self, at: usize, instruction: &Instruction) -> Result<()> {
        if instruction.op.is_source() {
            return self.verify_source(at, instruction);
        }
        let n_operands = instruction.op.n_operands();
        for operand in &instruction.operands[..n_operands] {
            if operand.0 as usize >= at {
                return Err(KernelError::OperandNotBefore { at, operand: operand.0 as usize });
            }
        }
        let dtypes =
            instruction.operands.map(|v| self.instructions[v.0 as usize % at.max(1)].dtype);
        self.verify_types(at, instruction, &dtypes[..n_operands])
    }

    fn verify_types(&self, at: usize, instruction: &Instruction, given: &[Dtype]) -> Result<()> {
        let Instruction { op, dtype, .. } = *instruction;
        let refuse = |given: Dtype| Err(KernelError::OperandType { at, op, given });
        let alike = if op == Op::Where { &given[1..] } else { given };
        if op == Op::Where && given[0] != Dtype::Bool {
            return refuse(given[0]);
        }
        if let Some(&other) = alike.iter().find(|&&g| g != alike[0]) {
            return Err(KernelError::OperandsDiffer { at, op, first: alike[0], other });
        }
        if !op.takes(alike[0]) {
            return refuse(alike[0]);
        }
        match op.gives(alike[0]) {
            Some(wanted) if wanted != dtype => {
                Err(KernelError::ResultType { at, op, given: dtype, wanted })
            }
            _ => Ok(()),
        }
    }

    fn verify_source(&self, at: usize, instruction: &Instruction) -> Result<()> {
        let number = instruction.operands[0].0 as usize;
        let op = instruction.op;
        let (known, wanted) = match op {
            Op::Input => (self.inputs.len(), self.inputs.get(number).copied()),
            Op::Scalar => (self.scalars.len(), self.scalars.get(number).copied()),
            Op::Constant => (self.constants.len(), self.constants.get(number).map(|c| c.dtype)),
            _ => (self.ndim as usize, (number < self.ndim as usize).then_some(Dtype::Int64)),
        };
        let Some(wanted) = wanted else {
            return Err(KernelError::SourceUnknown { at, op, number, known });
        };
        if wanted != instruction.dtype {
            return Err(KernelError::ResultType { at, op, given: instruction.dtype, wanted });
        }
        Ok(())
    }

    fn verify_output(&self, output: usize, what: &Output) -> Result<()> {
        let value = what.value.0 as usize;
        if value >= self.instructions.len() {
            return Err(KernelError::OutputUnknown { output, value });
        }
        let dtype = self.dtype(what.value);
        match what.action {
            Action::Store => Ok(()),
            Action::Reduce(reduction) => self.verify_reduction(output, reduction, what, dtype),
            Action::RunningSum | Action::RunningProduct if dtype == Dtype::Bool => {
                Err(KernelError::ScanType { output, given: dtype })
            }
            Action::RunningSum | Action::RunningProduct => Ok(()),
        }
    }

    fn verify_reduction(
        &self,
        output: usize,
        reduction: Reduction,
        what: &Output,
        given: Dtype,
    ) -> Result<()> {
        if !reduction.takes(given) {
            return Err(KernelError::ReductionType { output, reduction, given });
        }
        if reduction == Reduction::Variance && !self.is_correction(what.correction) {
            let value = what.correction.0 as usize;
            return Err(KernelError::CorrectionUnknown { output, value });
        }
        Ok(())
    }

    /// Whether a value is one number for the whole call, as float64.
    fn is_correction(&self, value: Value) -> bool {
        self.instructions.get(value.0 as usize).is_some_and(|instruction| {
            matches!(instruction.op, Op::Scalar | Op::Constant)
                && instruction.dtype == Dtype::Float64
        })
    }

    fn verify_axes(&self) -> Result<()> {
        if self.reduces() && self.scans() {
            return Err(KernelError::ReducesAndScans);
        }
        if u32::from(self.reduced_axes) >> self.ndim != 0 {
            let axis = 15 - self.reduced_axes.leading_zeros() as usize;
            return Err(KernelError::AxisUnknown { axis, ndim: self.ndim as usize });
        }
        if self.scans() && self.scan_axis >= self.ndim {
            let axis = self.scan_axis as usize;
            return Err(KernelError::AxisUnknown { axis, ndim: self.ndim as usize });
        }
        Ok(())
    }
}
