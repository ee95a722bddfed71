//! Rounds: what one process does in a round of its team, without a word about how messages travel.
//!
//! A round is decided when every member has posted, when a failure was seen and others had time to
//! bring theirs, or when those that are missing have left, have died, or are late. `README.md`
//! beside this file has the cases, and `simulation.rs` runs this code on networks of its own.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use partita_mpi::MpiError;

use crate::error::{Failure, FailureKind, Host, Rank, cut};
use crate::memory::process::Life;
use crate::mpi::inbox::{Inbox, OwnPost, Slot, done};
use crate::mpi::meeting::key_of;
use crate::mpi::outflow::{Outflow, Unsent};
use crate::mpi::posts::Posted;
use crate::mpi::relays::{Order, Relays, Standing, is_relayed};
use crate::mpi::roll;
use crate::mpi::wire::{ControlMessage, PostPlace, WireOffer, WirePost};
use crate::program::offer::Offer;
use crate::team::cache::LastPosted;
use crate::team::call::CallName;
use crate::team::meeting::{Arrival, Contribution, Post, Round, Stage};
use crate::team::patience::{ANSWER_WITHIN, GRACE};

/// How often a waiting rank looks whether others are still there. The first time it does so it sends
/// its post to everybody.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long a rank waits before it asks whether far processes have ended.
pub(crate) const ASK_FROM: Duration = Duration::from_millis(150);

/// How long what a process said before it ended may take to come by other hands.
const HEARSAY: Duration = Duration::from_millis(250);

/// Longer posts go from their ranks to everybody: through other hands they would be copied often.
const LONGEST_CARRIED: usize = 16 << 10;

/// A team as one of its processes sees it.
#[derive(Debug)]
pub(crate) struct Membership {
    /// Names the members and their order in messages.
    pub key: u64,
    pub members: Arc<[u64]>,
    pub rank: Option<u64>,
    /// This rank of the world.
    pub own: u64,
    /// Where it runs, if not all run on one host.
    pub host: Option<Host>,
    /// Where this rank stands in the order in which posts go around the team.
    standing: Option<Standing>,
    /// All notes that it gets of a round to which all bring the same.
    all_notes: u64,
}

/// What a process has around it: what has come in, and ways to the others.
pub(crate) trait Around {
    fn inbox(&mut self) -> &mut Inbox;
    /// Sends a message to ranks of the world; none goes to this one.
    fn send(
        &mut self,
        message: &ControlMessage,
        to: &mut dyn Iterator<Item = u64>,
    ) -> Result<(), MpiError>;
    /// Sends each message to a rank of the world.
    fn send_each(
        &mut self,
        messages: &mut dyn Iterator<Item = (u64, ControlMessage)>,
    ) -> Result<(), MpiError>;
    /// What was sent to ranks of the world and has not left this process.
    fn unsent_to(&self, members: &[u64]) -> Unsent;
    /// How the process of a rank of the world is; none where that is unknown.
    fn life(&self, member: u64) -> Option<Life>;
    /// Tries to find out whether processes of ranks of the world, far ones, have ended.
    fn ask_after(&self, members: &mut dyn Iterator<Item = u64>);
    /// Whether this process and that of a rank of the world can touch each other's memory.
    fn shares(&self, member: u64) -> bool;
    /// A rank's buffers in words that another process can use.
    fn wire_offer(&self, offer: &Offer) -> WireOffer;
}

/// When a waiting rank looks around.
#[derive(Debug)]
pub(crate) struct Look {
    pub now: Instant,
    /// How long this rank has waited.
    pub waited: Duration,
    pub limit: Option<Duration>,
    /// Whether it is time to look for members that will not come.
    pub is_due: bool,
    /// For whom this rank waits no longer; the others are told when it leaves the round.
    pub given_up: Option<Failure>,
    /// What this rank sends the others before it leaves.
    pub outflow: Outflow,
    /// When this rank sent its post to everybody.
    spoke_up: Option<Instant>,
    /// When members were first seen dead.
    ended: HashMap<u64, Instant>,
}

impl Look {
    pub(crate) fn new(now: Instant, limit: Option<Duration>) -> Self {
        Self {
            now,
            waited: Duration::ZERO,
            limit,
            is_due: false,
            given_up: None,
            outflow: Outflow::default(),
            spoke_up: None,
            ended: HashMap::new(),
        }
    }

    /// Whether the deadline has passed.
    fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.waited >= limit)
    }
}

impl Membership {
    /// How a process of the world sees a team; `order` is how posts go around it, if not in the order
    /// of its ranks.
    pub(crate) fn new(
        members: Arc<[u64]>,
        own: u64,
        host: Option<Host>,
        order: Option<&Arc<Order>>,
    ) -> Self {
        let (key, size) = (key_of(&members), members.len() as u64);
        let rank = (0..).zip(&*members).find(|(_, member)| **member == own).map(|(rank, _)| rank);
        let standing = rank.map(|rank| Standing::new(rank, size, order));
        Self { key, members, rank, own, host, standing, all_notes: roll::whole(size) }
    }

    pub(crate) fn size(&self) -> u64 {
        self.members.len() as u64
    }

    pub(crate) fn own_rank(&self) -> Rank {
        Rank::new(self.rank.unwrap_or_default(), self.own).on(self.host)
    }

    pub(crate) fn place(&self, round: u64, n_near: u64) -> PostPlace {
        PostPlace { team: self.key, round, rank: self.rank.unwrap_or(u64::MAX), n_near }
    }

    fn send_all(&self, around: &mut dyn Around, message: &ControlMessage) -> Result<(), MpiError> {
        around.send(message, &mut self.members.iter().copied())
    }

    /// Comes to the next round with a contribution, or with why there is none; gives its number.
    pub(crate) fn post(
        &self,
        around: &mut dyn Around,
        last: &mut Option<LastPosted>,
        post: Post<Contribution>,
    ) -> Result<u64, MpiError> {
        let (round, near) = around.inbox().next_round(self.key);
        let place = self.place(round, near.n_calls);
        let contribution = match post {
            Ok(contribution) => Contribution { near, ..contribution },
            Err(failure) => {
                around.inbox().put(place, Err(failure.clone()));
                self.send_all(around, &ControlMessage::Failed { place, failure })?;
                return Ok(round);
            }
        };
        if let Some(digest) = contribution.digest().filter(|_| self.rank.is_some()) {
            let members = Arc::clone(&self.members);
            around.inbox().keep_own(OwnPost { members, place, contribution, since: round });
            if let Some(slot) = around.inbox().slot_of((self.key, round), near.n_calls) {
                slot.roll.come(digest);
            }
            self.hand_on(around, round)?;
            return Ok(round);
        }
        let wire = Arc::new(first_words(around, &contribution, round, last));
        let is_stuck = contribution.arrival == Arrival::Stuck;
        let is_relayed = is_relayed(self.size()) && self.rank.is_some();
        let is_long = contribution.bytes.len() > LONGEST_CARRIED;
        let is_direct = is_stuck || is_long || !is_relayed;
        if !is_direct {
            let since = last.as_ref().map_or(round, |last| last.round);
            let (members, contribution) = (Arc::clone(&self.members), contribution.clone());
            let own = OwnPost { members, place, contribution, since };
            around.inbox().keep_own(own);
        }
        let (post, n_near) = (Arc::new(Ok(contribution)), near.n_calls);
        let posted = Posted { post, n_near, is_direct, wire: Some(Arc::clone(&wire)) };
        around.inbox().put_posted(place, posted);
        if is_direct {
            self.send_all(around, &ControlMessage::Post { place, post: wire })?;
        }
        self.enter_relays(around, round);
        self.hand_on(around, round)?;
        Ok(round)
    }

    /// Takes this rank's share in carrying the posts of a round.
    fn enter_relays(&self, around: &mut dyn Around, round: u64) {
        let Some(standing) = self.standing.as_ref().filter(|_| is_relayed(self.size())) else {
            return;
        };
        around.inbox().slot(self.key, round).relays.get_or_insert_with(|| Relays::new(standing));
    }

    /// Hands on what has come, as far as this rank's share goes.
    fn hand_on(&self, around: &mut dyn Around, round: u64) -> Result<(), MpiError> {
        self.send_notes(around, round)?;
        loop {
            let slot = around.inbox().slot(self.key, round);
            let Some(relays) = &mut slot.relays else { return Ok(()) };
            let Some(batches) = relays.next(&slot.posts, &self.members) else { return Ok(()) };
            for mut batch in batches {
                let to = std::mem::take(&mut batch.to);
                let mut to = to.into_iter().map(|rank| self.members[rank as usize]);
                around.send(&batch.message(self.key, round), &mut to)?;
            }
        }
    }

    /// Sends the notes of a round that this rank owes others by now.
    fn send_notes(&self, around: &mut dyn Around, round: u64) -> Result<(), MpiError> {
        let Some(standing) = &self.standing else { return Ok(()) };
        loop {
            let slot = around.inbox().slot(self.key, round);
            let posts = &slot.posts;
            // Where posts have come the notes of their ranks may not.
            let of = |back| posts.get(standing.before(back))?.post.as_ref().as_ref().ok()?.digest();
            let is_known = |back| of(back).is_some_and(|digest| Some(digest) == of(0));
            let Some(notes) = slot.roll.next(standing, is_known) else { return Ok(()) };
            let (team, digest) = (self.key, notes.digest);
            let n_near = around.inbox().near_before(self.key).n_calls;
            let note = |(number, to)| {
                let note = ControlMessage::Noted { team, round, n_near, number, digest };
                (self.members[to as usize], note)
            };
            around.send_each(&mut notes.to(standing).map(note))?;
        }
    }

    /// Sends this rank's post to everybody: from now on all rules rest on what it says itself.
    fn speak_up(&self, around: &mut dyn Around, round: u64) -> Result<(), MpiError> {
        let Some(own) = around.inbox().take_own(self.key, round) else { return Ok(()) };
        let message = own.message(around);
        if around.inbox().slot(self.key, round).roll.is_own() {
            let ControlMessage::Post { place, post: wire } = &message else { return Ok(()) };
            let (post, wire) = (Arc::new(Ok(own.contribution)), Some(Arc::clone(wire)));
            let posted = Posted { post, n_near: place.n_near, is_direct: true, wire };
            around.inbox().put_posted(*place, posted);
            self.enter_relays(around, round);
        } else if let Some(rank) = self.rank {
            around.inbox().slot(self.key, round).posts.set_direct(rank);
        }
        self.send_all(around, &message)
    }

    /// Puts the posts of those in their places that notes have told of, once this rank has spoken up:
    /// they bring what it does.
    fn put_noted(&self, around: &mut dyn Around, round: u64) {
        let (Some(standing), Some(rank)) = (&self.standing, self.rank) else { return };
        let slot = around.inbox().slot(self.key, round);
        let Some(own) = slot.posts.get(rank).filter(|_| slot.roll.is_own()).cloned() else {
            return;
        };
        // Whoever has given the round up since stays a failure.
        let noted = Posted { is_direct: false, ..own };
        for rank in slot.roll.told(standing).into_iter().filter(|_| noted.post.is_ok()) {
            slot.posts.put(rank, noted.clone());
        }
    }

    /// Goes on as far as a round goes; says whether it is decided.
    pub(crate) fn advance(
        &self,
        around: &mut dyn Around,
        round: u64,
        stage: Stage,
        look: &mut Look,
    ) -> Result<bool, MpiError> {
        self.hand_on(around, round)?;
        let is_full = self.is_full(around, round);
        let slot = around.inbox().slot(self.key, round);
        // Others who have waited see only what each says itself; whoever was to hand it on may be gone.
        if slot.has_failed || slot.is_slow || (!is_full && (look.is_due || slot.is_mixed())) {
            look.spoke_up.get_or_insert(look.now);
            self.speak_up(around, round)?;
            self.put_noted(around, round);
            self.hand_on(around, round)?;
        }
        if !is_full && look.is_due {
            if stage == Stage::Copying {
                self.count_passed(around, round);
            }
            for (rank, failure) in self.absences(around, round, stage, look) {
                let place = PostPlace { rank, ..self.place(round, u64::MAX) };
                self.tell_of_death(around, place, &failure);
                around.inbox().put(place, Err(failure));
            }
        }
        // Over a link that is down nothing leaves.
        Ok(self.is_full(around, round) && (self.has_sent(around, round, look) || look.is_over()))
    }

    /// Whether what this rank has sent to members is on its way, or waits for those that read no more.
    fn has_sent(&self, around: &mut dyn Around, round: u64, look: &mut Look) -> bool {
        let unsent = around.unsent_to(&self.members);
        look.outflow.is_over(unsent, || around.inbox().slot(self.key, round).has_failed)
    }

    /// Counts those as done that have come to the next round: what they said here may have been lost
    /// with the rank that was to hand it on.
    fn count_passed(&self, around: &mut dyn Around, round: u64) {
        let inbox = around.inbox();
        for rank in 0..self.size() {
            if !inbox.slot(self.key, round).posts.has(rank)
                && inbox.has_come_to(self.key, round + 1, rank)
            {
                inbox.put(PostPlace { rank, ..self.place(round, u64::MAX) }, Ok(done()));
            }
        }
    }

    /// Tells far members of a process that has ended here: they cannot look.
    fn tell_of_death(&self, around: &mut dyn Around, place: PostPlace, failure: &Failure) {
        if around.life(self.members[place.rank as usize]) != Some(Life::Ended) {
            return;
        }
        // It makes no near call any more, whichever they wait in.
        let place = PostPlace { n_near: 0, ..place };
        let message = ControlMessage::Failed { place, failure: failure.clone() };
        let is_far = |member: &u64| around.life(*member).is_none();
        let far: Vec<u64> = self.members.iter().copied().filter(is_far).collect();
        // Whoever cannot be told is far and out of reach: that is found by other ways.
        let _ = around.send(&message, &mut far.into_iter());
    }

    /// Whether every member has posted. Members are counted, not posts: a message may name a rank
    /// that the team does not have.
    fn is_full(&self, around: &mut dyn Around, round: u64) -> bool {
        let slot = around.inbox().slot(self.key, round);
        self.is_alike(slot) || slot.posts.has_all(self.members.len())
    }

    /// Whether notes tell that all have come, and with the same.
    fn is_alike(&self, slot: &Slot) -> bool {
        !slot.has_failed && slot.roll.is_complete(self.all_notes)
    }

    /// What all brought to a round that is decided, in their order; the others are told if this rank
    /// has given up.
    pub(crate) fn close(
        &self,
        around: &mut dyn Around,
        round: u64,
        look: &mut Look,
    ) -> Result<Round<Contribution>, MpiError> {
        if let Some(failure) = look.given_up.take() {
            self.tell_failed(around, round, failure)?;
        }
        let own = around.inbox().own(self.key, round).map(|own| own.contribution.clone());
        let slot = around.inbox().decide(self.key, round);
        let size = self.members.len();
        if self.is_alike(&slot) {
            let spoken = || slot.posts.get(self.rank?)?.post.as_ref().as_ref().ok().cloned();
            if let Some(own) = own.or_else(spoken) {
                return Ok(Round::Alike(Ok(own), size));
            }
        }
        let posts = slot.posts.into_round(size);
        self.note_lost(around, &posts);
        Ok(Round::Each(Arc::new(posts)))
    }

    /// Remembers the far members that were given up in a round.
    fn note_lost(&self, around: &mut dyn Around, posts: &[Post<Contribution>]) {
        let is_late = |post: &Post<Contribution>| {
            post.as_ref().is_err_and(|failure| failure.kind == FailureKind::Late)
        };
        let late = posts.iter().zip(self.members.iter()).filter(|(post, _)| is_late(post));
        for (_, &member) in late {
            if member != self.own && around.life(member).is_none() {
                around.inbox().lose(member);
            }
        }
    }

    /// Leaves a round that this rank has come to, and says why.
    pub(crate) fn give_up(
        &self,
        around: &mut dyn Around,
        round: u64,
        failure: Failure,
    ) -> Result<(), MpiError> {
        self.tell_failed(around, round, failure)?;
        around.inbox().decide(self.key, round);
        Ok(())
    }

    fn tell_failed(
        &self,
        around: &mut dyn Around,
        round: u64,
        failure: Failure,
    ) -> Result<(), MpiError> {
        let n_near = around.inbox().near_before(self.key).n_calls;
        let place = self.place(round, n_near);
        self.send_all(around, &ControlMessage::Failed { place, failure })
    }

    /// Members that will not come to a round, and why.
    fn absences(
        &self,
        around: &mut dyn Around,
        round: u64,
        stage: Stage,
        look: &mut Look,
    ) -> Vec<(u64, Failure)> {
        let slot = around.inbox().slot(self.key, round);
        let failed = slot.posts.failures().next().cloned();
        if failed.is_some() {
            slot.failed_since.get_or_insert(look.now);
        }
        let since = slot.failed_since;
        let is_over = |since: Instant| stage == Stage::Arrival && look.now - since >= GRACE;
        let failed = failed.filter(|_| since.is_some_and(is_over));
        let missing: Vec<u64> = (0..self.size()).filter(|rank| !slot.posts.has(*rank)).collect();
        let gone = if stage == Stage::Arrival { self.gone(around, look) } else { None };
        if look.waited >= ASK_FROM {
            around.ask_after(&mut missing.iter().map(|rank| self.members[*rank as usize]));
        }
        let mut why = |rank: u64| {
            let failure =
                self.absence(around, rank, (round, stage), look).or_else(|| failed.clone());
            let failure = failure.or_else(|| gone.clone());
            failure.or_else(|| {
                let late = self.lateness(around, rank, (round, stage), look)?;
                look.given_up.get_or_insert_with(|| late.clone());
                Some(late)
            })
        };
        missing.into_iter().filter_map(|rank| Some((rank, why(rank)?))).collect()
    }

    /// A member whose process ended while others wait. It may have come itself, but what it was to hand
    /// on is lost.
    fn gone(&self, around: &mut dyn Around, look: &mut Look) -> Option<Failure> {
        let has_died = |around: &mut dyn Around, member: u64| {
            around.inbox().departed(member).is_none() && around.life(member) == Some(Life::Ended)
        };
        let dead: Vec<(u64, u64)> = (0..)
            .zip(self.members.iter().copied())
            .filter(|(_, member)| has_died(around, *member))
            .collect();
        let mut is_long_ago = |rank: u64| {
            let since = *look.ended.entry(rank).or_insert(look.now);
            look.now - since >= HEARSAY
        };
        let (rank, member) = dead.into_iter().find(|(rank, _)| is_long_ago(*rank))?;
        Some(death_of(Rank::new(rank, member)))
    }

    /// Why a member does not come at all.
    fn absence(
        &self,
        around: &mut dyn Around,
        rank: u64,
        (round, stage): (u64, Stage),
        look: &mut Look,
    ) -> Option<Failure> {
        let member = self.members[rank as usize];
        let named = Rank::new(rank, member);
        if let Some(why) = around.inbox().departed(member) {
            return Some(Failure::new(named, FailureKind::Left, why));
        }
        if stage == Stage::Copying
            && let Some(failure) = around.inbox().revoked(self.key, rank, round - 1)
        {
            return Some(failure.clone());
        }
        if around.life(member) != Some(Life::Ended) {
            return None;
        }
        let since = *look.ended.entry(rank).or_insert(look.now);
        // What neighbours wrote is seen at once; anything else may still be on its way.
        let is_seen = !is_relayed(self.size()) && around.shares(member);
        let is_told = is_seen || look.now - since >= HEARSAY;
        is_told.then(|| death_of(named))
    }

    /// Whether this rank has made near calls since the last round, and was not stuck in one.
    fn comes_from_near_calls(&self, around: &mut dyn Around, round: u64) -> bool {
        let Some(rank) = self.rank else { return false };
        let is_stuck = |own: &Contribution| own.arrival == Arrival::Stuck;
        let own = around.inbox().slot(self.key, round).posts.get(rank);
        own.is_some_and(|own| own.n_near > 0 && !own.post.as_ref().as_ref().is_ok_and(is_stuck))
    }

    /// Why a member is waited for no longer.
    fn lateness(
        &self,
        around: &mut dyn Around,
        rank: u64,
        (round, stage): (u64, Stage),
        look: &Look,
    ) -> Option<Failure> {
        let limit = look.limit?;
        // Those that wait in near calls come here once their own deadlines have passed.
        let may_be_near = stage == Stage::Arrival && self.comes_from_near_calls(around, round);
        if may_be_near && look.waited < limit + ANSWER_WITHIN {
            return None;
        }
        // Whoever else waits has had time to answer for itself.
        let is_heard = |since: Instant| look.now - since >= LOOK_EVERY;
        let is_heard = !is_relayed(self.size()) || look.spoke_up.is_some_and(is_heard);
        if !look.is_over() || !is_heard {
            return None;
        }
        // Where somebody has gone, what others said may never come.
        let is_broken =
            is_relayed(self.size()) && (look.given_up.is_some() || !look.ended.is_empty());
        if stage == Stage::Copying && !is_broken {
            // As long as it runs it copies, and will come.
            let member = self.members[rank as usize];
            if around.shares(member) && around.life(member) == Some(Life::Runs) {
                return None;
            }
        }
        let message = format!("{} waited {limit:?} for it", self.own_rank());
        Some(Failure::new(Rank::of(&self.members, rank), FailureKind::Late, &message))
    }
}

/// Why a rank brings nothing that is not there any more.
pub(crate) fn death_of(rank: Rank) -> Failure {
    Failure::new(rank, FailureKind::Left, "its process has ended")
}

impl OwnPost {
    /// All of it, for everybody.
    pub(crate) fn message(&self, around: &dyn Around) -> ControlMessage {
        let post = Arc::new(all_words(around, &self.contribution, self.since));
        ControlMessage::Post { place: self.place, post }
    }
}

/// Tells every rank of a world of that size that this one comes to no meeting any more.
pub(crate) fn leave(around: &mut dyn Around, why: &str, n_world: u64) -> Result<(), MpiError> {
    // What went by other hands must not come after the word of leaving.
    for own in around.inbox().take_all_own() {
        let message = own.message(around);
        around.send(&message, &mut own.members.iter().copied())?;
    }
    around.send(&ControlMessage::Left { why: cut(why) }, &mut (0..n_world))
}

/// What the others are sent first: as little as they need.
fn first_words(
    around: &dyn Around,
    contribution: &Contribution,
    round: u64,
    last: &mut Option<LastPosted>,
) -> WirePost {
    let Contribution { call, tag, half, near, n_partners, .. } = contribution;
    if let Some(offer) = &contribution.offer {
        let is_same = |old: &&mut LastPosted| Arc::ptr_eq(&old.offer, offer) && old.call == *call;
        // Whoever tells its partners for the first time tells it all.
        let is_known = n_partners.is_none();
        if let Some(old) = last.as_mut().filter(is_same).filter(|_| is_known) {
            let (since, tag, half, near_hash) = (old.round, *tag, *half, near.hash);
            return WirePost::Again { since, tag, half, near_hash };
        }
        *last = Some(LastPosted { call: call.clone(), offer: Arc::clone(offer), round });
    }
    all_words(around, contribution, round)
}

/// A contribution in full; its buffers were told first in the given round.
fn all_words(around: &dyn Around, contribution: &Contribution, since: u64) -> WirePost {
    let Contribution { call, bytes, offer, tag, half, n_partners, near, arrival } = contribution;
    if call.name == CallName::RunFinished {
        return WirePost::Done;
    }
    WirePost::Full {
        tag: *tag,
        half: *half,
        call: call.clone(),
        bytes: Arc::clone(bytes),
        offer: offer.as_deref().map(|offer| (since, around.wire_offer(offer))),
        n_partners: *n_partners,
        near_hash: near.hash,
        arrival: *arrival,
    }
}
