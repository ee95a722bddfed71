//! Values for every element of every rank, and what a plan should make of them.

use std::collections::HashMap;

use partita_layout::Layout;
use partita_oracle::{Dense, Rng};
use partita_plan::{Combine, Plan};
use partita_team::Buffer;

pub type Values = HashMap<u64, Vec<Vec<i64>>>;

pub fn values(dense: &Dense, rng: &mut Rng) -> Values {
    let buffer = |n: usize, rng: &mut Rng| (0..n).map(|_| rng.next() as i64 >> 8).collect();
    dense
        .places
        .iter()
        .map(|place| {
            let buffers = place.buffers.iter().map(|b| buffer(b.elements.len(), rng)).collect();
            (place.rank, buffers)
        })
        .collect()
}

/// What the plan should give, by following its moves one by one.
pub fn followed(plan: &Plan, values: &Values) -> Values {
    let shapes = |layout: &Layout, rank: u64| -> Vec<Vec<u64>> {
        let n_buffers = layout.n_buffers(rank).expect("a rank");
        (0..n_buffers).map(|b| layout.local_shape(rank, b).expect("a buffer")).collect()
    };
    let mut into: Values = plan
        .target()
        .ranks()
        .iter()
        .map(|rank| {
            let buffers = shapes(plan.target(), rank);
            (rank, buffers.iter().map(|s| vec![0; s.iter().product::<u64>() as usize]).collect())
        })
        .collect();
    for rank in plan.source().ranks().iter() {
        for m in plan.sends(rank) {
            let from = shapes(plan.source(), rank)[m.source_buffer].clone();
            let to = shapes(plan.target(), m.target_rank)[m.target_buffer].clone();
            let mut flat = vec![(0_u64, 0_u64)];
            for (dim, runs) in m.runs.iter().enumerate() {
                let positions: Vec<_> = runs.iter().flat_map(|run| run.pairs()).collect();
                let (n, k) = (from[dim], to[dim]);
                let next = flat
                    .iter()
                    .flat_map(|(a, b)| positions.iter().map(move |(x, y)| (a * n + x, b * k + y)));
                flat = next.collect();
            }
            let target = &mut into.get_mut(&m.target_rank).expect("a rank")[m.target_buffer];
            for (a, b) in flat {
                let value = values[&rank][m.source_buffer][a as usize];
                match plan.combine() {
                    Combine::Copy => target[b as usize] = value,
                    Combine::Sum => {
                        target[b as usize] = target[b as usize].wrapping_add(value);
                    }
                }
            }
        }
    }
    into
}

pub fn buffers(layout: &Layout, rank: u64, memory: &mut [Vec<i64>]) -> Vec<Buffer> {
    let shape = |buffer| layout.local_shape(rank, buffer).expect("a buffer");
    let dense =
        |(at, m): (usize, &mut Vec<i64>)| Buffer::dense(m.as_mut_ptr() as usize, &shape(at), 8);
    memory.iter_mut().enumerate().map(dense).collect()
}
