//! Random programs on every machine the processor has, against the slow evaluator.
//!
//! `PARTITA_CASES` sets how many; a failure prints the seed of its case.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod slow;

use partita_kernel::math::Level;
use partita_kernel::{Action, Call, Dtype, Machine, Op, Reduction, Settings, View};
use slow::cases::{Case, Random, for_each_point};
use slow::number::Number;

/// Failures after which a test gives up: several show what they have in common.
const MOST_FAILURES: usize = 10;

fn machines() -> Vec<Machine> {
    let mut machines = Vec::new();
    for level in Level::all() {
        for emit in [false, true] {
            let other = emit ^ (level == Level::PORTABLE);
            let (n_threads, tile) = if other { (3, 1024) } else { (1, 512) };
            let settings = Settings { level, emit, n_threads, tile, stream_from: usize::MAX };
            machines.push(Machine::new(settings));
            if emit && level != Level::PORTABLE {
                // What only large calls do: results past the cache, inputs asked for ahead.
                machines.push(Machine::new(Settings { stream_from: 0, ..settings }));
            }
        }
    }
    machines
}

/// The outputs' memory after a run, or the reason why there was none.
fn run(machine: &Machine, case: &Case) -> Result<Vec<Vec<u8>>, &'static str> {
    let kernel = machine.kernel(&case.program).map_err(|e| e.reason())?;
    let mut inputs: Vec<Vec<u8>> = case.inputs.iter().map(|m| m.bytes.clone()).collect();
    let mut outputs: Vec<Vec<u8>> = case.outputs.iter().map(|m| m.bytes.clone()).collect();
    let mut views = Vec::new();
    for (number, memory) in case.outputs.iter().enumerate() {
        let bytes = match case.in_place[number] {
            Some(input) => &mut inputs[input],
            None => &mut outputs[number],
        };
        let data = bytes[memory.origin..].as_mut_ptr();
        views.push(View { data, strides: &memory.strides });
    }
    let read: Vec<View<'_>> = case
        .inputs
        .iter()
        .zip(&case.shifted)
        .enumerate()
        .map(|(i, (m, base))| View::new(inputs[base.unwrap_or(i)][m.origin..].as_ptr(), &m.strides))
        .collect();
    let call =
        Call { extents: &case.extents, inputs: &read, outputs: &views, scalars: &case.scalars };
    // SAFETY: every point lies within its buffer's memory.
    unsafe { machine.run(&kernel, &call).map_err(|e| e.reason())? };
    for (number, place) in case.in_place.iter().enumerate() {
        if let Some(input) = place {
            outputs[number] = inputs[*input].clone();
        }
    }
    let written = |i: &usize| !case.in_place.contains(&Some(*i));
    for i in (0..inputs.len()).filter(written) {
        assert!(inputs[i] == case.inputs[i].bytes, "input {i} was written");
    }
    Ok(outputs)
}

/// Every point and the values of all instructions there.
struct Wanted {
    points: Vec<Vec<usize>>,
    values: Vec<Vec<Number>>,
}

impl Wanted {
    fn new(case: &Case) -> Wanted {
        let mut points = Vec::new();
        for_each_point(&case.extents, |p| points.push(p.to_vec()));
        let evaluate = |p: &Vec<usize>| {
            slow::evaluate(&case.program, &case.scalars, p, |i| case.inputs[i].get(p))
        };
        let values = points.iter().map(evaluate).collect();
        Wanted { points, values }
    }
}

/// Compares stored and running values exactly, reductions within their bounds.
fn check(case: &Case, all: &Wanted, outputs: &[Vec<u8>]) {
    let Wanted { points, values } = all;
    for (number, output) in case.program.outputs.iter().enumerate() {
        let memory = &case.outputs[number];
        let mut wanted = memory.clone();
        let given = slow::cases::Memory { bytes: outputs[number].clone(), ..memory.clone() };
        let value = output.value.0 as usize;
        let dtype = case.program.dtype(output.value);
        match output.action {
            Action::Store => {
                for (point, values) in points.iter().zip(values) {
                    place(&mut wanted, &given, point, |g| {
                        assert!(
                            g.same(values[value]),
                            "output {number} at {point:?}: {g:?} for {:?}",
                            values[value]
                        );
                    });
                }
            }
            Action::Reduce(reduction) => {
                let mut kept = case.extents.clone();
                let reduced = |axis: usize| case.program.is_reduced(axis);
                (0..kept.len()).filter(|&a| reduced(a)).for_each(|a| kept[a] = 1);
                let correction = match values.first() {
                    Some(values) if reduction == Reduction::Variance => {
                        values[output.correction.0 as usize].float()
                    }
                    _ => 0.0,
                };
                for_each_point(&kept, |result| {
                    let mine = |p: &[usize]| (0..p.len()).all(|a| reduced(a) || p[a] == result[a]);
                    let items: Vec<Number> = points
                        .iter()
                        .zip(values)
                        .filter(|(p, _)| mine(p))
                        .map(|(_, v)| v[value])
                        .collect();
                    place(&mut wanted, &given, result, |g| {
                        let right =
                            slow::reductions::right(reduction, dtype, &items, correction, g);
                        assert!(
                            right,
                            "output {number}, {reduction:?} at {result:?}: {g:?} of {items:?}"
                        );
                    });
                });
            }
            Action::RunningSum | Action::RunningProduct => {
                let op = if output.action == Action::RunningSum { Op::Add } else { Op::Multiply };
                let axis = case.program.scan_axis as usize;
                let mut running = std::collections::HashMap::new();
                for (point, values) in points.iter().zip(values) {
                    let mut line = point.clone();
                    line[axis] = 0;
                    let now = match running.get(&line) {
                        None => values[value],
                        Some(&before) => {
                            slow::operations::apply(op, dtype, dtype, &[before, values[value]])
                        }
                    };
                    running.insert(line, now);
                    place(&mut wanted, &given, point, |g| {
                        assert!(
                            g.same(now),
                            "running output {number} at {point:?}: {g:?} for {now:?}"
                        );
                    });
                }
            }
        }
        assert!(wanted.bytes == given.bytes, "output {number}: bytes around it were written");
    }
}

/// Looks at one element, then takes it over, so that what remains different was not to be written.
fn place(
    wanted: &mut slow::cases::Memory,
    given: &slow::cases::Memory,
    point: &[usize],
    look: impl FnOnce(Number),
) {
    look(given.get(point));
    let at = given.place(point);
    let size = given.dtype.size();
    wanted.bytes[at..at + size].copy_from_slice(&given.bytes[at..at + size]);
}

/// The same numbers, any NaN for any other.
fn alike(case: &Case, one: &[Vec<u8>], other: &[Vec<u8>]) -> bool {
    case.outputs.iter().enumerate().all(|(number, memory)| {
        let read = |all: &[Vec<u8>], point: &[usize]| {
            Number::read(&all[number][memory.place(point)..], memory.dtype)
        };
        let mut same = true;
        let mut extents = case.extents.clone();
        if matches!(case.program.outputs[number].action, Action::Reduce(_)) {
            (0..extents.len()).filter(|&a| case.program.is_reduced(a)).for_each(|a| extents[a] = 1);
        }
        for_each_point(&extents, |p| same &= read(one, p).same(read(other, p)));
        same
    })
}

fn check_case(machines: &[Machine], seed: u64, dtypes: &[Dtype]) {
    let case = Case::new(&mut Random(seed), dtypes);
    let first = run(&machines[0], &case);
    let wanted = Wanted::new(&case);
    if let Ok(outputs) = &first {
        check(&case, &wanted, outputs);
    }
    for machine in &machines[1..] {
        let again = run(machine, &case);
        match (&first, &again) {
            (Ok(one), Ok(other)) => {
                assert!(alike(&case, one, other), "{:?} gives other bits", machine.settings());
            }
            (one, other) => assert_eq!(one.as_ref().err(), other.as_ref().err()),
        }
        if let Ok(outputs) = &again {
            check(&case, &wanted, outputs);
        }
    }
}

fn check_many(seed: u64, share: usize, dtypes: &[Dtype]) {
    let n: usize =
        std::env::var("PARTITA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let machines = machines();
    let mut failed = Vec::new();
    for seed in seed..seed + (n / share) as u64 {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check_case(&machines, seed, dtypes);
        }));
        if outcome.is_err() {
            let case = Case::new(&mut Random(seed), dtypes);
            eprintln!("seed {seed}, extents {:?}, {:?}", case.extents, case.program);
            failed.push(seed);
        }
        assert!(failed.len() < MOST_FAILURES, "seeds {failed:?}");
    }
    assert!(failed.is_empty(), "seeds {failed:?}");
}

#[test]
fn all_types() {
    check_many(1_000_000, 2, &Dtype::ALL);
}

#[test]
fn types_that_are_emitted() {
    let dtypes = [Dtype::Float64, Dtype::Float32, Dtype::Int64, Dtype::Int32, Dtype::Bool];
    check_many(2_000_000, 4, &dtypes);
}

#[test]
fn one_type_each() {
    for (i, dtype) in Dtype::ALL.into_iter().enumerate() {
        check_many(3_000_000 + 100_000 * i as u64, 60, &[dtype]);
    }
}
