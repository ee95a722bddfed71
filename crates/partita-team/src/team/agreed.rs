//! Agreed plans: what a team has run together, and may run again among partners alone.
//!
//! All ranks keep the same list, since all add to it in the same meetings and clear it whenever a
//! call fails. The first meeting for a plan only notes it: most plans run once. In the second each
//! rank tells how many partners it has; if all have few, the plan is agreed on.

use std::sync::{Arc, Mutex, PoisonError};

use partita_plan::Plan;

use crate::program::offer::Offer;
use crate::team::call::Call;
use crate::team::near::{MOST_PARTNERS, key_of};

/// Plans that a team remembers.
const MOST_PLANS: usize = 64;
/// Sets of buffers that partners remember of a rank, per plan.
const MOST_OFFERS: usize = 4;

/// What a team remembers of its runs, oldest first.
#[derive(Debug, Default)]
pub(crate) struct AgreedPlans(Vec<KnownRun>);

#[derive(Debug)]
struct KnownRun {
    call: Call,
    /// Ranks that this one gives to or takes from, once it has listed them.
    partners: Option<Arc<[u64]>>,
    verdict: Verdict,
}

/// Whether a plan is run by near calls.
#[derive(Debug)]
enum Verdict {
    Open,
    Agreed(Arc<AgreedPlan>),
    /// Some rank has too many partners.
    Refused,
}

/// A plan that a team runs by near calls.
#[derive(Debug)]
pub(crate) struct AgreedPlan {
    pub call: Call,
    /// Names the call in notes to partners.
    pub key: u64,
    /// Ranks that this one gives to or takes from, ascending.
    pub partners: Arc<[u64]>,
    /// The same with this rank.
    pub ranks: Arc<[u64]>,
    pub way: Way,
    offers: Mutex<ToldOffers>,
}

/// How near calls of a plan move data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By packed halos.
    Packed,
    /// Straight from and to their places, or by messages.
    Direct,
}

/// Offers that the partners know, by the numbers under which they keep them.
#[derive(Debug, Default)]
struct ToldOffers {
    offers: Vec<Arc<Offer>>,
    /// The one to be replaced next.
    oldest: usize,
}

impl AgreedPlans {
    /// What was agreed on for a call.
    pub(crate) fn find(&self, call: &Call) -> Option<&Arc<AgreedPlan>> {
        match &self.0.iter().find(|known| known.call == *call)?.verdict {
            Verdict::Agreed(agreed) => Some(agreed),
            Verdict::Open | Verdict::Refused => None,
        }
    }

    /// How many partners a rank has in a call that the team has made before, until all know.
    pub(crate) fn n_partners(&mut self, call: &Call, plan: &Plan, rank: u64) -> Option<u64> {
        let known = self.0.iter_mut().find(|known| known.call == *call)?;
        if !matches!(known.verdict, Verdict::Open) {
            return None;
        }
        let partners = known.partners.get_or_insert_with(|| partners_of(plan, rank));
        Some(partners.len() as u64)
    }

    /// Notes a call that all have made, and the most partners that any of them has, if all told.
    pub(crate) fn note(&mut self, call: &Call, rank: u64, most_partners: Option<u64>, way: Way) {
        let Some(known) = self.0.iter_mut().find(|known| known.call == *call) else {
            if self.0.len() == MOST_PLANS {
                self.0.remove(0);
            }
            let call = call.clone();
            return self.0.push(KnownRun { call, partners: None, verdict: Verdict::Open });
        };
        let (Some(most), Some(partners)) = (most_partners, known.partners.take()) else { return };
        known.verdict = if most > MOST_PARTNERS {
            Verdict::Refused
        } else {
            Verdict::Agreed(Arc::new(AgreedPlan::new(call, &partners, rank, way)))
        };
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Ranks that one gives to or takes from, ascending.
pub(crate) fn partners_of(plan: &Plan, rank: u64) -> Arc<[u64]> {
    let given = plan.sends(rank).into_iter().map(|m| m.target_rank);
    let mut partners: Vec<u64> =
        given.chain(plan.receives(rank).into_iter().map(|m| m.source_rank)).collect();
    partners.sort_unstable();
    partners.dedup();
    partners.retain(|other| *other != rank);
    partners.into()
}

impl AgreedPlan {
    fn new(call: &Call, partners: &Arc<[u64]>, rank: u64, way: Way) -> Self {
        let mut ranks = partners.to_vec();
        ranks.insert(ranks.partition_point(|other| *other < rank), rank);
        Self {
            call: call.clone(),
            key: key_of(call),
            partners: Arc::clone(partners),
            ranks: ranks.into(),
            way,
            offers: Mutex::default(),
        }
    }

    /// An offer that partners know if one fits, else a new one; its number, and whether it is known.
    pub(crate) fn offer(
        &self,
        fits: impl Fn(&Offer) -> bool,
        new: impl FnOnce() -> Offer,
    ) -> (Arc<Offer>, u64, bool) {
        let mut told = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = told.offers.iter().position(|offer| fits(offer)) {
            return (Arc::clone(&told.offers[at]), at as u64, true);
        }
        let offer = Arc::new(new());
        let at = if told.offers.len() < MOST_OFFERS {
            told.offers.push(Arc::clone(&offer));
            told.offers.len() - 1
        } else {
            let at = told.oldest;
            told.offers[at] = Arc::clone(&offer);
            told.oldest = (at + 1) % MOST_OFFERS;
            at
        };
        (offer, at as u64, false)
    }
}

#[cfg(test)]
mod tests {
    use partita_layout::Layout;
    use partita_plan::Dtype;

    use super::*;
    use crate::team::call::CallName;

    #[test]
    fn a_plan_is_agreed_on_in_its_second_meeting_if_all_have_few_partners() {
        let layout = Layout::parse(&[40], "block+halo(1,1) @ 5").expect("a layout");
        let plan = Plan::new(&layout, &layout, Dtype::F64).expect("a plan");
        let call = Call { name: CallName::RunInPlace, argument: plan.fingerprint() };
        let mut plans = AgreedPlans::default();
        assert_eq!(plans.n_partners(&call, &plan, 2), None);
        plans.note(&call, 2, None, Way::Direct);
        assert!(plans.find(&call).is_none());
        assert_eq!(plans.n_partners(&call, &plan, 2), Some(2));
        plans.note(&call, 2, Some(2), Way::Direct);
        let agreed = plans.find(&call).expect("all have agreed");
        assert_eq!((&*agreed.partners, &*agreed.ranks), (&[1, 3][..], &[1, 2, 3][..]));
        plans.clear();
        assert!(plans.find(&call).is_none());
        plans.note(&call, 2, None, Way::Direct);
        assert_eq!(plans.n_partners(&call, &plan, 2), Some(2));
        plans.note(&call, 2, Some(MOST_PARTNERS + 1), Way::Direct);
        assert!(plans.find(&call).is_none(), "another rank has too many");
        assert_eq!(plans.n_partners(&call, &plan, 2), None, "told once");
    }

    #[test]
    fn partners_remember_the_last_offers() {
        let call = Call::new(CallName::Run);
        let plan = AgreedPlan::new(&call, &Arc::from([1]), 0, Way::Direct);
        let known: Vec<Arc<Offer>> =
            (0..5).map(|_| plan.offer(|_| false, Offer::default).0).collect();
        let find = |offer: &Arc<Offer>| {
            let (_, slot, is_told) = plan.offer(|o| std::ptr::eq(o, &**offer), Offer::default);
            (slot, is_told)
        };
        assert_eq!(find(&known[4]), (0, true));
        assert_eq!(find(&known[1]), (1, true));
        assert_eq!(find(&known[0]), (1, false), "the oldest was replaced");
    }
}
