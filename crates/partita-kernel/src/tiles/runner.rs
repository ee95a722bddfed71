//! Running lowered code over stretches of a space, on one thread.

use super::code::{Code, Slot, Source, Step};
use super::functions::is_long;
use super::pack;
use super::scratch::Scratch;
use crate::dtype::Dtype;
use crate::emit::{Access, Fused, Loop, Work};
use crate::program::{Action, Output, Program, Scalar};
use crate::space::{Position, Space};

/// What all threads of one run share.
pub struct Run<'a> {
    /// The program.
    pub program: &'a Program,
    /// It, lowered.
    pub code: &'a Code,
    /// Its steps as emitted loops, where there are any.
    pub work: Option<&'a [Work]>,
    /// The loops.
    pub space: &'a Space,
    /// The call's numbers.
    pub scalars: &'a [Scalar],
    /// Elements of a tile.
    pub tile: usize,
    /// Whether an output lies where an input does.
    pub in_place: bool,
    /// Whether outputs are too large to be kept in the cache.
    pub streams: bool,
}

/// Elements of a part of a tile, a multiple of a cache line whatever they are.
///
/// Functions go over a tile part by part, all of them over one part before the next: parts are
/// so short that the processor, looking ahead, computes one function while it still waits for
/// the divisions and square roots of the loop before.
const PART: usize = 64;

/// One thread's tiles.
pub struct Runner<'a> {
    run: &'a Run<'a>,
    /// A tile for every slot.
    own: Vec<*mut u8>,
    /// Where every slot's elements are for the current stretch.
    slots: Vec<*mut u8>,
    /// Per input: whether its rows can be read where they are.
    readable: Vec<bool>,
    /// Per output: whether a step can write its rows.
    writable: Vec<bool>,
    /// Per output: whether a step has written the current stretch.
    written: Vec<bool>,
    /// Per piece of work: the loop that writes past the cache, found once: a look-up per tile would
    /// count users, and every count waits for all stores before it.
    streaming: Vec<Option<Loop<'a>>>,
    /// Elements that go through all pieces of work before the next ones do.
    part: usize,
    _scratch: Scratch,
}

impl<'a> Runner<'a> {
    /// Tiles for a run, constants filled in.
    pub fn new(run: &'a Run<'a>) -> Runner<'a> {
        // An odd number of lines between tiles keeps them from competing for places in the cache.
        let lines = |size: usize| ((run.tile * size).div_ceil(64) | 1) * 64;
        let n_bytes = run.code.slots.iter().map(|s| lines(s.size)).sum();
        let mut scratch = Scratch::new(n_bytes);
        let mut next = scratch.as_mut_ptr();
        let mut own = Vec::with_capacity(run.code.slots.len());
        for slot in &run.code.slots {
            own.push(next);
            next = next.wrapping_add(lines(slot.size));
        }
        let n_inputs = run.program.inputs.len();
        // Some loops touch bytes behind the last truth value: only tiles have them.
        let padded = pads_bytes(run);
        let spare = |dtype: Dtype| dtype == Dtype::Bool && padded;
        // What is stored or combined as it is must not change when an output takes its place.
        let is_output = |input: usize| {
            let source = |slot: u16| run.code.slots[slot as usize].source;
            run.in_place && run.code.outputs.iter().any(|&o| source(o) == Source::Input(input))
        };
        let readable = (0..n_inputs)
            .map(|i| plain(run.space, i) && !spare(run.program.inputs[i]) && !is_output(i))
            .collect();
        let writable = (0..run.program.outputs.len())
            .map(|o| can_write(run, o) && !spare(run.program.output_dtype(o)))
            .collect();
        let written = vec![false; run.program.outputs.len()];
        let slots = own.clone();
        let streaming = run.work.unwrap_or_default().iter().map(|w| past_cache(run, w)).collect();
        let part = if has_long_steps(run) { PART } else { usize::MAX };
        let runner = Runner {
            run,
            own,
            slots,
            readable,
            writable,
            written,
            streaming,
            part,
            _scratch: scratch,
        };
        runner.fill_constants();
        runner
    }

    /// Where the elements of an output's value are for the current stretch.
    pub fn value(&self, output: usize) -> *const u8 {
        self.slots[self.run.code.outputs[output] as usize]
    }

    fn fill_constants(&self) {
        let n = self.run.tile;
        for (slot, &tile) in self.run.code.slots.iter().zip(&self.own) {
            let number = match slot.source {
                Source::Constant(number) => number,
                Source::Scalar(number) => self.run.scalars[number],
                _ => continue,
            };
            // SAFETY: the tile has room for as many elements.
            unsafe { pack::fill(&number.bytes[..number.dtype.size()], tile, n) };
        }
    }

    /// Whether the values of `n` points from a number on lie in inputs, one after another: then
    /// [`Runner::compute`] takes more points than a tile has.
    pub fn reads_in_place(&self, first: usize, n: usize) -> bool {
        let read = |slot: &Slot| match slot.source {
            Source::Input(input) => self.readable[input],
            _ => false,
        };
        let stores = |o: &Output| o.action == Action::Store;
        let row = self.run.space.row();
        self.run.code.steps.is_empty()
            && self.run.code.slots.iter().all(read)
            && !self.run.program.outputs.iter().any(stores)
            && first % row + n <= row
    }

    /// Computes all values for `n` points from a number on.
    ///
    /// # Safety
    /// The call's memory may be used, `n` is at most a tile, and the points are the space's.
    pub unsafe fn compute(&mut self, first: usize, n: usize) -> Position {
        let run = self.run;
        let at = Position::new(run.space, first);
        let last = run.space.dims.len().wrapping_sub(1);
        let in_row = run.space.dims.is_empty() || at.turn(last) + n <= run.space.row();
        // SAFETY: the caller's.
        unsafe {
            self.bring_in(&at, n, in_row);
            self.lend_outputs(&at, in_row);
            match run.work {
                None => run.code.steps.iter().for_each(|step| self.step(step, n)),
                Some(work) => self.work(work, n),
            }
        }
        at
    }

    /// # Safety
    /// As [`Runner::compute`].
    unsafe fn work(&mut self, work: &[Work], n: usize) {
        let mut done = 0;
        loop {
            let count = self.part.min(n - done);
            for (work, streaming) in work.iter().zip(&self.streaming) {
                // SAFETY: the caller's; the slots point to the elements that come next.
                unsafe {
                    match (work, streaming) {
                        (Work::Step(at), _) => self.step(&self.run.code.steps[*at], count),
                        (Work::Fused(fused), Some(version)) if self.can_stream(fused) => {
                            version.call(self.slots.as_ptr(), count, 1, std::ptr::null());
                        }
                        (Work::Fused(fused), _) => fused.call(self.slots.as_ptr(), count),
                    }
                }
            }
            if done + count == n {
                break;
            }
            done += count;
            self.advance(count as isize);
        }
        self.advance(-(done as isize));
    }

    /// Lets all slots point to elements further on.
    fn advance(&mut self, n_elements: isize) {
        for (slot, about) in self.slots.iter_mut().zip(&self.run.code.slots) {
            *slot = slot.wrapping_offset(n_elements * about.size as isize);
        }
    }

    /// Whether a loop writes nothing but outputs, at whole cache lines: tiles are to stay cached.
    fn can_stream(&self, fused: &Fused) -> bool {
        let outputs = &self.run.code.outputs;
        let whole_lines = |slot: u16| {
            let lent = outputs.iter().position(|&o| o == slot).is_some_and(|o| self.written[o]);
            lent && (self.slots[slot as usize] as usize).is_multiple_of(64)
        };
        fused.written().all(whole_lines)
    }

    /// # Safety
    /// As [`Runner::compute`].
    unsafe fn step(&self, step: &Step, n: usize) {
        let from = step.from.map(|slot| self.slots[slot as usize].cast_const());
        // SAFETY: the caller's.
        unsafe { step.function.call(from, self.slots[step.to as usize], n) };
    }

    /// # Safety
    /// As [`Runner::compute`].
    unsafe fn bring_in(&mut self, at: &Position, n: usize, in_row: bool) {
        let space = self.run.space;
        for (number, slot) in self.run.code.slots.iter().enumerate() {
            match slot.source {
                Source::Input(input) if in_row && self.readable[input] => {
                    self.slots[number] = at.address(space, input);
                }
                Source::Input(input) => {
                    self.slots[number] = self.own[number];
                    // SAFETY: the caller's.
                    unsafe { pack::pack(space, input, at, n, self.own[number]) };
                }
                Source::Index(axis) => {
                    // SAFETY: the tile has room for n numbers of eight bytes.
                    unsafe { index(space, axis, at, n, self.own[number].cast()) };
                }
                _ => {}
            }
        }
    }

    /// Lets steps write outputs where they belong, where that is possible.
    fn lend_outputs(&mut self, at: &Position, in_row: bool) {
        let n_inputs = self.run.program.inputs.len();
        for (output, &slot) in self.run.code.outputs.iter().enumerate() {
            let lend = in_row && self.writable[output];
            self.written[output] = lend;
            if lend {
                self.slots[slot as usize] = at.address(self.run.space, n_inputs + output);
            } else if self.run.code.slots[slot as usize].source == Source::Register
                && !self.run.code.outputs[..output].contains(&slot)
            {
                self.slots[slot as usize] = self.own[slot as usize];
            }
        }
    }

    /// Writes the outputs that are stored and that no step has written.
    ///
    /// # Safety
    /// As [`Runner::compute`], which came before with the same points.
    pub unsafe fn store(&self, at: &Position, n: usize) {
        let n_inputs = self.run.program.inputs.len();
        for (output, what) in self.run.program.outputs.iter().enumerate() {
            if what.action == Action::Store && !self.written[output] {
                // SAFETY: the caller's.
                unsafe {
                    pack::unpack(self.run.space, n_inputs + output, at, n, self.value(output));
                }
            }
        }
    }
}

/// The loop of a piece of work that writes past the cache, where that pays.
fn past_cache<'a>(run: &Run<'a>, work: &'a Work) -> Option<Loop<'a>> {
    match work {
        Work::Fused(fused) if run.streams && fused.can_stream() => {
            fused.version(Access { streams: true, ..Access::default() })
        }
        _ => None,
    }
}

/// Whether what is not emitted are functions, each worth a call for a few elements.
fn has_long_steps(run: &Run<'_>) -> bool {
    let step = |at: &usize| &run.code.steps[*at];
    let mut steps = run.work.unwrap_or_default().iter().filter_map(|work| match work {
        Work::Step(at) => Some(step(at)),
        Work::Fused(_) => None,
    });
    let mut any = false;
    steps.all(|step| {
        any = true;
        is_long(step.op, step.result)
    }) && any
}

/// # Safety
/// The tile has room for `n` numbers.
unsafe fn index(space: &Space, axis: usize, at: &Position, n: usize, tile: *mut i64) {
    let Some(dim) = space.dims.iter().position(|d| d.axis == axis) else {
        // SAFETY: as promised.
        return unsafe { pack::fill(&[0; 8], tile.cast(), n) };
    };
    // SAFETY: as promised.
    unsafe { pack::turns(space, dim, at, n, tile) };
}

/// Whether a buffer's rows are contiguous and aligned.
fn plain(space: &Space, buffer: usize) -> bool {
    let size = space.buffers[buffer].size;
    let align = size.min(8);
    space.row_stride(buffer) == size as isize
        && (space.buffers[buffer].data as usize).is_multiple_of(align)
        && space.strides_of(buffer).iter().all(|s| s % align as isize == 0)
}

/// Whether the step that makes an output's value may write it into the output.
fn can_write(run: &Run<'_>, output: usize) -> bool {
    let slot = run.code.outputs[output];
    !run.in_place
        && run.program.outputs[output].action == Action::Store
        && run.code.slots[slot as usize].source == Source::Register
        && !run.code.outputs[..output].contains(&slot)
        && plain(run.space, run.program.inputs.len() + output)
}

fn pads_bytes(run: &Run<'_>) -> bool {
    let pads = |work: &Work| matches!(work, Work::Fused(fused) if fused.pads_bytes());
    run.work.is_some_and(|work| work.iter().any(pads))
}
