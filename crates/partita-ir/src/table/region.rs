//! `region`: operations that run in an environment.

use super::entry::{AttrRule, OpInfo, Traits, TypeRule, any, must};
use crate::kind::OpKind;

pub(super) const OPS: &[OpInfo] = &[
    OpInfo::new(
        OpKind::RegionEnvRegion,
        "Runs what is nested in an environment, such as a device.",
    )
    .takes(&[any("arguments", TypeRule::Any)])
    .gives(&[any("results", TypeRule::Any)])
    .knows(&[must("environment", AttrRule::Any, "the environment")])
    .nests(1, 1),
    OpInfo::new(OpKind::RegionEnvRegionYield, "Ends an environment and gives its results.")
        .takes(&[any("results", TypeRule::Any)])
        .promises(Traits::PURE.and(Traits::TERMINATOR)),
];
