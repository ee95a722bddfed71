//! What goes wrong on ranks that are processes is told once, and by whom it concerns.

use partita_team::Team;

use crate::Failure;

/// Why a rank does not go on.
#[derive(Debug)]
pub(super) enum Trouble {
    /// For a reason of its own.
    Own(Failure),
    /// Because another rank does not.
    Told(Failure),
}

/// Goes on if all ranks do. Else one of them tells what is wrong, and the others end silently.
pub(super) fn told_once<T>(team: &Team, outcome: Result<T, Trouble>) -> Result<T, Failure> {
    let note = outcome.as_ref().err().map_or(String::new(), note);
    let all = match team.allgather("outcome", note.into_bytes()) {
        Ok(all) => all,
        // The team cannot be asked any more: everybody tells what it knows.
        Err(error) => {
            let failed = |_| Failure::Failed(error.to_string());
            return outcome.map_err(failure).and_then(|_| Err(failed(())));
        }
    };
    let notes: Vec<String> =
        all.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
    let Some(teller) = teller(&notes) else { return outcome.map_err(failure) };
    match outcome {
        Err(trouble) if team.rank() == Some(teller as u64) => {
            let is_everyones = notes.iter().all(|note| *note == notes[0]);
            Err(if is_everyones { failure(trouble) } else { named(failure(trouble), teller) })
        }
        _ => Err(Failure::Elsewhere {
            status: if notes[teller].starts_with("usage") { 2 } else { 1 },
        }),
    }
}

fn note(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Told(_) => "told".to_string(),
        Trouble::Own(Failure::Usage { message, .. }) => format!("usage {message}"),
        Trouble::Own(Failure::Failed(message)) => format!("failed {message}"),
        Trouble::Own(_) => "failed".to_string(),
    }
}

/// The first rank with a reason of its own; else the first that does not go on.
fn teller(notes: &[String]) -> Option<usize> {
    let own = notes.iter().position(|note| !note.is_empty() && note != "told");
    own.or_else(|| notes.iter().position(|note| !note.is_empty()))
}

fn failure(trouble: Trouble) -> Failure {
    match trouble {
        Trouble::Own(failure) | Trouble::Told(failure) => failure,
    }
}

/// The failure with the rank where it began.
fn named(failure: Failure, rank: usize) -> Failure {
    match failure {
        Failure::Usage { reason, message } => {
            Failure::Usage { reason, message: format!("rank {rank}: {message}") }
        }
        Failure::Failed(message) => Failure::Failed(format!("rank {rank}: {message}")),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_team::threads::World;

    fn on_three(outcome: impl Fn(u64) -> Result<u64, Trouble> + Sync) -> Vec<Result<u64, String>> {
        let world = World::new(3);
        let one = |rank: u64| {
            told_once(&world.team(rank), outcome(rank)).map_err(|failure| match failure {
                Failure::Elsewhere { status } => format!("elsewhere {status}"),
                Failure::Usage { message, .. } | Failure::Failed(message) => message,
                Failure::Found => "found".to_string(),
            })
        };
        std::thread::scope(|scope| {
            let one = &one;
            let ranks: Vec<_> = (0..3).map(|rank| scope.spawn(move || one(rank))).collect();
            ranks.into_iter().map(|rank| rank.join().expect("a rank")).collect()
        })
    }

    fn usage(message: &str) -> Trouble {
        Trouble::Own(Failure::Usage { reason: "argument", message: message.to_string() })
    }

    #[test]
    fn one_rank_tells_and_names_itself_where_it_is_alone() {
        assert_eq!(on_three(Ok), [Ok(0), Ok(1), Ok(2)]);
        let all = on_three(|_| Err(usage("no file")));
        assert_eq!(all[0], Err("no file".to_string()));
        assert_eq!(all[1..], [Err("elsewhere 2".to_string()), Err("elsewhere 2".to_string())]);
        let one = on_three(|rank| if rank == 1 { Err(usage("no file")) } else { Ok(rank) });
        assert_eq!(one[1], Err("rank 1: no file".to_string()));
        assert_eq!(one[0], Err("elsewhere 2".to_string()));
        let told = on_three(|rank| match rank {
            2 => Err(Trouble::Own(Failure::Failed("outside".to_string()))),
            _ => Err(Trouble::Told(Failure::Failed("rank 2 failed".to_string()))),
        });
        assert_eq!(told[2], Err("rank 2: outside".to_string()));
        assert_eq!(told[0], Err("elsewhere 1".to_string()));
    }
}
