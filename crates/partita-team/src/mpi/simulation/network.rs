//! The network of a simulation: a clock, and messages that come later than they were sent.

use std::collections::{BTreeMap, HashMap};
use std::iter;
use std::sync::Arc;
use std::time::{Duration, Instant};

use partita_mpi::MpiError;

use crate::memory::process::Life;
use crate::mpi::inbox::Inbox;
use crate::mpi::meeting::wire_offer;
use crate::mpi::outflow::Unsent;
use crate::mpi::round::Around;
use crate::mpi::wire::{ControlMessage, WireOffer};
use crate::program::offer::Offer;

/// Something that happens to a rank.
#[derive(Debug, Clone)]
pub(super) enum Event {
    /// As it was sent: what many ranks are told has memory once, or thousands of ranks would need
    /// more than a machine has.
    Message { from: u64, message: Arc<ControlMessage> },
    /// It takes note of the messages that have come.
    Poll,
    /// It is time to look around, if the rank still is in that wait.
    Look { wait: u64 },
    /// It has slept.
    Wake,
}

/// What a rank has sent and got.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Traffic {
    pub n_sent: u64,
    pub n_received: u64,
    pub n_bytes: u64,
}

/// The clock and what is under way.
pub(super) struct Network {
    pub began: Instant,
    pub now: Duration,
    events: BTreeMap<(Duration, u64), (u64, Event)>,
    n_events: u64,
    /// When the last message from one rank to another comes: none overtakes it.
    last: HashMap<(u64, u64), Duration>,
    delay: Box<dyn FnMut() -> Duration>,
    /// How long messages lie before a rank polls.
    pub poll_delay: Box<dyn FnMut() -> Duration>,
    /// When the last message has come.
    pub last_message: Duration,
    pub traffic: Vec<Traffic>,
    pub is_dead: Vec<bool>,
    /// How many more messages a rank sends before it dies.
    pub sends_left: HashMap<u64, u64>,
}

impl Network {
    pub(super) fn new(n_ranks: u64, delay: Box<dyn FnMut() -> Duration>) -> Self {
        Self {
            began: Instant::now(),
            now: Duration::ZERO,
            events: BTreeMap::new(),
            n_events: 0,
            last: HashMap::new(),
            delay,
            poll_delay: Box::new(|| Duration::ZERO),
            last_message: Duration::ZERO,
            traffic: vec![Traffic::default(); n_ranks as usize],
            is_dead: vec![false; n_ranks as usize],
            sends_left: HashMap::new(),
        }
    }

    pub(super) fn plan(&mut self, at: Duration, rank: u64, event: Event) {
        self.n_events += 1;
        self.events.insert((at, self.n_events), (rank, event));
    }

    /// The next event; the clock is set to it.
    pub(super) fn next(&mut self) -> Option<(u64, Event)> {
        let ((at, _), event) = self.events.pop_first()?;
        self.now = at;
        Some(event)
    }

    fn deliver(&mut self, from: u64, to: u64, message: &Arc<ControlMessage>, n_bytes: u64) {
        if let Some(left) = self.sends_left.get_mut(&from) {
            if *left == 0 {
                self.is_dead[from as usize] = true;
                return;
            }
            *left -= 1;
        }
        let at = (self.now + (self.delay)())
            .max(self.last.get(&(from, to)).copied().unwrap_or_default());
        self.last.insert((from, to), at);
        self.last_message = self.last_message.max(at);
        self.traffic[from as usize].n_sent += 1;
        self.traffic[from as usize].n_bytes += n_bytes;
        self.traffic[to as usize].n_received += 1;
        self.plan(at, to, Event::Message { from, message: Arc::clone(message) });
    }
}

/// What one rank has around it.
pub(super) struct Here<'a> {
    pub own: u64,
    pub inbox: &'a mut Inbox,
    pub network: &'a mut Network,
}

impl Around for Here<'_> {
    fn inbox(&mut self) -> &mut Inbox {
        self.inbox
    }

    fn send(
        &mut self,
        message: &ControlMessage,
        to: &mut dyn Iterator<Item = u64>,
    ) -> Result<(), MpiError> {
        let bytes = message.encode();
        debug_assert_eq!(ControlMessage::decode(&bytes).as_ref(), Some(message));
        let message = Arc::new(message.clone());
        for to in to.filter(|to| *to != self.own) {
            self.network.deliver(self.own, to, &message, bytes.len() as u64);
        }
        Ok(())
    }

    fn send_each(
        &mut self,
        messages: &mut dyn Iterator<Item = (u64, ControlMessage)>,
    ) -> Result<(), MpiError> {
        for (to, message) in messages {
            self.send(&message, &mut iter::once(to))?;
        }
        Ok(())
    }

    fn unsent_to(&self, _members: &[u64]) -> Unsent {
        Unsent::default()
    }

    fn ask_after(&self, _: &mut dyn Iterator<Item = u64>) {}

    fn life(&self, member: u64) -> Option<Life> {
        Some(if self.network.is_dead[member as usize] { Life::Ended } else { Life::Runs })
    }

    fn shares(&self, _member: u64) -> bool {
        true
    }

    fn wire_offer(&self, offer: &Offer) -> WireOffer {
        wire_offer(offer)
    }
}
