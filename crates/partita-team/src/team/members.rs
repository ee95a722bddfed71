//! Choosing the members of a new team, by the same rules on every engine.

use crate::error::{Result, TeamError};

/// The members with the given ranks, in the given order.
///
/// # Errors
/// Ranks named twice or outside the team.
pub(crate) fn chosen(members: &[u64], ranks: &[u64]) -> Result<Vec<u64>> {
    let mut found = Vec::with_capacity(ranks.len());
    for (at, &rank) in ranks.iter().enumerate() {
        let Some(&member) = members.get(rank as usize) else {
            return Err(TeamError::MemberUnknown { rank, size: members.len() as u64 });
        };
        if ranks[..at].contains(&rank) {
            return Err(TeamError::MemberTwice { rank });
        }
        found.push(member);
    }
    Ok(found)
}

/// One team's members, then the other's that are not among them.
pub(crate) fn joined(members: &[u64], others: &[u64]) -> Vec<u64> {
    let mut all = members.to_vec();
    all.extend(others.iter().filter(|other| !members.contains(other)));
    all
}
