//! What calls cost in messages, counted on the code that sends them.

use std::sync::Arc;
use std::time::Duration;

use partita_plan::Plan;

use crate::memory::buffer::{Access, Buffer};
use crate::mpi::simulation::network::Network;
use crate::mpi::simulation::process::{Process, Step, run};
use crate::mpi::wire::{ControlMessage, NoteOf};
use crate::program::offer::{Half, Offer, Offered, Openness};
use crate::team::agreed::partners_of;
use crate::team::call::{Call, CallName};
use crate::team::meeting::Contribution;
use crate::team::near::NearPlace;

/// What a call costs the rank that it costs most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Control messages that it sends.
    pub n_sent: u64,
    /// Control messages that it gets.
    pub n_received: u64,
    /// Bytes of those it sends.
    pub n_bytes: u64,
    /// How many messages follow one another before the last rank goes on.
    pub n_hops: u64,
}

/// A message takes this long, and nothing else takes any time.
const HOP: Duration = Duration::from_micros(1);

/// What a script costs that all ranks go through.
fn cost_of(n_ranks: u64, script: impl Fn(u64) -> Vec<Step>) -> Cost {
    let members: Arc<[u64]> = (0..n_ranks).collect();
    let mut network = Network::new(n_ranks, Box::new(|| HOP));
    let rank = |own| Process::new(&members, None, own, script(own), None);
    let mut ranks: Vec<Process> = (0..n_ranks).map(rank).collect();
    run(&mut network, &mut ranks, Duration::MAX);
    let most = |of: fn(&super::network::Traffic) -> u64| network.traffic.iter().map(of).max();
    Cost {
        n_sent: most(|one| one.n_sent).unwrap_or_default(),
        n_received: most(|one| one.n_received).unwrap_or_default(),
        n_bytes: most(|one| one.n_bytes).unwrap_or_default(),
        n_hops: network.last_message.as_micros() as u64,
    }
}

/// What a barrier costs.
#[must_use]
pub fn cost_of_barrier(n_ranks: u64) -> Cost {
    let call = Call::new(CallName::Barrier);
    cost_of(n_ranks, |_| vec![Step::Meet(Contribution::new(call.clone()))])
}

/// What it costs that every rank gets so many bytes of every other.
#[must_use]
pub fn cost_of_exchange(n_ranks: u64, n_bytes: usize) -> Cost {
    let call = Call::new(CallName::exchange("allgather_data"));
    cost_of(n_ranks, |rank| {
        let bytes = vec![rank as u8; n_bytes].into();
        vec![Step::Meet(Contribution { bytes, ..Contribution::new(call.clone()) })]
    })
}

/// What the two meetings of a run cost: the first time, and once the buffers are known.
#[must_use]
pub fn cost_of_run(n_ranks: u64, shape: &[u64]) -> (Cost, Cost) {
    let offer = |rank: u64| {
        let buffer = Buffer {
            address: 0,
            shape: shape.to_vec(),
            strides: vec![8 * (rank as isize + 1); shape.len()],
            access: Access::Write,
        };
        let offered = vec![Offered::new(&buffer, Openness::Closed)];
        Arc::new(Offer { sources: offered.clone(), targets: offered, packed_halo: None })
    };
    let runs = |n_runs: usize| {
        cost_of(n_ranks, |rank| {
            let call = Call { name: CallName::Run, argument: "0123456789abcdef".into() };
            let contribution = Contribution { offer: Some(offer(rank)), ..Contribution::new(call) };
            vec![[Step::Meet(contribution), Step::Finish]; n_runs].concat()
        })
    };
    let (once, twice) = (runs(1), runs(2));
    let again = Cost {
        n_sent: twice.n_sent - once.n_sent,
        n_received: twice.n_received - once.n_received,
        n_bytes: twice.n_bytes - once.n_bytes,
        n_hops: twice.n_hops - once.n_hops,
    };
    (once, again)
}

/// What a run of a plan costs a rank once all have agreed on it: its partners alone are told.
#[must_use]
pub fn cost_of_near_call(plan: &Plan, rank: u64) -> Cost {
    let n_partners = partners_of(plan, rank).len() as u64;
    let place = NoteOf { team: 0, near: NearPlace { round: 0, number: 0 }, rank };
    let half = Half::First;
    let here = ControlMessage::Near { place, call: 0, slot: 0, tag: 0, half, offer: None };
    let done = ControlMessage::NearDone { place };
    let n_bytes = (here.encode().len() + done.encode().len()) as u64;
    let n_notes = 2 * n_partners;
    let n_hops = if n_partners == 0 { 0 } else { 2 };
    Cost { n_sent: n_notes, n_received: n_notes, n_bytes: n_partners * n_bytes, n_hops }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::relays;

    /// How many messages a rank sends at most in a round that all come to.
    fn most_messages(n_ranks: u64) -> u64 {
        if relays::is_relayed(n_ranks) {
            let steps = (0..).take_while(|step| relays::RADIX.pow(*step) < n_ranks).count() as u64;
            return steps * (relays::RADIX - 1);
        }
        n_ranks - 1
    }

    #[test]
    fn meetings_cost_messages_by_the_logarithm_of_the_team() {
        for n_ranks in [2, 3, 4, 5, 16, 17, 64, 250, 1024] {
            let Cost { n_sent, n_received, n_bytes, n_hops } = cost_of_barrier(n_ranks);
            let most = most_messages(n_ranks);
            assert!(n_sent <= most && n_received <= most, "{n_ranks} ranks: {n_sent} messages");
            assert!(n_bytes <= most * 400, "{n_ranks} ranks: {n_bytes} bytes");
            assert!(n_hops <= most.div_ceil(3).max(1), "{n_ranks} ranks: {n_hops} hops");
        }
    }

    #[test]
    fn every_byte_comes_to_every_rank_once() {
        for n_ranks in [3, 7, 40, 128] {
            let (small, large) = (cost_of_exchange(n_ranks, 0), cost_of_exchange(n_ranks, 1000));
            assert_eq!(large.n_sent, small.n_sent);
            let n_bytes = large.n_bytes - small.n_bytes;
            // Those that brought no bytes were told of in a few words.
            let words = 200 * n_ranks;
            assert!(n_bytes >= 1000 * (n_ranks - 1), "{n_ranks} ranks: {n_bytes}");
            assert!(n_bytes <= 1000 * (n_ranks - 1) + words, "{n_ranks} ranks: {n_bytes}");
        }
    }

    #[test]
    fn long_posts_go_straight_to_everybody() {
        let Cost { n_sent, n_bytes, n_hops, .. } = cost_of_exchange(16, 100_000);
        assert_eq!((n_sent, n_hops), (15, 1));
        assert!(n_bytes < 15 * 100_300, "{n_bytes}");
    }

    #[test]
    fn buffers_that_are_known_are_not_told_again() {
        let (first, again) = cost_of_run(64, &[8, 512]);
        assert_eq!((first.n_sent, again.n_sent), (18, 18));
        assert!(again.n_bytes < first.n_bytes / 5, "{again:?} after {first:?}");
    }
}
