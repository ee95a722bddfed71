//! Control messages as bytes: a fixed format that can become nothing else.

use std::borrow::Cow;

use crate::call::Call;
use crate::error::{Failure, FailureKind};

/// What a rank brings to a meeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parcel {
    pub call: Call,
    pub bytes: Vec<u8>,
}

/// A control message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Note {
    /// A post to round `round` of the team `team`.
    Post { team: u64, round: u64, rank: u64, post: Result<Parcel, Failure> },
    /// The sender comes to no meeting any more.
    Left { why: String },
}

const POST: u64 = 1;
const FAILED: u64 = 2;
const LEFT: u64 = 3;

impl Note {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut number = |value: u64| out.extend_from_slice(&value.to_le_bytes());
        match self {
            Self::Post { team, round, rank, post: Ok(parcel) } => {
                [POST, *team, *round, *rank].into_iter().for_each(&mut number);
                for text in
                    [parcel.call.name.as_bytes(), parcel.call.argument.as_bytes(), &parcel.bytes]
                {
                    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
                    out.extend_from_slice(text);
                }
            }
            Self::Post { team, round, rank, post: Err(failure) } => {
                let kind = failure.kind as u64;
                [FAILED, *team, *round, *rank, failure.rank, kind]
                    .into_iter()
                    .for_each(&mut number);
                out.extend_from_slice(failure.message.as_bytes());
            }
            Self::Left { why } => {
                number(LEFT);
                out.extend_from_slice(why.as_bytes());
            }
        }
        out
    }

    /// Reads a note; none if the bytes are no note of this version.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = Reader(bytes);
        match rest.number()? {
            POST => {
                let (team, round, rank) = (rest.number()?, rest.number()?, rest.number()?);
                let name = Cow::Owned(rest.text()?);
                let argument = rest.text()?.into();
                let bytes = rest.block()?.to_vec();
                let post = Ok(Parcel { call: Call { name, argument }, bytes });
                Some(Self::Post { team, round, rank, post })
            }
            FAILED => {
                let (team, round, rank) = (rest.number()?, rest.number()?, rest.number()?);
                let failing = rest.number()?;
                let kind = match rest.number()? {
                    0 => FailureKind::Raised,
                    1 => FailureKind::Left,
                    _ => FailureKind::Late,
                };
                let message = String::from_utf8_lossy(rest.0).into_owned();
                let post = Err(Failure { rank: failing, kind, message });
                Some(Self::Post { team, round, rank, post })
            }
            LEFT => Some(Self::Left { why: String::from_utf8_lossy(rest.0).into_owned() }),
            _ => None,
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let (head, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*head))
    }

    fn block(&mut self) -> Option<&'a [u8]> {
        let length = self.number()? as usize;
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.block()?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_round_trip_and_cut_ones_are_refused() {
        let call = Call { name: "run".into(), argument: "ab12".into() };
        let failure = Failure { rank: 3, kind: FailureKind::Late, message: "é".into() };
        let notes = [
            Note::Post { team: 7, round: 1, rank: 2, post: Ok(Parcel { call, bytes: vec![1, 2] }) },
            Note::Post { team: 7, round: 1, rank: 2, post: Err(failure) },
            Note::Left { why: "done".into() },
        ];
        for note in notes {
            let bytes = note.encode();
            assert_eq!(Note::decode(&bytes), Some(note));
            assert_eq!(Note::decode(&bytes[..7]), None);
        }
        assert_eq!(Note::decode(&99_u64.to_le_bytes()), None);
    }
}
