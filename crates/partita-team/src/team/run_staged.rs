//! Running a plan in two stages: each is a plan of its own, with memory between them.

use partita_plan::Plan;

use crate::error::{Result, TeamError};
use crate::memory::buffer::Buffer;
use crate::memory::pool::Memory;
use crate::team::run::{Checked, Run};
use crate::team::team::Team;

impl Team {
    /// Runs two plans one after the other, in the name of the one that they do.
    ///
    /// # Safety
    /// As [`Team::run`].
    pub(super) unsafe fn run_staged(&self, run: &Run<'_>, stages: &[Plan; 2]) -> Result<()> {
        let [first, second] = stages;
        let between = match Between::new(first, run) {
            Some(between) => between,
            None => return self.failed_alone(run, no_memory()),
        };
        // The others are told which plan this is, whatever they run.
        let about = match run.about {
            "" => format!("stage of {}", run.plan.fingerprint()),
            about => format!("{about}, stage of {}", run.plan.fingerprint()),
        };
        let (about, checked, parts) = (&*about, Checked::Before, &*between.buffers);
        let halves = [
            Run { plan: first, about, checked, targets: parts, ..*run },
            Run { plan: second, about, checked, sources: parts, ..*run },
        ];
        // SAFETY: the caller's promise; the parts fit their layout and are nobody else's.
        halves.iter().try_for_each(|half| unsafe { self.run_at_once(half) })
    }
}

fn no_memory() -> TeamError {
    TeamError::Engine { message: "there is no memory for the parts of a sum".to_string() }
}

/// A rank's memory between two stages.
struct Between {
    buffers: Vec<Buffer>,
    /// Where they lie.
    _memory: Vec<Memory>,
}

impl Between {
    /// None if the system has no more memory.
    fn new(first: &Plan, run: &Run<'_>) -> Option<Self> {
        let item_bytes = run.item_bytes();
        let (mut buffers, mut memory) = (Vec::new(), Vec::new());
        for shape in first.target().local_shapes(run.rank) {
            let n_items: u64 = shape.iter().product();
            let block = Memory::try_new(n_items as usize * item_bytes)?;
            buffers.push(Buffer::dense(block.address(), &shape, item_bytes));
            memory.push(block);
        }
        Some(Self { buffers, _memory: memory })
    }
}
