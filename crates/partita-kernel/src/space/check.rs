//! Whether a call fits a program.

use super::overlap::Reach;
use super::{Call, View};
use crate::error::{KernelError, Result};
use crate::program::{Action, Program};

/// Refuses calls that do not fit, and gives the number of points.
pub fn check(program: &Program, call: &Call<'_>) -> Result<usize> {
    check_counts(program, call)?;
    for (scalar, (given, &wanted)) in call.scalars.iter().zip(&program.scalars).enumerate() {
        if given.dtype != wanted {
            return Err(KernelError::ScalarType { scalar, given: given.dtype, wanted });
        }
    }
    let n_points = n_points(call.extents)?;
    check_empty(program, call)?;
    if n_points > 0 {
        check_memory(program, call)?;
    }
    Ok(n_points)
}

fn check_counts(program: &Program, call: &Call<'_>) -> Result<()> {
    let ndim = program.ndim as usize;
    let equal = |what, given, wanted| {
        if given == wanted { Ok(()) } else { Err(KernelError::CallCount { what, given, wanted }) }
    };
    equal("extents", call.extents.len(), ndim)?;
    equal("inputs", call.inputs.len(), program.inputs.len())?;
    equal("outputs", call.outputs.len(), program.outputs.len())?;
    equal("scalars", call.scalars.len(), program.scalars.len())?;
    for view in call.inputs.iter().chain(call.outputs) {
        equal("strides", view.strides.len(), ndim)?;
    }
    Ok(())
}

/// Points of a call. Repeated elements could make more without any memory, for days of work.
const MOST_POINTS: usize = 1 << 44;

/// The product of the extents; a zero among enormous ones is no way out.
fn n_points(extents: &[usize]) -> Result<usize> {
    let overflow = || KernelError::ExtentsOverflow { extents: extents.to_vec() };
    let mut all = 1_usize;
    let mut empty = false;
    for &extent in extents {
        empty |= extent == 0;
        all = all.checked_mul(extent.max(1)).ok_or_else(overflow)?;
    }
    let most = if empty { isize::MAX as usize } else { MOST_POINTS };
    if all > most {
        return Err(overflow());
    }
    Ok(if empty { 0 } else { all })
}

fn check_empty(program: &Program, call: &Call<'_>) -> Result<()> {
    let nothing = |axis: usize| program.is_reduced(axis) && call.extents[axis] == 0;
    if !(0..program.ndim as usize).any(nothing) {
        return Ok(());
    }
    for (output, what) in program.outputs.iter().enumerate() {
        if let Action::Reduce(reduction) = what.action
            && !reduction.has_empty()
        {
            return Err(KernelError::EmptyReduction { output, reduction });
        }
    }
    Ok(())
}

fn check_memory(program: &Program, call: &Call<'_>) -> Result<()> {
    for (output, view) in call.outputs.iter().enumerate() {
        let written = output_reach(program, call, output, view)?;
        if let Some(axis) = written.meets_itself() {
            return Err(KernelError::OutputRepeats { output, axis });
        }
        for (first, other) in call.outputs[..output].iter().enumerate() {
            if output_reach(program, call, first, other)?.meets(&written) {
                return Err(KernelError::OutputsOverlap { first, second: output });
            }
        }
        for (input, read) in call.inputs.iter().enumerate() {
            let size = program.inputs[input].size();
            let reach = Reach::new(read, call.extents, size, 0)
                .ok_or(KernelError::SpanOverflow { what: "input", number: input })?;
            let in_place = reduced_axes(program, output) == 0
                && read.data == view.data
                && written.same_steps(&reach);
            if !in_place && reach.meets(&written) {
                return Err(KernelError::OutputReadElsewhere { output, input });
            }
        }
    }
    Ok(())
}

fn output_reach<'a>(
    program: &Program,
    call: &Call<'a>,
    output: usize,
    view: &View<'a>,
) -> Result<Reach<'a>> {
    let size = program.output_dtype(output).size();
    Reach::new(view, call.extents, size, reduced_axes(program, output))
        .ok_or(KernelError::SpanOverflow { what: "output", number: output })
}

fn reduced_axes(program: &Program, output: usize) -> u16 {
    match program.outputs[output].action {
        Action::Reduce(_) => program.reduced_axes,
        _ => 0,
    }
}
