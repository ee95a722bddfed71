//! Control messages as bytes: a fixed format that can become nothing else.

use std::sync::Arc;

use crate::error::circle::Wait;
use crate::error::{Failure, FailureKind, Rank};
use crate::memory::arena::Block;
use crate::memory::buffer::Buffer;
use crate::mpi::roll::N_NOTES;
use crate::mpi::words::{Reader, Writer};
use crate::program::offer::Half;
use crate::team::call::Call;
use crate::team::meeting::Arrival;
use crate::team::near::NearPlace;

/// A control message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ControlMessage {
    /// What the sender brings to a round.
    Post { place: PostPlace, post: Arc<WirePost> },
    /// What others bring to a round, and the sender too, by the hands of the sender.
    Relayed { team: u64, round: u64, carried: Vec<Carried> },
    /// Ranks of the team, the sender among them, have come to a round with nothing but a call: the
    /// note with this number, and the digest of the call.
    Noted { team: u64, round: u64, n_near: u64, number: u64, digest: u64 },
    /// Why it brings nothing.
    Failed { place: PostPlace, failure: Failure },
    /// The sender comes to no meeting any more.
    Left { why: String },
    /// A partner has come to a near call. Its buffers are new, or those it told under that number.
    Near { place: NoteOf, call: u64, slot: u64, tag: u64, half: Half, offer: Option<WireOffer> },
    /// A partner has done its share of the copying in a near call.
    NearDone { place: NoteOf },
    /// The sender has waited for the receiver's post for a while, or for its note if it is a near
    /// call; the number of this wait.
    Waiting { team: u64, round: u64, near: Option<u64>, number: u64 },
    /// Goes from ranks to those that wait for them, if they are still in the wait of that number.
    Probe { number: u64, hops: Vec<Hop> },
    /// Goes around a circle that a probe has found, the other way.
    Confirm { hops: Vec<Hop>, waits: Vec<Wait> },
    /// Ranks wait for each other in a circle.
    Circle { waits: Vec<Wait> },
}

/// What a rank brings to a round.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "it is always shared, behind a pointer")]
pub(crate) enum WirePost {
    /// All of it.
    Full {
        tag: u64,
        half: Half,
        call: Call,
        bytes: Arc<[u8]>,
        /// The buffers, and the round in which the rank told them first.
        offer: Option<(u64, WireOffer)>,
        n_partners: Option<u64>,
        near_hash: u64,
        arrival: Arrival,
    },
    /// The call and buffers that were told first in that round, with another tag.
    Again { since: u64, tag: u64, half: Half, near_hash: u64 },
    /// It has done its share of the copying.
    Done,
}

impl WirePost {
    /// Whether it means the same whichever rank it comes from.
    pub(crate) fn is_anybodys(&self) -> bool {
        !matches!(self, Self::Full { offer: Some(_), .. })
    }
}

/// What ranks of a team at equal distances bring alike, on its way through other hands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Carried {
    /// The first of them, as a rank of the team and of the world.
    pub rank: u64,
    pub world: u64,
    pub n_ranks: u64,
    /// How far apart they are.
    pub step: u64,
    /// Near calls that each has made since the round before.
    pub n_near: u64,
    pub post: Arc<WirePost>,
}

/// A rank of the world that a probe came through, and the number of its wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    pub rank: u64,
    pub number: u64,
}

/// Where a post belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PostPlace {
    pub team: u64,
    pub round: u64,
    /// Rank of the team.
    pub rank: u64,
    /// Near calls that the rank has made since the round before.
    pub n_near: u64,
}

/// Which near call a note belongs to, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoteOf {
    pub team: u64,
    pub near: NearPlace,
    /// Rank of the team.
    pub rank: u64,
}

/// A rank's sources and targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WireOffer {
    pub sources: Vec<WireBuffer>,
    pub targets: Vec<WireBuffer>,
    pub packed_halo: Option<WireBuffer>,
}

/// A buffer in the words of its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WireBuffer {
    pub buffer: Buffer,
    /// The block of the owner's arena that it lies in, and how far from its start.
    pub in_arena: Option<(Block, u64)>,
}

const POST: u64 = 1;
const RELAYED: u64 = 2;
const NOTED: u64 = 3;
const FAILED: u64 = 4;
const LEFT: u64 = 5;
const WAITING: u64 = 6;
const PROBE: u64 = 7;
const CONFIRM: u64 = 8;
const CIRCLE: u64 = 9;
const NEAR: u64 = 10;
const NEAR_DONE: u64 = 11;

// Posts.
const FULL: u64 = 1;
const AGAIN: u64 = 2;
const DONE: u64 = 3;

impl ControlMessage {
    pub(crate) fn encode(&self) -> Vec<u8> {
        self.encode_after(Vec::with_capacity(64))
    }

    /// Appends the message to bytes.
    pub(crate) fn encode_after(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut out = Writer(bytes);
        match self {
            Self::Post { place, post } => {
                out.place(POST, place);
                post.write(&mut out);
            }
            Self::Relayed { team, round, carried } => {
                out.number(RELAYED).number(*team).number(*round).number(carried.len() as u64);
                for Carried { rank, world, n_ranks, step, n_near, post } in carried {
                    out.number(*rank).number(*world).number(*n_ranks).number(*step);
                    out.number(*n_near);
                    post.write(&mut out);
                }
            }
            Self::Noted { team, round, n_near, number, digest } => {
                out.number(NOTED).number(*team).number(*round).number(*n_near).number(*number);
                out.number(*digest);
            }
            Self::Near { place, call, slot, tag, half, offer } => {
                out.note(NEAR, place).number(*call).number(*slot).number(*tag).half(*half);
                out.maybe_offer(offer.as_ref());
            }
            Self::NearDone { place } => {
                out.note(NEAR_DONE, place);
            }
            Self::Failed { place, failure } => {
                out.place(FAILED, place).number(failure.rank.team).number(failure.rank.world);
                out.number(failure.kind as u64);
                out.bytes(failure.message.as_bytes());
            }
            Self::Left { why } => {
                out.number(LEFT).bytes(why.as_bytes());
            }
            Self::Waiting { team, round, near, number } => {
                out.number(WAITING).number(*team).number(*round).maybe(*near).number(*number);
            }
            Self::Probe { number, hops } => {
                out.number(PROBE).number(*number).hops(hops);
            }
            Self::Confirm { hops, waits } => {
                out.number(CONFIRM).hops(hops).waits(waits);
            }
            Self::Circle { waits } => {
                out.number(CIRCLE).waits(waits);
            }
        }
        out.0
    }

    /// Reads a message; none if the bytes are no message of this version.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = Reader(bytes);
        let message = Self::read(&mut rest)?;
        rest.0.is_empty().then_some(message)
    }

    fn read(rest: &mut Reader<'_>) -> Option<Self> {
        match rest.number()? {
            POST => {
                Some(Self::Post { place: rest.place()?, post: Arc::new(WirePost::read(rest)?) })
            }
            RELAYED => {
                let (team, round, n_carried) = (rest.number()?, rest.number()?, rest.number()?);
                let carried: Option<_> = (0..n_carried).map(|_| Carried::read(rest)).collect();
                Some(Self::Relayed { team, round, carried: carried? })
            }
            NOTED => {
                let (team, round, n_near) = (rest.number()?, rest.number()?, rest.number()?);
                let (number, digest) = (rest.number()?, rest.number()?);
                let is_one = number < N_NOTES;
                is_one.then_some(Self::Noted { team, round, n_near, number, digest })
            }
            NEAR => {
                let (place, call, slot) = (rest.note()?, rest.number()?, rest.number()?);
                let (tag, half) = (rest.number()?, rest.half()?);
                Some(Self::Near { place, call, slot, tag, half, offer: rest.maybe_offer()? })
            }
            NEAR_DONE => Some(Self::NearDone { place: rest.note()? }),
            FAILED => {
                let place = rest.place()?;
                let rank = Rank::new(rest.number()?, rest.number()?);
                let kind = match rest.number()? {
                    0 => FailureKind::Raised,
                    1 => FailureKind::Left,
                    2 => FailureKind::Late,
                    3 => FailureKind::Circle,
                    _ => return None,
                };
                let message = rest.text()?.to_string();
                Some(Self::Failed { place, failure: Failure { rank, kind, message } })
            }
            LEFT => Some(Self::Left { why: rest.text()?.to_string() }),
            WAITING => {
                let (team, round, near) = (rest.number()?, rest.number()?, rest.maybe()?);
                Some(Self::Waiting { team, round, near, number: rest.number()? })
            }
            PROBE => Some(Self::Probe { number: rest.number()?, hops: rest.hops()? }),
            CONFIRM => Some(Self::Confirm { hops: rest.hops()?, waits: rest.waits()? }),
            CIRCLE => Some(Self::Circle { waits: rest.waits()? }),
            _ => None,
        }
    }
}

impl Carried {
    fn read(rest: &mut Reader<'_>) -> Option<Self> {
        let (rank, world, n_ranks) = (rest.number()?, rest.number()?, rest.number()?);
        let (step, n_near) = (rest.number()?, rest.number()?);
        Some(Self { rank, world, n_ranks, step, n_near, post: Arc::new(WirePost::read(rest)?) })
    }
}

impl WirePost {
    fn write(&self, out: &mut Writer) {
        match self {
            Self::Full { tag, half, call, bytes, offer, n_partners, near_hash, arrival } => {
                out.number(FULL).number(*tag).half(*half).call(call).bytes(bytes);
                out.maybe(offer.as_ref().map(|(since, _)| *since));
                if let Some((_, offer)) = offer {
                    out.offer(offer);
                }
                out.maybe(*n_partners).number(*near_hash).number(*arrival as u64);
            }
            Self::Again { since, tag, half, near_hash } => {
                out.number(AGAIN).number(*since).number(*tag).half(*half).number(*near_hash);
            }
            Self::Done => {
                out.number(DONE);
            }
        }
    }

    fn read(rest: &mut Reader<'_>) -> Option<Self> {
        match rest.number()? {
            FULL => {
                let (tag, half, call) = (rest.number()?, rest.half()?, rest.call()?);
                let bytes = rest.bytes()?.into();
                let offer = match rest.maybe()? {
                    None => None,
                    Some(since) => Some((since, rest.offer()?)),
                };
                let (n_partners, near_hash) = (rest.maybe()?, rest.number()?);
                let arrival = rest.arrival()?;
                Some(Self::Full { tag, half, call, bytes, offer, n_partners, near_hash, arrival })
            }
            AGAIN => {
                let (since, tag, half) = (rest.number()?, rest.number()?, rest.half()?);
                Some(Self::Again { since, tag, half, near_hash: rest.number()? })
            }
            DONE => Some(Self::Done),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use partita_oracle::Rng;

    use super::*;
    use crate::memory::buffer::Access;
    use crate::team::call::CallName;

    fn messages() -> [ControlMessage; 15] {
        let place = PostPlace { team: 7, round: 1, rank: 2, n_near: 3 };
        let near = NoteOf { team: 7, near: NearPlace { round: 1, number: 5 }, rank: 2 };
        let call = Call { name: CallName::Run, argument: "ab12".into() };
        let buffer =
            Buffer { address: 0, shape: vec![3, 4], strides: vec![-8, 24], access: Access::Write };
        let in_arena = Some((Block { offset: 4096, n_bytes: 8192 }, 17));
        let packed_halo = Some(WireBuffer { buffer: buffer.clone(), in_arena });
        let targets = vec![
            WireBuffer { buffer: buffer.clone(), in_arena },
            WireBuffer { buffer, in_arena: None },
        ];
        let offer = Some(WireOffer { sources: vec![], targets, packed_halo });
        let hops = vec![Hop { rank: 1, number: 2 }, Hop { rank: 3, number: 4 }];
        let wait = Wait { rank: 3, members: [3, 1].into(), round: 2, call: "barrier".into() };
        let failure = Failure::new(Rank::new(3, 5), FailureKind::Late, "é");
        let full = Arc::new(WirePost::Full {
            tag: 9,
            half: Half::Second,
            call: call.clone(),
            bytes: [1, 2].into(),
            offer: offer.clone().map(|offer| (4, offer)),
            n_partners: Some(2),
            near_hash: 11,
            arrival: Arrival::Meant,
        });
        let bare = Arc::new(WirePost::Full {
            tag: 0,
            half: Half::First,
            call,
            bytes: [].into(),
            offer: None,
            n_partners: None,
            near_hash: 0,
            arrival: Arrival::Stuck,
        });
        let again =
            Arc::new(WirePost::Again { since: 3, tag: 5, half: Half::Second, near_hash: 6 });
        let (done, post) = (Arc::new(WirePost::Done), Arc::clone(&again));
        let carried = vec![
            Carried { rank: 6, world: 8, n_ranks: 2, step: 4, n_near: 0, post },
            Carried { rank: 0, world: 1, n_ranks: 1, step: 1, n_near: 3, post: Arc::clone(&full) },
        ];
        [
            ControlMessage::Post { place, post: full },
            ControlMessage::Post { place, post: bare },
            ControlMessage::Post { place, post: again },
            ControlMessage::Post { place, post: done },
            ControlMessage::Relayed { team: 7, round: 1, carried },
            ControlMessage::Noted { team: u64::MAX, round: 1, n_near: 300, number: 62, digest: 5 },
            ControlMessage::Near {
                place: near,
                call: 3,
                slot: 1,
                tag: 4,
                half: Half::First,
                offer,
            },
            ControlMessage::Near {
                place: near,
                call: 3,
                slot: 1,
                tag: 4,
                half: Half::Second,
                offer: None,
            },
            ControlMessage::NearDone { place: near },
            ControlMessage::Failed { place, failure },
            ControlMessage::Left { why: "done".into() },
            ControlMessage::Waiting { team: 7, round: 1, near: Some(8), number: 4 },
            ControlMessage::Probe { number: 4, hops: hops.clone() },
            ControlMessage::Confirm { hops, waits: vec![wait.clone()] },
            ControlMessage::Circle { waits: vec![wait.clone(), wait] },
        ]
    }

    #[test]
    fn an_exchange_named_like_a_run_is_an_exchange() {
        let named = |name: &'static str| CallName::Exchange(name.into());
        let runs = [CallName::Run, CallName::RunFinished, named("run finished")];
        let names = [CallName::Barrier, named("barrier"), named("gather")].into_iter().chain(runs);
        for name in names {
            let call = Call { name, argument: "ab12".into() };
            let mut out = Writer(Vec::new());
            out.call(&call);
            assert_eq!(Reader(&out.0).call(), Some(call));
        }
    }

    #[test]
    fn messages_round_trip_and_cut_ones_are_refused() {
        for message in messages() {
            let bytes = message.encode();
            assert_eq!(ControlMessage::decode(&bytes), Some(message));
            assert!(
                (0..bytes.len()).all(|length| ControlMessage::decode(&bytes[..length]).is_none())
            );
        }
        assert_eq!(ControlMessage::decode(&99_u64.to_le_bytes()), None);
    }

    fn pick(rng: &mut Rng, n: usize) -> usize {
        (rng.next() % n as u64) as usize
    }

    /// Bytes with a bit, a word or the end changed.
    fn changed(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
        let mut new = bytes.to_vec();
        match pick(rng, 4) {
            0 => {
                let at = pick(rng, new.len());
                new[at] ^= 1 << pick(rng, 8);
            }
            1 => {
                let word = pick(rng, new.len() / 8 + 1) * 8;
                let values = [0, 1, 2, 3, 1 << 31, u64::MAX, u64::MAX / 8, rng.next()];
                let value = values[pick(rng, values.len())];
                if let Some(place) = new.get_mut(word..word + 8) {
                    place.copy_from_slice(&value.to_le_bytes());
                }
            }
            2 => new.truncate(pick(rng, new.len())),
            _ => new.push(pick(rng, 256) as u8),
        }
        new
    }

    #[test]
    fn changed_messages_are_refused_or_say_what_their_bytes_say() {
        let (mut rng, messages) = (Rng::new(7), messages());
        let mut n_refused = 0;
        for case in 0..60_000 {
            let mut bytes = messages[case % messages.len()].encode();
            for _ in 0..=pick(&mut rng, 3) {
                bytes = if bytes.is_empty() { bytes } else { changed(&mut rng, &bytes) };
            }
            match ControlMessage::decode(&bytes) {
                // One message has one form: nothing was left out or taken for something else.
                Some(message) => assert_eq!(message.encode(), bytes, "case {case}"),
                None => n_refused += 1,
            }
        }
        assert!(n_refused > 20_000, "{n_refused}");
    }
}
