//! Near calls: runs of a plan that all have agreed on, which only partners come to.
//!
//! In most plans of a program that steps through time a rank has few partners. Once the whole team
//! has run such a plan, later runs of it need nobody else: each rank tells its partners that it has
//! come, and waits for theirs. `README.md` beside the engines says how calls that differ are found,
//! and why failures still reach everybody: a near call that cannot go on becomes a meeting of all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::program::offer::{Half, Offer};
use crate::team::call::{Call, CallName};
use crate::team::patience::Patience;

/// Ranks with more partners than this meet all others as well.
pub(crate) const MOST_PARTNERS: u64 = 32;

/// What ranks say that leave because they have come to their end.
pub(crate) const ENDED_WELL: &str = "its program has ended";

/// How often ranks that wait for nobody look whether all others are still there.
pub(crate) const ASK_EVERY: Duration = Duration::from_millis(100);

/// The near calls of a rank since all met last: how many, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct NearSum {
    pub n_calls: u64,
    pub hash: u64,
}

impl NearSum {
    /// The same with one more call.
    pub(crate) fn with(self, call: u64) -> Self {
        let hash = (self.hash.rotate_left(23) ^ call).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self { n_calls: self.n_calls + 1, hash }
    }
}

/// Which near call of a team it is: the round in which all meet next, and its number before that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NearPlace {
    pub round: u64,
    pub number: u64,
}

/// What a rank tells its partners when it comes to a near call.
#[derive(Debug, Clone)]
pub(crate) struct NearNote {
    /// Names the call.
    pub call: u64,
    pub offer: Arc<Offer>,
    /// Under which number partners keep the offer, and whether they have it already.
    pub slot: u64,
    pub is_told: bool,
    pub tag: u64,
    pub half: Half,
}

/// A near call as this rank makes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearCall<'a> {
    pub place: NearPlace,
    /// Names the call.
    pub key: u64,
    /// The call in words, for circles of waits.
    pub call: &'a Call,
    /// Ranks of the team.
    pub partners: &'a [u64],
}

/// Why a rank does not go on with a near call.
#[derive(Debug, Default)]
pub(crate) struct Stuck {
    /// How long it has waited.
    pub waited: Duration,
    /// Partners that had not come after a long wait; itself, if it has just waited for others.
    pub late: Vec<u64>,
}

impl Stuck {
    /// The late partners in bytes that others can read.
    pub(crate) fn late_bytes(&self) -> Arc<[u8]> {
        self.late.iter().flat_map(|rank| rank.to_le_bytes()).collect()
    }
}

/// The ranks that kept all waiting, from what each rank has told of its partners: those that were
/// waited for, and waited for nobody themselves.
pub(crate) fn latest(told: &[&[u8]]) -> Vec<u64> {
    let waited_for = |bytes: &[u8]| -> Vec<u64> {
        let (words, _) = bytes.as_chunks::<8>();
        words.iter().map(|word| u64::from_le_bytes(*word)).collect()
    };
    let waits = |rank: &u64| told.get(*rank as usize).is_some_and(|bytes| !bytes.is_empty());
    let mut late: Vec<u64> = told.iter().flat_map(|bytes| waited_for(bytes)).collect();
    late.retain(|rank| !waits(rank) && *rank < told.len() as u64);
    late.sort_unstable();
    late.dedup();
    late
}

/// How a wait for partners ended.
#[derive(Debug)]
pub(crate) enum Coming<T> {
    /// All have come.
    All(T),
    /// Some will not: this rank meets all others to find out why.
    Stuck(Stuck),
}

/// One rank's way to its partners.
pub(crate) trait NearMeeting {
    /// Where this rank's next near call belongs.
    fn near_place(&self) -> NearPlace;
    /// Whether it is known already that some member does not make a call, or is gone without having
    /// come to its end: this rank then need not begin. Ranks that wait for nobody hear of it so.
    fn is_called_off(&self, place: NearPlace) -> Result<bool>;
    /// Tells partners that this rank has come.
    fn tell_here(&self, call: &NearCall<'_>, note: &NearNote) -> Result<()>;
    /// Waits until partners have come; what they said, in their order.
    fn await_here(
        &self,
        call: &NearCall<'_>,
        patience: &Patience,
        began: Instant,
    ) -> Result<Coming<Vec<NearNote>>>;
    /// Tells partners that this rank has copied.
    fn tell_done(&self, call: &NearCall<'_>) -> Result<()>;
    /// Waits until partners have copied, or can copy no more.
    fn await_done(
        &self,
        call: &NearCall<'_>,
        patience: &Patience,
        began: Instant,
    ) -> Result<Coming<()>>;
    /// Counts a call that has ended well.
    fn count_near(&self, key: u64);
}

/// Names a call in notes to partners.
pub(crate) fn key_of(call: &Call) -> u64 {
    let first = match call.name {
        CallName::RunInPlace => 2_u64,
        _ => 1,
    };
    call.argument.bytes().fold(0xCBF2_9CE4_8422_2325 ^ first, |key, byte| {
        (key ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_waited_for_and_waits_for_nobody_is_late() {
        let told = [vec![1], vec![2, 0], vec![], vec![], vec![9]];
        let told = told.map(|late| Stuck { late, ..Stuck::default() }.late_bytes());
        assert_eq!(latest(&told.each_ref().map(|bytes| &**bytes)), [2]);
        assert!(latest(&[&[], &[]]).is_empty());
    }

    #[test]
    fn sums_tell_calls_and_their_order_apart() {
        let sum =
            |calls: &[u64]| calls.iter().fold(NearSum::default(), |sum, call| sum.with(*call));
        assert_eq!(sum(&[1, 2, 3]), sum(&[1, 2, 3]));
        assert_ne!(sum(&[1, 2, 3]), sum(&[1, 3, 2]));
        assert_ne!(sum(&[1, 2]), sum(&[1, 2, 0]));
        let call = |name, argument: &str| Call { name, argument: argument.into() };
        assert_ne!(key_of(&call(CallName::Run, "ab")), key_of(&call(CallName::RunInPlace, "ab")));
        assert_ne!(key_of(&call(CallName::Run, "ab")), key_of(&call(CallName::Run, "ac")));
    }
}
