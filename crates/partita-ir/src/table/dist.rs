//! `dist`: what each rank has of an array, and what it needs.
//!
//! Decisions where the specification leaves a choice: targets are counted in the slice and in the
//! owned part only, cores are counted from the target, boxes are global.

use super::entry::{
    AttrRule, AttrSpec, Group, OpInfo, Piece, Tail, Traits, TypeRule, any, indices, may, must, one,
};
use super::ndarray::STATIC_SLICE;
use crate::kind::OpKind;

const READS_FRESH: Traits = Traits::READS.and(Traits::FRESH);

const TILED: AttrSpec = may("tiled", AttrRule::Unit, "no two ranks compute the same element");

const BOX: &[Group] = &[indices("offsets"), indices("sizes")];

pub(super) const OPS: &[OpInfo] = &[
    OpInfo::new(OpKind::DistInitDistArray, "Makes a distributed array of its local parts; nothing is copied.")
        .takes(&[indices("l_offset"), any("parts", TypeRule::LocalArray)])
        .gives(&[one("array", TypeRule::DistArray)])
        .promises(Traits::PURE.and(Traits::VIEW)),
    OpInfo::new(OpKind::DistLocalOffsetsOf, "Global offset of the first local part, one number per dimension.")
        .takes(&[one("array", TypeRule::DistArray)])
        .gives(&[indices("offsets")])
        .reads(&[Piece::Call], Tail::Arrow)
        .promises(Traits::PURE),
    OpInfo::new(OpKind::DistPartsOf, "The local parts: left halo, owned, right halo; one part for 0-d arrays.")
        .takes(&[one("array", TypeRule::DistArray)])
        .gives(&[any("parts", TypeRule::LocalArray)])
        .reads(&[Piece::Call], Tail::Arrow)
        .promises(Traits::PURE.and(Traits::VIEW)),
    OpInfo::new(OpKind::DistDefaultPartition, "What a rank owns by default: cut along the first dimension, extras to the last ranks.")
        .takes(&[one("num_procs", TypeRule::Index), one("p_rank", TypeRule::Index), indices("g_shape")])
        .gives(&[indices("l_offsets"), indices("l_shape")])
        .reads(&[Piece::Call], Tail::Arrow)
        .promises(Traits::PURE),
    OpInfo::new(OpKind::DistLocalTargetOfSlice, "Entries of a slice whose elements this rank owns, counted in the slice.")
        .takes(&[one("array", TypeRule::DistArray), indices("offsets"), indices("sizes"), indices("strides")])
        .gives(&[indices("t_offsets"), indices("t_sizes")])
        .reads(&[Piece::Values("array"), Piece::Bracket("offsets"), Piece::Bracket("sizes"), Piece::Bracket("strides")], Tail::To)
        .promises(Traits::PURE),
    OpInfo::new(OpKind::DistLocalBoundingBox, "Global box of what a rank needs of a view for its target, joined with an earlier box.")
        .takes(&[
            indices("offsets"),
            indices("sizes"),
            indices("strides"),
            indices("t_offsets"),
            indices("t_sizes"),
            indices("bb_offsets"),
            indices("bb_sizes"),
        ])
        .gives(BOX)
        .knows(&[may("inner", AttrRule::Bool, "true: what both boxes share; else the smallest box around both")])
        .reads(&[Piece::Flag("inner"), Piece::Bracket("offsets"), Piece::Bracket("sizes"), Piece::Bracket("strides"), Piece::Bracket("t_offsets"), Piece::Bracket("t_sizes"), Piece::Keyed("bboffs", "bb_offsets"), Piece::Keyed("bb_sizes", "bb_sizes")], Tail::Results)
        .promises(Traits::PURE),
    OpInfo::new(OpKind::DistLocalCore, "Entries of a target whose elements this rank owns, counted from the target, cut with an earlier core.")
        .takes(&[
            one("array", TypeRule::DistArray),
            indices("t_offsets"),
            indices("t_sizes"),
            indices("s_offsets"),
            indices("s_sizes"),
            indices("s_strides"),
            indices("c_offsets"),
            indices("c_sizes"),
        ])
        .gives(BOX)
        .reads(&[Piece::Values("array"), Piece::Keyed("toffs", "t_offsets"), Piece::Keyed("tsizes", "t_sizes"), Piece::Keyed("soffs", "s_offsets"), Piece::Keyed("ssizes", "s_sizes"), Piece::Keyed("sstrides", "s_strides"), Piece::Keyed("coffs", "c_offsets"), Piece::Keyed("csizes", "c_sizes")], Tail::To)
        .promises(Traits::PURE),
    OpInfo::new(OpKind::DistRepartition, "A copy of an array with the asked-for box on each rank; without a box, in the default partition.")
        .takes(&[one("array", TypeRule::DistArray), indices("target_offsets"), indices("target_sizes")])
        .gives(&[one("result", TypeRule::DistArray)])
        .knows(&[may("message", AttrRule::Int, "exchanges of one number travel together")])
        .reads(&[Piece::Values("array"), Piece::Keyed("loffs", "target_offsets"), Piece::Keyed("lsizes", "target_sizes")], Tail::To)
        .promises(Traits::READS.and(Traits::COMMUNICATES)),
    OpInfo::new(OpKind::DistSubview, "A view of a strided slice, with the entries that each rank is to have.")
        .takes(&[
            one("source", TypeRule::DistArray),
            indices("offsets"),
            indices("sizes"),
            indices("strides"),
            indices("target_offsets"),
            indices("target_sizes"),
        ])
        .gives(&[one("view", TypeRule::DistArray)])
        .knows(&[
            STATIC_SLICE[0],
            STATIC_SLICE[1],
            STATIC_SLICE[2],
            may("final", AttrRule::Unit, "the view is returned and must not look at a copy"),
        ])
        .reads(&[Piece::Values("source"), Piece::Slice, Piece::Keyed("toffs", "target_offsets"), Piece::Keyed("tsizes", "target_sizes")], Tail::To)
        .promises(Traits::PURE.and(Traits::VIEW)),
    OpInfo::new(OpKind::DistCheckedSlice, "Offsets and sizes of a slice, once it is certain that the slice stays inside an array of a shape; one that leaves it ends the program.")
        .takes(&[indices("shape"), indices("offsets"), indices("sizes"), indices("strides")])
        .gives(BOX)
        .reads(&[Piece::Bracket("shape"), Piece::Bracket("offsets"), Piece::Bracket("sizes"), Piece::Bracket("strides")], Tail::Results)
        .promises(Traits::PURE),
    OpInfo::new(OpKind::DistEwBin, "An operator on two distributed arrays, with a core that all loops share.")
        .takes(&[
            one("lhs", TypeRule::DistArray),
            one("rhs", TypeRule::DistArray),
            indices("core_offsets"),
            indices("core_sizes"),
            indices("target_offsets"),
        ])
        .gives(&[one("result", TypeRule::DistArray)])
        .knows(&[must("op", AttrRule::EwBin, "the operator"), TILED])
        .reads(&[Piece::Operator, Piece::Values("lhs"), Piece::Comma, Piece::Values("rhs"), Piece::Keyed("coffs", "core_offsets"), Piece::Keyed("csizes", "core_sizes"), Piece::Keyed("toffs", "target_offsets")], Tail::To)
        .promises(READS_FRESH),
    OpInfo::new(OpKind::DistEwUny, "An operator on one distributed array, with a core that all loops share.")
        .takes(&[
            one("source", TypeRule::DistArray),
            indices("core_offsets"),
            indices("core_sizes"),
            indices("target_offsets"),
        ])
        .gives(&[one("result", TypeRule::DistArray)])
        .knows(&[must("op", AttrRule::EwUny, "the operator"), TILED])
        .reads(&[Piece::Operator, Piece::Values("source"), Piece::Keyed("coffs", "core_offsets"), Piece::Keyed("csizes", "core_sizes"), Piece::Keyed("toffs", "target_offsets")], Tail::To)
        .promises(READS_FRESH),
    OpInfo::new(OpKind::DistWhere, "A choice between two distributed arrays, with a core that all loops share.")
        .takes(&[
            one("condition", TypeRule::DistArray),
            one("lhs", TypeRule::DistArray),
            one("rhs", TypeRule::DistArray),
            indices("core_offsets"),
            indices("core_sizes"),
            indices("target_offsets"),
        ])
        .gives(&[one("result", TypeRule::DistArray)])
        .knows(&[TILED])
        .reads(&[Piece::Values("condition"), Piece::Comma, Piece::Values("lhs"), Piece::Comma, Piece::Values("rhs"), Piece::Keyed("coffs", "core_offsets"), Piece::Keyed("csizes", "core_sizes"), Piece::Keyed("toffs", "target_offsets")], Tail::To)
        .promises(READS_FRESH),
];
