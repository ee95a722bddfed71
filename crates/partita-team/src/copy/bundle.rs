//! Tasks of the same shape, carried out in one go.
//!
//! To deal out columns in turn, each target takes every other piece of the same source rows. Read
//! move by move, the source is full of gaps; read as a bundle, it is one stream. The same holds for
//! the target when one rank collects from many.

use super::job::{Axis, Job, Kernel};

/// A job with its buffers.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub job: Job,
    pub source: *const u8,
    pub target: *mut u8,
}

impl Task {
    /// Whether any element goes elsewhere than where it is.
    pub fn moves(&self) -> bool {
        let (source, target) = self.job.start;
        let from = self.source.addr().wrapping_add_signed(source);
        from != self.target.addr().wrapping_add_signed(target)
            || !self.job.axes.iter().all(Axis::steps_alike)
    }
}

/// Which buffer the tasks have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shared {
    Source,
    Target,
}

/// Tasks that differ in their starts and in steps of the side that is not shared.
#[derive(Debug)]
pub(super) struct Bundle {
    pub lanes: Vec<Task>,
    pub kernel: Kernel,
}

impl Shared {
    pub fn of(tasks: &[Task]) -> Self {
        let is_source = tasks.windows(2).all(|pair| pair[0].source == pair[1].source);
        let is_target = tasks.windows(2).all(|pair| pair[0].target == pair[1].target);
        if is_target && !is_source { Self::Target } else { Self::Source }
    }

    fn step(self, axis: &Axis) -> isize {
        match self {
            Self::Source => axis.turns.source,
            Self::Target => axis.turns.target,
        }
    }

    fn start(self, task: &Task) -> usize {
        match self {
            Self::Source => task.source.addr().wrapping_add_signed(task.job.start.0),
            Self::Target => task.target.addr().wrapping_add_signed(task.job.start.1),
        }
    }

    /// Whether two tasks may be lanes of one bundle, but for the length of their innermost axis.
    fn is_alike(self, a: &Task, b: &Task) -> bool {
        let same_buffer = match self {
            Self::Source => a.source == b.source,
            Self::Target => a.target == b.target,
        };
        let inner = a.job.axes.len() - 1;
        same_buffer
            && (a.job.kind, a.job.unit, a.job.axes.len())
                == (b.job.kind, b.job.unit, b.job.axes.len())
            && a.job.axes.iter().zip(&b.job.axes).enumerate().all(|(depth, (a, b))| {
                a.list.is_none()
                    && b.list.is_none()
                    && self.step(a) == self.step(b)
                    && (depth == inner || a.turns.count == b.turns.count)
            })
    }
}

/// Puts like with like; `kernel` is asked once per bundle.
pub(super) fn bundles(
    mut tasks: Vec<Task>,
    shared: Shared,
    kernel: impl Fn(&Job) -> Kernel,
) -> Vec<Bundle> {
    let mut bundles = Vec::new();
    while let Some(first) = tasks.pop() {
        let mut lanes: Vec<Task> =
            tasks.extract_if(.., |task| shared.is_alike(&first, task)).collect();
        lanes.push(first);
        even_out(&mut lanes, &mut tasks);
        lanes.sort_by_key(|lane| shared.start(lane));
        bundles.extend(
            lanes.first().map(|lane| kernel(&lane.job)).map(|kernel| Bundle { lanes, kernel }),
        );
    }
    bundles.sort_by_key(|bundle| bundle.lanes.first().map(|lane| shared.start(lane)));
    bundles
}

/// Cuts all lanes to the shortest, and into the same blocks; what is cut off comes back as tasks.
fn even_out(lanes: &mut [Task], rest: &mut Vec<Task>) {
    let length = |lane: &Task| lane.job.axes.last().map_or(0, |axis| axis.turns.count);
    let shortest = lanes.iter().map(length).min().unwrap_or(0);
    for lane in lanes.iter_mut().filter(|lane| length(lane) > shortest) {
        rest.push(Task { job: lane.job.from(shortest), ..lane.clone() });
        lane.job.cut(shortest);
    }
    let n_axes = lanes.first().map_or(0, |lane| lane.job.axes.len());
    for depth in 0..n_axes {
        let block = lanes.iter().map(|lane| lane.job.axes[depth].block).min().unwrap_or(1);
        lanes.iter_mut().for_each(|lane| lane.job.axes[depth].block = block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copy::job::Kind;
    use crate::copy::nest::Loop;

    unsafe fn nothing(_: &[crate::copy::job::Block<'_>]) {}

    /// Two elements of 8 bytes, `source` apart in the source and `target` in the target.
    fn task(start: isize, source: isize, target: isize) -> Task {
        let axis = |turns: Loop| Axis { turns, block: 1, list: None };
        let axes = vec![axis(Loop::ONCE), axis(Loop { count: 2, source, target })];
        let job = Job { start: (start, 0), unit: 8, kind: Kind::Elements, axes };
        Task { job, source: std::ptr::null(), target: std::ptr::null_mut() }
    }

    fn sizes(tasks: Vec<Task>, shared: Shared) -> Vec<usize> {
        let made = bundles(tasks, shared, |_| nothing);
        made.iter().map(|bundle| bundle.lanes.len()).collect()
    }

    #[test]
    fn elements_that_stay_are_not_moved() {
        assert!(!task(0, 16, 16).moves());
        assert!(task(8, 16, 16).moves(), "they begin elsewhere");
        assert!(task(0, 16, 8).moves(), "only the first one stays");
    }

    #[test]
    fn lanes_step_alike_on_the_side_they_share() {
        let tasks = || vec![task(0, 16, 8), task(8, 16, 24), task(16, 32, 8)];
        assert_eq!(sizes(tasks(), Shared::Source), [2, 1]);
        let mut of_target = sizes(tasks(), Shared::Target);
        of_target.sort_unstable();
        assert_eq!(of_target, [1, 2]);
    }
}
