//! `ndarray`: the operations of array programs.
//!
//! Arrays are referred to: a view sees what is written into its source. So an operation that
//! looks at elements reads memory, and one that makes an array gives fresh memory; nothing with
//! either may be merged or moved across a write without looking.

use super::entry::{AttrRule, AttrSpec, Group, OpInfo, Piece, Tail, Traits, TypeRule};
use super::entry::{any, indices, may, must, one, optional};
use crate::kind::OpKind;

const READS_FRESH: Traits = Traits::READS.and(Traits::FRESH);
const VIEW: Traits = Traits::PURE.and(Traits::VIEW);

pub(super) const STATIC_SLICE: [AttrSpec; 3] = [
    must(
        "static_offsets",
        AttrRule::I64s,
        "first index per dimension; the smallest i64 for those given as operands",
    ),
    must("static_sizes", AttrRule::I64s, "number of entries per dimension, likewise"),
    must("static_strides", AttrRule::I64s, "distance of entries per dimension, likewise"),
];

const SLICE_OF_SOURCE: &[Group] =
    &[one("source", TypeRule::Array), indices("offsets"), indices("sizes"), indices("strides")];

const SLICE_OF_DESTINATION: &[Group] = &[
    one("destination", TypeRule::Array),
    one("source", TypeRule::Array),
    indices("offsets"),
    indices("sizes"),
    indices("strides"),
];

const COPY: AttrSpec =
    may("copy", AttrRule::Bool, "true: always copy; false: never; absent: where needed");

pub(super) const OPS: &[OpInfo] = &[
    OpInfo::new(OpKind::NdarrayDelete, "Frees an array; it must be the last use.")
        .takes(&[one("input", TypeRule::Array)])
        .promises(Traits::WRITES),
    OpInfo::new(OpKind::NdarrayFromMemref, "Makes an array of memory, which both share.")
        .takes(&[one("input", TypeRule::MemRef)])
        .gives(&[one("output", TypeRule::Array)])
        .promises(VIEW),
    OpInfo::new(
        OpKind::NdarrayToTensor,
        "The values of an array as a tensor, without its environments.",
    )
    .takes(&[one("input", TypeRule::Any)])
    .gives(&[one("output", TypeRule::Tensor)])
    .reads(&[Piece::Values("input")], Tail::To)
    .promises(Traits::READS),
    OpInfo::new(
        OpKind::NdarrayDim,
        "Size of one dimension; for a distributed array the global one.",
    )
    .takes(&[one("source", TypeRule::Array), one("index", TypeRule::Index)])
    .gives(&[one("size", TypeRule::Index)])
    .promises(Traits::PURE),
    OpInfo::new(OpKind::NdarraySubview, "A view of a strided slice: writing either writes both.")
        .takes(SLICE_OF_SOURCE)
        .gives(&[one("view", TypeRule::Array)])
        .knows(&STATIC_SLICE)
        .reads(&[Piece::Values("source"), Piece::Slice], Tail::To)
        .promises(VIEW),
    OpInfo::new(OpKind::NdarrayExtractSlice, "A strided slice as an array of its own.")
        .takes(SLICE_OF_SOURCE)
        .gives(&[one("slice", TypeRule::Array)])
        .knows(&STATIC_SLICE)
        .reads(&[Piece::Values("source"), Piece::Slice], Tail::To)
        .promises(READS_FRESH),
    OpInfo::new(
        OpKind::NdarrayInsertSlice,
        "Writes an array into a strided slice of another, in place; a 0-d array fills it.",
    )
    .takes(SLICE_OF_DESTINATION)
    .knows(&[
        STATIC_SLICE[0],
        STATIC_SLICE[1],
        STATIC_SLICE[2],
        may("placed", AttrRule::Unit, "each rank holds of the source what it owns of the slice"),
    ])
    .reads(
        &[Piece::Values("source"), Piece::Word("into"), Piece::Values("destination"), Piece::Slice],
        Tail::Into,
    )
    .promises(Traits::READS.and(Traits::WRITES)),
    OpInfo::new(
        OpKind::NdarrayImmutableInsertSlice,
        "A copy of an array with a strided slice replaced.",
    )
    .takes(SLICE_OF_DESTINATION)
    .gives(&[one("output", TypeRule::Array)])
    .knows(&STATIC_SLICE)
    .reads(
        &[Piece::Values("source"), Piece::Word("into"), Piece::Values("destination"), Piece::Slice],
        Tail::Arrow,
    )
    .promises(READS_FRESH),
    OpInfo::new(OpKind::NdarrayLoad, "One element.")
        .takes(&[one("array", TypeRule::Array), indices("indices")])
        .gives(&[one("element", TypeRule::Number)])
        .reads(&[Piece::Values("array"), Piece::Bracket("indices")], Tail::To)
        .promises(Traits::READS),
    OpInfo::new(OpKind::NdarrayCopy, "A copy, possibly on another device.")
        .takes(&[one("source", TypeRule::Array)])
        .gives(&[one("copy", TypeRule::Array)])
        .promises(READS_FRESH),
    OpInfo::new(OpKind::NdarrayCast, "The same array with more or less known about its shape.")
        .takes(&[one("source", TypeRule::Array)])
        .gives(&[one("result", TypeRule::Array)])
        .reads(&[Piece::Values("source")], Tail::To)
        .promises(VIEW),
    OpInfo::new(
        OpKind::NdarrayLinspace,
        "Evenly spaced numbers, the last one included if `endpoint` is there.",
    )
    .takes(&[
        one("start", TypeRule::Number),
        one("stop", TypeRule::Number),
        one("num", TypeRule::Number),
    ])
    .gives(&[one("result", TypeRule::Array)])
    .knows(&[may("endpoint", AttrRule::Unit, "whether the last number is `stop`")])
    .reads(
        &[
            Piece::Flag("endpoint"),
            Piece::Values("start"),
            Piece::Comma,
            Piece::Values("stop"),
            Piece::Comma,
            Piece::Values("num"),
        ],
        Tail::Arrow,
    )
    .promises(Traits::PURE.and(Traits::FRESH)),
    OpInfo::new(OpKind::NdarrayCreate, "A new array, filled with a value or not at all.")
        .takes(&[indices("shape"), optional("value", TypeRule::Number)])
        .gives(&[one("result", TypeRule::Array)])
        .knows(&[may(
            "dtype",
            AttrRule::DType,
            "element type, as older programs have it; the result's type decides",
        )])
        .reads(&[Piece::Values("shape"), Piece::Keyed("value", "value")], Tail::Arrow)
        .promises(Traits::PURE.and(Traits::FRESH)),
    OpInfo::new(OpKind::NdarrayReshape, "The same elements in another shape, C order.")
        .takes(&[one("source", TypeRule::Array), indices("shape")])
        .gives(&[one("result", TypeRule::Array)])
        .knows(&[COPY])
        .reads(&[Piece::Values("source"), Piece::Keyed("shape", "shape")], Tail::Arrow)
        .promises(Traits::READS),
    OpInfo::new(
        OpKind::NdarrayEwBin,
        "An operator on two arrays, element by element; dimensions of size 1 repeat.",
    )
    .takes(&[one("lhs", TypeRule::Array), one("rhs", TypeRule::Array)])
    .gives(&[one("result", TypeRule::Array)])
    .knows(&[must("op", AttrRule::EwBin, "the operator")])
    .reads(
        &[Piece::Operator, Piece::Values("lhs"), Piece::Comma, Piece::Values("rhs")],
        Tail::Arrow,
    )
    .promises(READS_FRESH),
    OpInfo::new(OpKind::NdarrayEwUny, "An operator on one array, element by element.")
        .takes(&[one("source", TypeRule::Array)])
        .gives(&[one("result", TypeRule::Array)])
        .knows(&[must("op", AttrRule::EwUny, "the operator")])
        .reads(&[Piece::Operator, Piece::Values("source")], Tail::Arrow)
        .promises(READS_FRESH),
    OpInfo::new(
        OpKind::NdarrayReduction,
        "All elements become one, or those along some dimensions.",
    )
    .takes(&[one("input", TypeRule::Array)])
    .gives(&[one("result", TypeRule::Array)])
    .knows(&[
        must("op", AttrRule::Reduce, "the reduction"),
        may("axes", AttrRule::I64s, "dimensions that go; all, if absent"),
        may("keepdims", AttrRule::Unit, "reduced dimensions stay with size 1"),
        may("correction", AttrRule::Number, "for `std` and `var`: what is taken from the count"),
    ])
    .reads(
        &[Piece::Operator, Piece::Values("input"), Piece::Numbers("axes"), Piece::Flag("keepdims")],
        Tail::Arrow,
    )
    .promises(READS_FRESH.and(Traits::COMMUNICATES)),
    OpInfo::new(OpKind::NdarrayCastElemtype, "The same numbers in another element type.")
        .takes(&[one("input", TypeRule::Array)])
        .gives(&[one("result", TypeRule::Array)])
        .knows(&[COPY])
        .reads(&[Piece::Values("input")], Tail::To)
        .promises(Traits::READS),
    OpInfo::new(OpKind::NdarrayPermuteDims, "A new array with the dimensions in another order.")
        .takes(&[one("source", TypeRule::Array)])
        .gives(&[one("result", TypeRule::Array)])
        .knows(&[must("axes", AttrRule::I64s, "dimension of the source for each of the result")])
        .reads(&[Piece::Values("source"), Piece::Numbers("axes")], Tail::Arrow)
        .promises(READS_FRESH),
    OpInfo::new(
        OpKind::NdarrayWhere,
        "Elements of one array where a condition holds, of another elsewhere.",
    )
    .takes(&[
        one("condition", TypeRule::Array),
        one("lhs", TypeRule::Array),
        one("rhs", TypeRule::Array),
    ])
    .gives(&[one("result", TypeRule::Array)])
    .promises(READS_FRESH),
    OpInfo::new(OpKind::NdarrayCumulative, "A running reduction along one dimension.")
        .takes(&[one("input", TypeRule::Array)])
        .gives(&[one("result", TypeRule::Array)])
        .knows(&[
            must("op", AttrRule::Reduce, "sum, prod, max or min"),
            must("axis", AttrRule::Int, "the dimension"),
            may(
                "initial",
                AttrRule::Unit,
                "the result begins with the neutral element and is longer by one",
            ),
        ])
        .reads(&[Piece::Operator, Piece::Values("input")], Tail::Arrow)
        .promises(READS_FRESH.and(Traits::COMMUNICATES)),
    OpInfo::new(OpKind::NdarrayIota, "An array of its own indices along one dimension.")
        .takes(&[indices("shape")])
        .gives(&[one("result", TypeRule::Array)])
        .knows(&[must("axis", AttrRule::Int, "the dimension whose index is taken")])
        .reads(&[Piece::Values("shape")], Tail::Arrow)
        .promises(Traits::PURE.and(Traits::FRESH)),
    OpInfo::new(
        OpKind::NdarrayRandom,
        "Random numbers that belong to a key and to global indices, not to ranks.",
    )
    .takes(&[one("key", TypeRule::Number), any("shape", TypeRule::Index)])
    .gives(&[one("result", TypeRule::Array)])
    .promises(Traits::PURE.and(Traits::FRESH)),
];
