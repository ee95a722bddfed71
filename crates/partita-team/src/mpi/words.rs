//! The words that control messages are made of, as bytes: numbers, texts, places, buffers.

use std::sync::Arc;

use crate::error::circle::Wait;
use crate::memory::arena::Block;
use crate::memory::buffer::{Access, Buffer};
use crate::mpi::wire::{Hop, NoteOf, PostPlace, WireBuffer, WireOffer};
use crate::program::offer::Half;
use crate::team::call::{Call, CallName};
use crate::team::meeting::Arrival;
use crate::team::near::NearPlace;

// Calls: a name that a user chose is never taken for one of the engine's own.
const RUN: u64 = 1;
const RUN_IN_PLACE: u64 = 2;
const RUN_FINISHED: u64 = 3;
const EXCHANGE: u64 = 4;
const BARRIER: u64 = 5;

/// In all bytes of a number but its last.
const MORE: u8 = 0x80;

/// Writes.
pub(super) struct Writer(pub Vec<u8>);

impl Writer {
    /// Seven bits in each byte, the lowest first; all bytes but the last have the eighth.
    pub(super) fn number(&mut self, mut value: u64) -> &mut Self {
        while value >= MORE.into() {
            self.0.push(value as u8 | MORE);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn place(&mut self, kind: u64, place: &PostPlace) -> &mut Self {
        self.number(kind).number(place.team).number(place.round);
        self.number(place.rank).number(place.n_near)
    }

    pub(super) fn note(&mut self, kind: u64, place: &NoteOf) -> &mut Self {
        let NoteOf { team, near, rank } = place;
        self.number(kind).number(*team).number(near.round).number(near.number).number(*rank)
    }

    pub(super) fn maybe(&mut self, value: Option<u64>) -> &mut Self {
        match value {
            None => self.number(0),
            Some(value) => self.number(1).number(value),
        }
    }

    pub(super) fn offer(&mut self, offer: &WireOffer) -> &mut Self {
        let WireOffer { sources, targets, packed_halo } = offer;
        self.buffers(sources).buffers(targets).buffers(packed_halo.as_slice())
    }

    pub(super) fn maybe_offer(&mut self, offer: Option<&WireOffer>) -> &mut Self {
        self.number(u64::from(offer.is_some()));
        match offer {
            None => self,
            Some(offer) => self.offer(offer),
        }
    }

    pub(super) fn half(&mut self, half: Half) -> &mut Self {
        self.number(half as u64)
    }

    pub(super) fn call(&mut self, call: &Call) -> &mut Self {
        match &call.name {
            CallName::Run => self.number(RUN),
            CallName::RunInPlace => self.number(RUN_IN_PLACE),
            CallName::RunFinished => self.number(RUN_FINISHED),
            CallName::Barrier => self.number(BARRIER),
            CallName::Exchange(name) => self.number(EXCHANGE).bytes(name.as_bytes()),
        }
        .bytes(call.argument.as_bytes())
    }

    pub(super) fn hops(&mut self, hops: &[Hop]) -> &mut Self {
        self.number(hops.len() as u64);
        hops.iter().fold(self, |out, hop| out.number(hop.rank).number(hop.number))
    }

    pub(super) fn waits(&mut self, waits: &[Wait]) -> &mut Self {
        self.number(waits.len() as u64);
        for Wait { rank, members, round, call } in waits {
            self.number(*rank).number(*round).bytes(call.as_bytes());
            self.number(members.len() as u64);
            members.iter().fold(&mut *self, |out, member| out.number(*member));
        }
        self
    }

    pub(super) fn buffers(&mut self, buffers: &[WireBuffer]) -> &mut Self {
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

/// Reads; none where the bytes are not of that form.
pub(super) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & !MORE);
            value |= bits << shift;
            if byte & MORE == 0 {
                // A number is written in one way only.
                let is_shortest = bits != 0 || shift == 0;
                return (is_shortest && value >> shift == bits).then_some(value);
            }
        }
        None
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    pub(super) fn place(&mut self) -> Option<PostPlace> {
        let (team, round) = (self.number()?, self.number()?);
        Some(PostPlace { team, round, rank: self.number()?, n_near: self.number()? })
    }

    pub(super) fn note(&mut self) -> Option<NoteOf> {
        let team = self.number()?;
        let near = NearPlace { round: self.number()?, number: self.number()? };
        Some(NoteOf { team, near, rank: self.number()? })
    }

    pub(super) fn maybe(&mut self) -> Option<Option<u64>> {
        match self.number()? {
            0 => Some(None),
            1 => Some(Some(self.number()?)),
            _ => None,
        }
    }

    pub(super) fn arrival(&mut self) -> Option<Arrival> {
        match self.number()? {
            0 => Some(Arrival::Meant),
            1 => Some(Arrival::Stuck),
            _ => None,
        }
    }

    pub(super) fn offer(&mut self) -> Option<WireOffer> {
        let (sources, targets) = (self.buffers()?, self.buffers()?);
        Some(WireOffer { sources, targets, packed_halo: self.one_at_most()? })
    }

    pub(super) fn maybe_offer(&mut self) -> Option<Option<WireOffer>> {
        match self.number()? {
            0 => Some(None),
            1 => Some(Some(self.offer()?)),
            _ => None,
        }
    }

    pub(super) fn half(&mut self) -> Option<Half> {
        match self.number()? {
            0 => Some(Half::First),
            1 => Some(Half::Second),
            _ => None,
        }
    }

    pub(super) fn call(&mut self) -> Option<Call> {
        let name = match self.number()? {
            RUN => CallName::Run,
            RUN_IN_PLACE => CallName::RunInPlace,
            RUN_FINISHED => CallName::RunFinished,
            BARRIER => CallName::Barrier,
            EXCHANGE => CallName::exchange(self.text()?),
            _ => return None,
        };
        Some(Call { name, argument: self.text()?.into() })
    }

    pub(super) fn hops(&mut self) -> Option<Vec<Hop>> {
        let n_hops = self.number()?;
        let hop = |_| Some(Hop { rank: self.number()?, number: self.number()? });
        (0..n_hops).map(hop).collect()
    }

    pub(super) fn waits(&mut self) -> Option<Vec<Wait>> {
        (0..self.number()?).map(|_| self.wait()).collect()
    }

    pub(super) fn wait(&mut self) -> Option<Wait> {
        let (rank, round, call) = (self.number()?, self.number()?, self.text()?.to_string());
        let members: Option<Arc<[u64]>> = (0..self.number()?).map(|_| self.number()).collect();
        Some(Wait { rank, members: members?, round, call })
    }

    pub(super) fn buffers(&mut self) -> Option<Vec<WireBuffer>> {
        (0..self.number()?).map(|_| self.buffer()).collect()
    }

    pub(super) fn one_at_most(&mut self) -> Option<Option<WireBuffer>> {
        let mut buffers = self.buffers()?;
        let last = buffers.pop();
        buffers.is_empty().then_some(last)
    }

    pub(super) fn buffer(&mut self) -> Option<WireBuffer> {
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
