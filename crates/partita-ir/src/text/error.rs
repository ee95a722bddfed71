//! What can be wrong with a text.

partita_error::errors! {
    /// Why a text is no program.
    pub enum SyntaxError {
        BadUtf8 { offset: usize } "bad-utf8" =>
            "the bytes are not UTF-8 from byte {offset} on; save the file as UTF-8";
        TooLong { n_bytes: usize } "too-long" =>
            "{n_bytes} bytes of text; a program has less than 2^31";
        Expected { wanted: String, found: String } "expected" =>
            "expected {wanted}, found {found}; write {wanted} here";
        StrayCharacter { character: char } "stray-character" =>
            "the character {character:?} begins nothing here; remove it";
        OpenString "open-string" =>
            "a text in quotes does not end on its line; close it with \"";
        BadEscape "bad-escape" =>
            "a backslash in a text is followed by neither n, t, \", \\ nor two hexadecimal digits; \
             write \\\\ for the backslash itself";
        TooDeep { limit: usize } "too-deep" =>
            "more than {limit} things nested in each other; nest less deeply";
        NumberTooLarge { number: String, range: String } "number-too-large" =>
            "{number} does not fit {range}; use a number that does";
        UnknownType { name: String } "unknown-type" =>
            "{name} is no type; use index, i1 to i64, f16, bf16, f32, f64, complex<f64>, tensor<..>, \
             memref<..>, !ndarray.ndarray<..> or !distruntime.asynchandle";
        BadElement { found: String } "bad-element" =>
            "an array cannot be made of {found}; use an integer, index, floating or complex type";
        UnknownAlias { name: String } "unknown-alias" =>
            "{name} stands for nothing; define it above with `{name} = ..`";
        RepeatedAlias { name: String } "repeated-alias" =>
            "{name} is defined twice; remove one";
        UnknownValue { name: String } "unknown-value" =>
            "there is no value %{name} here; define it above, in this block or around it";
        RepeatedValue { name: String } "repeated-value" =>
            "%{name} is defined twice; give one another name";
        ValueNumber { name: String, number: u64, n_values: usize } "value-number" =>
            "%{name}#{number} of {n_values}; use a number below {n_values}";
        UnknownOperation { name: String } "unknown-operation" =>
            "{name} has no form of its own here; write it as \"{name}\"(..) : (..) -> (..), as \
             mlir-opt --mlir-print-op-generic does";
        OperandTypeCount { n_types: usize, n_operands: usize } "operand-type-count" =>
            "{n_types} types for {n_operands} operands; give one type for each";
        OperandType { name: String, used: String, defined: String } "operand-type" =>
            "%{name} is used as {used} but is {defined}; use the same type";
        ResultCount { n_names: usize, n_results: usize } "result-count" =>
            "{n_names} names for {n_results} results; name as many as there are";
        SegmentSizes { name: String, problem: String } "segment-sizes" =>
            "the group sizes of {name} {problem}; give one size per group that add up to the number \
             of values";
        SeveralBlocks "several-blocks" =>
            "a second block in a region; use scf.for and scf.if instead of branches";
        PartsCount { n_parts: usize, wanted: String } "parts-count" =>
            "{n_parts} local parts; give {wanted}";
        PartDims { n_dims: usize, ndim: usize } "part-dims" =>
            "a local part or an offset of {n_dims} dimensions for an array of {ndim}; give one \
             number per dimension";
        OffsetsMissing { ndim: usize } "offsets-missing" =>
            "a distributed array of {ndim} dimensions without loffs and lparts; only 0-d arrays \
             go without: write `loffs = {0} lparts = ..`", vec!["?"; *ndim].join(",");
        GridAxes { n_axes: usize, n_cuts: usize } "grid-axes" =>
            "a grid of {n_axes} axes cuts {n_cuts} dimensions; name one dimension per axis";
        CutDims { cut: Vec<i64>, ndim: usize } "cut-dims" =>
            "the grid cuts dimensions {cut:?} of {ndim}; name 1 to 8 dimensions below {ndim} in \
             increasing order";
        PlacementName { name: String } "placement-name" =>
            "a dimension is {name:?}; write \"distributed\" or \"replicated\"";
        OperatorName { name: String } "operator-name" =>
            "{name} is no operator of this operation; use one of the names in docs/dialect-ndarray.md";
        EndMissing { what: String } "end-missing" =>
            "the text ends inside {what}; close it";
        TooMany { n_errors: usize } "too-many" =>
            "{n_errors} errors; mend these first, the rest of the text was not read";
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_error_has_its_reason_and_a_cure() {
        let problems = partita_error::judge(super::SyntaxError::TABLE, "", &[]);
        assert!(problems.is_empty(), "{problems:?}");
    }
}
