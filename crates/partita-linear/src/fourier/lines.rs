//! The lines of an array along one axis, in panels of neighbours.
//!
//! A line that is not contiguous is copied before it is transformed. Neighbouring lines are copied
//! together, so that whole cache lines are read and written.

use partita_kernel::room::vec_of;

/// Points between the lines of a panel, so that they do not fall on the same sets of a cache.
const GAP: usize = 8;

/// An axis as source and target have it: extent, and both strides.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    pub extent: usize,
    pub source: isize,
    pub target: isize,
}

/// All lines along one axis, numbered by panels.
#[derive(Debug)]
pub struct Lines {
    /// Strides along a line.
    pub along: [isize; 2],
    /// Points of a line in the source and in the target.
    pub n_points: [usize; 2],
    /// Lines of a full panel.
    pub width: usize,
    neighbours: Axis,
    others: Vec<Axis>,
}

/// Where a panel starts in source and target, and how many lines it has.
#[derive(Debug, Clone, Copy)]
pub struct Panel {
    pub source: isize,
    pub target: isize,
    pub n_lines: usize,
}

impl Lines {
    /// The lines along `axes[axis]`, where the target has `n_target` points.
    pub fn new(axes: &[Axis], axis: usize, n_target: usize) -> Lines {
        let mut others: Vec<Axis> = axes.to_vec();
        let along = others.remove(axis);
        let nearest = (0..others.len())
            .filter(|&other| others[other].extent > 1)
            .min_by_key(|&other| others[other].source.unsigned_abs());
        let single = Axis { extent: 1, source: 0, target: 0 };
        let neighbours = nearest.map_or(single, |nearest| others.remove(nearest));
        let longest = along.extent.max(n_target);
        let width = width(longest).min(neighbours.extent).max(1);
        Lines {
            along: [along.source, along.target],
            n_points: [along.extent, n_target],
            width,
            neighbours,
            others,
        }
    }

    fn panels_per_row(&self) -> usize {
        self.neighbours.extent.div_ceil(self.width)
    }

    /// How many panels there are.
    pub fn n_panels(&self) -> usize {
        self.others.iter().map(|axis| axis.extent).product::<usize>() * self.panels_per_row()
    }

    /// Where a panel lies.
    pub fn panel(&self, number: usize) -> Panel {
        let (mut row, at) = (number / self.panels_per_row(), number % self.panels_per_row());
        let first = at * self.width;
        let n_lines = self.width.min(self.neighbours.extent - first);
        let mut source = first.cast_signed() * self.neighbours.source;
        let mut target = first.cast_signed() * self.neighbours.target;
        for axis in self.others.iter().rev() {
            let position = (row % axis.extent).cast_signed();
            row /= axis.extent;
            source += position * axis.source;
            target += position * axis.target;
        }
        Panel { source, target, n_lines }
    }

    /// Elements from one line of a panel to the next, in the source and in the target.
    pub fn across(&self) -> [isize; 2] {
        [self.neighbours.source, self.neighbours.target]
    }
}

/// How many lines are copied together: as many as the second-level cache holds beside the rest.
fn width(n_points: usize) -> usize {
    match n_points {
        0..=8192 => 16,
        8193..=32768 => 8,
        _ => 4,
    }
}

/// Lines of a panel in memory of their own, one behind the other.
#[derive(Debug)]
pub struct Copies<T> {
    memory: Vec<T>,
    n_points: usize,
}

impl<T: Copy + Default> Copies<T> {
    pub fn new(n_lines: usize, n_points: usize) -> Copies<T> {
        Copies { memory: vec_of(T::default(), n_lines * (n_points + GAP)), n_points }
    }

    /// One of the lines.
    pub fn line(&mut self, number: usize) -> &mut [T] {
        let n_points = self.n_points;
        &mut self.memory[number * (n_points + GAP)..][..n_points]
    }

    /// Copies lines from an array.
    ///
    /// # Safety
    /// The lines lie there.
    pub unsafe fn gather(&mut self, from: *const T, along: isize, across: isize, n_lines: usize) {
        let (step, memory) = (self.n_points + GAP, self.memory.as_mut_ptr());
        blocks(self.n_points, |points| {
            for line in 0..n_lines {
                for point in points.clone() {
                    let at = point.cast_signed() * along + line.cast_signed() * across;
                    // SAFETY: the caller's, and the memory has room for all lines.
                    unsafe { *memory.add(line * step + point) = *from.offset(at) };
                }
            }
        });
    }

    /// Copies lines to an array, each point changed by `change`.
    ///
    /// # Safety
    /// The lines lie there, and are the caller's alone.
    pub unsafe fn scatter(
        &self,
        to: *mut T,
        [along, across]: [isize; 2],
        n_lines: usize,
        change: impl Fn(T) -> T,
    ) {
        let (step, memory) = (self.n_points + GAP, self.memory.as_ptr());
        blocks(self.n_points, |points| {
            for point in points {
                for line in 0..n_lines {
                    let at = point.cast_signed() * along + line.cast_signed() * across;
                    // SAFETY: the caller's, and all lines lie in the memory.
                    unsafe { *to.offset(at) = change(*memory.add(line * step + point)) };
                }
            }
        });
    }
}

/// Four points at a time, a cache line of complex128.
fn blocks(n_points: usize, mut work: impl FnMut(std::ops::Range<usize>)) {
    let whole = n_points / 4 * 4;
    for first in (0..whole).step_by(4) {
        work(first..first + 4);
    }
    work(whole..n_points);
}
