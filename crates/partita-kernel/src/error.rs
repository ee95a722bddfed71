//! What can be wrong with a program or a call, each with a stable reason code.

use crate::dtype::Dtype;
use crate::program::{Op, Reduction};

/// Result of this crate.
pub type Result<T> = std::result::Result<T, KernelError>;

partita_error::errors! {
    /// Why a program or a call was refused.
    pub enum KernelError {
        TooMany { what: &'static str, count: usize, most: usize } "too-many" =>
            "{count} {what} are too many; {} until there are at most {most}", cure(what);
        NoOutput "no-output" =>
            "the program has no output; store or reduce a value";
        OperandNotBefore { at: usize, operand: usize } "operand-not-before" =>
            "instruction {at} uses {operand}, which does not come before it; order the list";
        OperandCount { at: usize, op: Op, given: usize, wanted: usize } "operand-count" =>
            "instruction {at}: {op:?} of {given} values; give it {wanted}";
        OperandType { at: usize, op: Op, given: Dtype } "operand-type" =>
            "instruction {at}: {op:?} does not take {given}; cast it first";
        OperandsDiffer { at: usize, op: Op, first: Dtype, other: Dtype } "operands-differ" =>
            "instruction {at}: {op:?} of {first} and {other}; cast them to one type first";
        ResultType { at: usize, op: Op, given: Dtype, wanted: Dtype } "result-type" =>
            "instruction {at}: {op:?} gives {wanted}, not {given}; correct its type";
        SourceUnknown { at: usize, op: Op, number: usize, known: usize } "source-unknown" =>
            "instruction {at}: {op:?} {number} does not exist; use one of the {known} there are";
        OutputUnknown { output: usize, value: usize } "output-unknown" =>
            "output {output} is value {value}, which no instruction makes; use one that is made";
        ReductionType { output: usize, reduction: Reduction, given: Dtype } "reduction-type" =>
            "output {output}: no {reduction:?} of {given}; cast it first";
        ScanType { output: usize, given: Dtype } "scan-type" =>
            "output {output}: nothing runs along {given}; cast it to an integer";
        CorrectionUnknown { output: usize, value: usize } "correction-unknown" =>
            "output {output}: value {value} does not correct a variance; give a scalar or a \
             constant of float64";
        ReducesAndScans "reduces-and-scans" =>
            "the program has reductions and running sums; make it two programs";
        AxisUnknown { axis: usize, ndim: usize } "axis-unknown" =>
            "axis {axis} does not exist; use one of the {ndim} of the space, counted from 0";
        CallCount { what: &'static str, given: usize, wanted: usize } "call-count" =>
            "{given} {what} were given; the program has {wanted}, give as many";
        ScalarType { scalar: usize, given: Dtype, wanted: Dtype } "scalar-type" =>
            "scalar {scalar} is {given}; give {wanted}, as the program says";
        ExtentsOverflow { extents: Vec<usize> } "extents-overflow" =>
            "the extents {extents:?} have more points than a kernel visits, 2 to the 44th; use smaller ones";
        SpanOverflow { what: &'static str, number: usize } "span-overflow" =>
            "{what} {number} reaches beyond the address space; check its strides";
        EmptyReduction { output: usize, reduction: Reduction } "empty-reduction" =>
            "output {output}: {reduction:?} of no elements has no value; reduce at least one";
        OutputRepeats { output: usize, axis: usize } "output-repeats" =>
            "output {output} meets itself along axis {axis}; give strides that reach each element \
             once";
        OutputReadElsewhere { output: usize, input: usize } "output-read-elsewhere" =>
            "output {output} overlaps input {input} at other points; write to a copy";
        OutputsOverlap { first: usize, second: usize } "outputs-overlap" =>
            "outputs {first} and {second} overlap; give them memory of their own";
    }
}

/// What to do about too many of something.
fn cure(what: &str) -> &'static str {
    match what {
        "dimensions" => "merge neighbours or loop over some outside the program",
        _ => "split the program",
    }
}

#[cfg(test)]
mod tests {
    use super::KernelError;

    #[test]
    fn too_many_dimensions_are_not_cured_by_splitting() {
        let error = KernelError::TooMany { what: "dimensions", count: 17, most: 16 };
        assert!(error.to_string().contains("merge"), "{error}");
        let error = KernelError::TooMany { what: "inputs", count: 65, most: 64 };
        assert!(error.to_string().contains("split"), "{error}");
    }

    #[test]
    fn every_reason_is_its_variant_and_every_message_has_a_cure() {
        assert_eq!(partita_error::judge(KernelError::TABLE, "", &[]), [""; 0]);
    }
}
