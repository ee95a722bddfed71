//! Control messages as bytes: a fixed format that can become nothing else.

use std::sync::Arc;

use crate::error::circle::Wait;
use crate::error::{Failure, FailureKind, Rank};
use crate::memory::arena::Block;
use crate::memory::buffer::{Access, Buffer};
use crate::program::offer::Half;
use crate::team::call::{Call, CallName};
use crate::team::meeting::Arrival;
use crate::team::near::NearPlace;

/// A control message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ControlMessage {
    /// What a rank brings to a round.
    Post {
        place: PostPlace,
        tag: u64,
        half: Half,
        call: Call,
        bytes: Vec<u8>,
        offer: Option<WireOffer>,
        n_partners: Option<u64>,
        near_hash: u64,
        arrival: Arrival,
    },
    /// The same call and buffers as last time, with another tag.
    Again { place: PostPlace, tag: u64, half: Half, near_hash: u64 },
    /// It has done its share of the copying.
    Done { place: PostPlace },
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
const AGAIN: u64 = 2;
const DONE: u64 = 3;
const FAILED: u64 = 4;
const LEFT: u64 = 5;
const WAITING: u64 = 6;
const PROBE: u64 = 7;
const CONFIRM: u64 = 8;
const CIRCLE: u64 = 9;
const NEAR: u64 = 10;
const NEAR_DONE: u64 = 11;

// Calls: a name that a user chose is never taken for one of the engine's own.
const RUN: u64 = 1;
const RUN_IN_PLACE: u64 = 2;
const RUN_FINISHED: u64 = 3;
const EXCHANGE: u64 = 4;

impl ControlMessage {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer(Vec::with_capacity(64));
        match self {
            Self::Post { place, tag, half, call, bytes, offer, n_partners, near_hash, arrival } => {
                out.place(POST, place).number(*tag).half(*half);
                out.call(call).bytes(bytes).offer(offer.as_ref());
                out.maybe(*n_partners).number(*near_hash).number(*arrival as u64);
            }
            Self::Again { place, tag, half, near_hash } => {
                out.place(AGAIN, place).number(*tag).half(*half).number(*near_hash);
            }
            Self::Near { place, call, slot, tag, half, offer } => {
                out.note(NEAR, place).number(*call).number(*slot).number(*tag).half(*half);
                out.offer(offer.as_ref());
            }
            Self::NearDone { place } => {
                out.note(NEAR_DONE, place);
            }
            Self::Done { place } => {
                out.place(DONE, place);
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
                let (place, tag, half) = (rest.place()?, rest.number()?, rest.half()?);
                let call = rest.call()?;
                let bytes = rest.bytes()?.to_vec();
                let (offer, n_partners) = (rest.offer()?, rest.maybe()?);
                let (near_hash, arrival) = (rest.number()?, rest.arrival()?);
                Some(Self::Post {
                    place,
                    tag,
                    half,
                    call,
                    bytes,
                    offer,
                    n_partners,
                    near_hash,
                    arrival,
                })
            }
            AGAIN => {
                let (place, tag, half) = (rest.place()?, rest.number()?, rest.half()?);
                Some(Self::Again { place, tag, half, near_hash: rest.number()? })
            }
            NEAR => {
                let (place, call, slot) = (rest.note()?, rest.number()?, rest.number()?);
                let (tag, half) = (rest.number()?, rest.half()?);
                Some(Self::Near { place, call, slot, tag, half, offer: rest.offer()? })
            }
            NEAR_DONE => Some(Self::NearDone { place: rest.note()? }),
            DONE => Some(Self::Done { place: rest.place()? }),
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

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, value: u64) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn place(&mut self, kind: u64, place: &PostPlace) -> &mut Self {
        self.number(kind).number(place.team).number(place.round);
        self.number(place.rank).number(place.n_near)
    }

    fn note(&mut self, kind: u64, place: &NoteOf) -> &mut Self {
        let NoteOf { team, near, rank } = place;
        self.number(kind).number(*team).number(near.round).number(near.number).number(*rank)
    }

    fn maybe(&mut self, value: Option<u64>) -> &mut Self {
        match value {
            None => self.number(0),
            Some(value) => self.number(1).number(value),
        }
    }

    fn offer(&mut self, offer: Option<&WireOffer>) -> &mut Self {
        self.number(u64::from(offer.is_some()));
        match offer {
            None => self,
            Some(WireOffer { sources, targets, packed_halo }) => {
                self.buffers(sources).buffers(targets).buffers(packed_halo.as_slice())
            }
        }
    }

    fn half(&mut self, half: Half) -> &mut Self {
        self.number(half as u64)
    }

    fn call(&mut self, call: &Call) -> &mut Self {
        match &call.name {
            CallName::Run => self.number(RUN),
            CallName::RunInPlace => self.number(RUN_IN_PLACE),
            CallName::RunFinished => self.number(RUN_FINISHED),
            CallName::Exchange(name) => self.number(EXCHANGE).bytes(name.as_bytes()),
        }
        .bytes(call.argument.as_bytes())
    }

    fn hops(&mut self, hops: &[Hop]) -> &mut Self {
        self.number(hops.len() as u64);
        hops.iter().fold(self, |out, hop| out.number(hop.rank).number(hop.number))
    }

    fn waits(&mut self, waits: &[Wait]) -> &mut Self {
        self.number(waits.len() as u64);
        for Wait { rank, members, round, call } in waits {
            self.number(*rank).number(*round).bytes(call.as_bytes());
            self.number(members.len() as u64);
            members.iter().fold(&mut *self, |out, member| out.number(*member));
        }
        self
    }

    fn buffers(&mut self, buffers: &[WireBuffer]) -> &mut Self {
        self.number(buffers.len() as u64);
        for WireBuffer { buffer, in_arena } in buffers {
            self.number(buffer.shape.len() as u64);
            for (length, stride) in buffer.shape.iter().zip(&buffer.strides) {
                self.number(*length).number(*stride as u64);
            }
            match in_arena {
                None => self.number(0),
                Some((block, start)) => {
                    let words = [1, block.offset as u64, block.n_bytes as u64, *start];
                    words.into_iter().fold(&mut *self, Self::number)
                }
            };
        }
        self
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let (head, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*head))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    fn place(&mut self) -> Option<PostPlace> {
        let (team, round) = (self.number()?, self.number()?);
        Some(PostPlace { team, round, rank: self.number()?, n_near: self.number()? })
    }

    fn note(&mut self) -> Option<NoteOf> {
        let team = self.number()?;
        let near = NearPlace { round: self.number()?, number: self.number()? };
        Some(NoteOf { team, near, rank: self.number()? })
    }

    fn maybe(&mut self) -> Option<Option<u64>> {
        match self.number()? {
            0 => Some(None),
            1 => Some(Some(self.number()?)),
            _ => None,
        }
    }

    fn arrival(&mut self) -> Option<Arrival> {
        match self.number()? {
            0 => Some(Arrival::Meant),
            1 => Some(Arrival::Stuck),
            _ => None,
        }
    }

    fn offer(&mut self) -> Option<Option<WireOffer>> {
        match self.number()? {
            0 => Some(None),
            1 => Some(Some(WireOffer {
                sources: self.buffers()?,
                targets: self.buffers()?,
                packed_halo: self.one_at_most()?,
            })),
            _ => None,
        }
    }

    fn half(&mut self) -> Option<Half> {
        match self.number()? {
            0 => Some(Half::First),
            1 => Some(Half::Second),
            _ => None,
        }
    }

    fn call(&mut self) -> Option<Call> {
        let name = match self.number()? {
            RUN => CallName::Run,
            RUN_IN_PLACE => CallName::RunInPlace,
            RUN_FINISHED => CallName::RunFinished,
            EXCHANGE => CallName::exchange(self.text()?),
            _ => return None,
        };
        Some(Call { name, argument: self.text()?.into() })
    }

    fn hops(&mut self) -> Option<Vec<Hop>> {
        let n_hops = self.number()?;
        let hop = |_| Some(Hop { rank: self.number()?, number: self.number()? });
        (0..n_hops).map(hop).collect()
    }

    fn waits(&mut self) -> Option<Vec<Wait>> {
        (0..self.number()?).map(|_| self.wait()).collect()
    }

    fn wait(&mut self) -> Option<Wait> {
        let (rank, round, call) = (self.number()?, self.number()?, self.text()?.to_string());
        let members: Option<Arc<[u64]>> = (0..self.number()?).map(|_| self.number()).collect();
        Some(Wait { rank, members: members?, round, call })
    }

    fn buffers(&mut self) -> Option<Vec<WireBuffer>> {
        (0..self.number()?).map(|_| self.buffer()).collect()
    }

    fn one_at_most(&mut self) -> Option<Option<WireBuffer>> {
        let mut buffers = self.buffers()?;
        let last = buffers.pop();
        buffers.is_empty().then_some(last)
    }

    fn buffer(&mut self) -> Option<WireBuffer> {
        let (mut shape, mut strides) = (Vec::new(), Vec::new());
        for _ in 0..self.number()? {
            shape.push(self.number()?);
            strides.push(self.number()? as isize);
        }
        let in_arena = match self.number()? {
            0 => None,
            1 => {
                let (offset, n_bytes) = (self.number()? as usize, self.number()? as usize);
                Some((Block { offset, n_bytes }, self.number()?))
            }
            _ => return None,
        };
        Some(WireBuffer {
            buffer: Buffer { address: 0, shape, strides, access: Access::Write },
            in_arena,
        })
    }
}

#[cfg(test)]
mod tests {
    use partita_oracle::Rng;

    use super::*;

    fn messages() -> [ControlMessage; 13] {
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
        [
            ControlMessage::Post {
                place,
                tag: 9,
                half: Half::Second,
                call: call.clone(),
                bytes: vec![1, 2],
                offer: offer.clone(),
                n_partners: Some(2),
                near_hash: 11,
                arrival: Arrival::Meant,
            },
            ControlMessage::Post {
                place,
                tag: 0,
                half: Half::First,
                call,
                bytes: vec![],
                offer: None,
                n_partners: None,
                near_hash: 0,
                arrival: Arrival::Stuck,
            },
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
            ControlMessage::Again { place, tag: 5, half: Half::Second, near_hash: 6 },
            ControlMessage::Done { place },
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
        let names = [CallName::Run, CallName::RunFinished, named("run finished"), named("gather")];
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
