//! `distruntime`: communication that is started, and waited for where its results are needed.

use super::entry::{
    AttrRule, AttrSpec, OpInfo, Piece, Tail, Traits, TypeRule, any, indices, may, must, one,
};
use crate::kind::OpKind;

const TEAM: AttrSpec = must("team", AttrRule::Any, "the team");
const MOVES: Traits = Traits::READS.and(Traits::COMMUNICATES).and(Traits::FRESH);

pub(super) const OPS: &[OpInfo] = &[
    OpInfo::new(OpKind::RuntimeTeamSize, "Number of ranks of a team.")
        .gives(&[one("size", TypeRule::Index)])
        .knows(&[TEAM])
        .promises(Traits::PURE),
    OpInfo::new(OpKind::RuntimeTeamMember, "This rank's number in a team.")
        .gives(&[one("member", TypeRule::Index)])
        .knows(&[TEAM])
        .promises(Traits::PURE),
    OpInfo::new(
        OpKind::RuntimeAllreduce,
        "Reduces the same element of all ranks' memory, in place on all.",
    )
    .takes(&[one("data", TypeRule::LocalArray)])
    .knows(&[
        must("op", AttrRule::Reduce, "the reduction"),
        may("team", AttrRule::Any, "the team; all ranks, if absent"),
    ])
    .reads(&[Piece::Operator, Piece::Values("data")], Tail::To)
    .promises(Traits::READS.and(Traits::WRITES).and(Traits::COMMUNICATES)),
    OpInfo::new(OpKind::RuntimeGetHalo, "Starts to fetch what a rank lacks of a global box.")
        .takes(&[
            one("local", TypeRule::LocalArray),
            indices("g_shape"),
            indices("l_offsets"),
            indices("bb_offsets"),
            indices("bb_sizes"),
        ])
        .gives(&[one("handle", TypeRule::Handle), any("halos", TypeRule::LocalArray)])
        .knows(&[
            TEAM,
            may("key", AttrRule::Int, "number under which the exchange is remembered; -1 for none"),
            may("message", AttrRule::Int, "exchanges of one number travel together"),
            may("cut", AttrRule::I64s, "dimensions that are cut; the first ones, if absent"),
        ])
        .promises(MOVES),
    OpInfo::new(OpKind::RuntimeCopyReshape, "Starts a reshape across ranks.")
        .takes(&[
            one("local", TypeRule::LocalArray),
            indices("g_shape"),
            indices("l_offsets"),
            indices("n_g_shape"),
            indices("n_l_offsets"),
            indices("n_l_shape"),
        ])
        .gives(&[one("handle", TypeRule::Handle), one("result", TypeRule::LocalArray)])
        .knows(&[TEAM])
        .promises(MOVES),
    OpInfo::new(OpKind::RuntimeCopyPermute, "Starts a permutation of dimensions across ranks.")
        .takes(&[
            one("local", TypeRule::LocalArray),
            indices("g_shape"),
            indices("l_offsets"),
            indices("n_l_offsets"),
            indices("n_l_shape"),
        ])
        .gives(&[one("handle", TypeRule::Handle), one("result", TypeRule::LocalArray)])
        .knows(&[
            TEAM,
            must("axes", AttrRule::I64s, "dimension of the source for each of the result"),
        ])
        .promises(MOVES),
    OpInfo::new(OpKind::RuntimeWait, "Waits until what a handle stands for has arrived.")
        .takes(&[one("handle", TypeRule::Handle)])
        .promises(Traits::WRITES.and(Traits::COMMUNICATES)),
];
