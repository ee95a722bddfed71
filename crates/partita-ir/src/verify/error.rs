//! What can be wrong with a program.

partita_error::errors! {
    /// Why a program makes no sense.
    pub enum VerifyError {
        OperandCount { op: String, group: String, found: usize, wanted: String } "operand-count" =>
            "{op} has {found} operands for {group}; give {wanted}";
        OperandType { op: String, group: String, value: String, found: String, wanted: String }
            "operand-type" =>
            "{value} of {op} ({group}) is {found}; use {wanted}";
        ResultCount { op: String, found: usize, wanted: String } "result-count" =>
            "{op} has {found} results; give {wanted}";
        ResultType { op: String, found: String, wanted: String } "result-type" =>
            "a result of {op} is {found}; make it {wanted}";
        AttrMissing { op: String, name: String, wanted: String } "attr-missing" =>
            "{op} has no attribute {name}; give it {wanted}";
        AttrKind { op: String, name: String, wanted: String } "attr-kind" =>
            "the attribute {name} of {op} is of another kind; make it {wanted}";
        RegionCount { op: String, found: usize, wanted: String } "region-count" =>
            "{op} has {found} nested blocks; give {wanted}";
        UseBeforeDefinition { op: String, value: String } "use-before-definition" =>
            "{op} uses {value}, which is not defined before it; move the definition up, into this \
             block or one around it";
        BlockEnd { op: String, wanted: String } "block-end" =>
            "the block of {op} does not end in {wanted}; add it as the last operation, once";
        FunctionRepeated { name: String } "function-repeated" =>
            "there are two functions @{name}; give one another name";
        FunctionArguments { name: String } "function-arguments" =>
            "the body of @{name} has other arguments than its type says; make them the same";
        Placement { op: String } "placement" =>
            "{op} stands at the wrong level; functions stand in the module, everything else in \
             functions";
        ReturnTypes { owner: String, found: String, wanted: String } "return-types" =>
            "{owner} ends with ({found}) but should give ({wanted}); return values of these types";
        CalleeUnknown { name: String } "callee-unknown" =>
            "there is no function @{name}; declare it with `func.func private @{name}(..)`";
        CalleeTypes { name: String, wanted: String } "callee-types" =>
            "a call of @{name} has other types than the function; use {wanted}";
        TypesDiffer { op: String, found: String, wanted: String } "types-differ" =>
            "{op} mixes {found} with {wanted}; use one type";
        ConstantType { found: String, wanted: String } "constant-type" =>
            "a constant of type {found} has the value of a {wanted}; use one type";
        CastWidth { op: String, from: String, to: String } "cast-width" =>
            "{op} cannot go from {from} to {to}; use another cast";
        ElseMissing "else-missing" =>
            "scf.if gives values but has no else; add one that gives the other values";
        TeamsDiffer { op: String, first: String, second: String } "teams-differ" =>
            "{op} has arrays of team {first} and team {second}; use arrays of one team";
        ElementsDiffer { op: String, found: String, wanted: String } "elements-differ" =>
            "{op} has the element type {found} where {wanted} belongs; cast with \
             ndarray.cast_elemtype";
        ComplexLost { op: String, found: String } "complex-lost" =>
            "{op} would make {found} of complex numbers; make the result complex, or take \
             their real parts first";
        ShapesDiffer { op: String, what: String, found: String, wanted: String } "shapes-differ" =>
            "{what} of {op} has the shape {found}; make it {wanted}";
        NotBroadcast { op: String, shapes: String } "not-broadcast" =>
            "the shapes {shapes} of {op} do not go together; from the last dimension on, sizes must \
             be the same or 1";
        SliceDims { op: String, name: String, found: usize, ndim: usize } "slice-dims" =>
            "{name} of {op} has {found} numbers for {ndim} dimensions; give one per dimension";
        SliceOperands { op: String, name: String, n_unknown: usize, n_operands: usize }
            "slice-operands" =>
            "{name} of {op} leaves {n_unknown} numbers open and has {n_operands} operands; give one \
             operand for each";
        SliceNumber { op: String, name: String, number: i64 } "slice-number" =>
            "{name} of {op} has {number}; offsets and sizes are at least 0, strides not 0";
        SliceOutside { op: String, dim: usize, index: i128, extent: u64 } "slice-outside" =>
            "{op} reaches index {index} of dimension {dim}, whose size is {extent}; keep the slice \
             inside";
        TargetCount { op: String, name: String, found: usize, ndim: usize } "target-count" =>
            "{name} of {op} has {found} numbers; give {ndim}, one per dimension, or none";
        PartsCount { op: String, found: usize, wanted: usize } "parts-count" =>
            "{op} has {found} local parts; give {wanted}: halos and, in the middle, what is owned";
        AxesNotPermutation { axes: Vec<i64>, ndim: usize } "axes-not-permutation" =>
            "the axes {axes:?} are no order of {ndim} dimensions; name each of 0 to {ndim} - 1 once";
        AxisOutside { op: String, axis: i64, ndim: usize } "axis-outside" =>
            "{op} names dimension {axis} of {ndim}; use numbers below {ndim}, each once";
        ReshapeSize { found: String, wanted: String } "reshape-size" =>
            "a reshape from {wanted} to {found} changes the number of elements; keep it";
        ReductionKind { op: String, name: String } "reduction-kind" =>
            "{op} cannot do {name}; use sum, prod, max or min";
        EnvDims { found: usize, ndim: usize } "env-dims" =>
            "a distribution of {found} dimensions on an array of {ndim}; give as many offsets and \
             sizes as the array has dimensions";
        EnvOutside { dim: usize, reach: u128, extent: u64 } "env-outside" =>
            "local parts reach index {reach} of dimension {dim}, whose size is {extent}; make them \
             fit";
        EnvParts { dim: usize } "env-parts" =>
            "the local parts do not make a block: they differ in dimension {dim}; give neighbours \
             the same size there";
        EnvCut { dim: usize, ndim: usize } "env-cut" =>
            "a grid cuts dimension {dim} of an array of {ndim} dimensions; cut dimensions below {ndim}, \
             one per axis of the grid";
        EnvGrid { shape: String } "env-grid" =>
            "no ranks stand on a grid of [{shape}]; give each axis at least 1 rank, and leave at most one \
             open with ?";
        GridsDiffer { op: String } "grids-differ" =>
            "the result of {op} lies where its source lies and has another grid; give both types the \
             same grid, or copy the array first";
        UseAfterDelete { op: String, value: String, line: u32 } "use-after-delete" =>
            "{op} looks at {value}, which ndarray.delete has freed in line {line}; delete it after its \
             last use";
        EncodingMissing { op: String } "encoding-missing" =>
            "{op} needs a partitioned tensor; give it the encoding #partition.encoding<sparse, \
             [\"distributed\", ..]>";
        SliceEncoding { op: String, found: String } "slice-encoding" =>
            "{op} has slices of type {found}; give them the sparsity encoding of the tensor's slices, \
             as in tensor<?x8xf64, #CSR>";
        EncodingDims { found: usize, ndim: usize } "encoding-dims" =>
            "{found} placements for a tensor of {ndim} dimensions; give one per dimension";
        EncodingSparsity { found: String } "encoding-sparsity" =>
            "{found} does not say how elements are stored; give a sparsity encoding, such as \
             #sparse_tensor.encoding<{{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }}>";
        EncodingMap { found: usize, ndim: usize } "encoding-map" =>
            "a sparsity encoding of {found} dimensions on a tensor of {ndim}; give its map as many";
        OperatorType { op: String, operator: String, element: String } "operator-type" =>
            "{op} has no {operator} of {element}; cast with ndarray.cast_elemtype, or use another operator";
        OperationUnknown { op: String, dialect: String, known: String } "operation-unknown" =>
            "there is no operation {op}; those of {dialect} are {known}";
        ElementWidth { element: String } "element-width" =>
            "arrays have no elements of {element}; use i1, i8, i16, i32 or i64";
        DevicesDiffer { op: String, first: String, second: String } "devices-differ" =>
            "{op} has arrays on {first} and on {second}; use arrays of one device";
        HandleNotWaited { op: String } "handle-not-waited" =>
            "nothing waits for what {op} started; add distruntime.wait on its handle";
    }
}
