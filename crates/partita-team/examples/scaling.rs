//! What calls cost on many ranks, counted on the code that sends the messages, as a table of tabs.
//!
//! `cargo run --release -p partita-team --example scaling -- 4096`

use partita_layout::Layout;
use partita_plan::{Dtype, Plan};
use partita_team::mpi::simulation::{
    Cost, cost_of_barrier, cost_of_exchange, cost_of_near_call, cost_of_run,
};

/// A grid as square as powers of two allow.
fn grid(n_ranks: u64) -> (u64, u64) {
    let rows = 1 << (n_ranks.ilog2() / 2);
    (rows, n_ranks / rows)
}

/// The rank in the middle has neighbours on all sides.
fn halo(n_ranks: u64) -> Cost {
    let (rows, columns) = grid(n_ranks);
    let text = format!("block+halo(1,1), block+halo(1,1) @ {rows}x{columns}");
    let layout = Layout::parse(&[16 * rows, 16 * columns], &text).expect("a layout");
    let plan = Plan::new(&layout, &layout, Dtype::F64).expect("a plan");
    cost_of_near_call(&plan, (rows / 2) * columns + columns / 2)
}

/// Ranks that one gives to when rows become columns.
fn n_partners(n_ranks: u64) -> u64 {
    let parse = |text: String| Layout::parse(&[n_ranks, n_ranks], &text).expect("a layout");
    let (rows, columns) =
        (parse(format!("block, * @ {n_ranks}")), parse(format!("*, block @ {n_ranks}")));
    let plan = Plan::new(&rows, &columns, Dtype::F64).expect("a plan");
    plan.sends(0).iter().filter(|one| one.target_rank != 0).count() as u64
}

fn main() {
    let most =
        std::env::args().nth(1).map_or(4096, |text| text.parse().expect("a number of ranks"));
    println!("call\tranks\tsent\treceived\tbytes\thops");
    let row = |call: &str, n_ranks: u64, cost: Cost| {
        let Cost { n_sent, n_received, n_bytes, n_hops } = cost;
        println!("{call}\t{n_ranks}\t{n_sent}\t{n_received}\t{n_bytes}\t{n_hops}");
    };
    for n_ranks in (1..).map(|power| 1_u64 << power).take_while(|n_ranks| *n_ranks <= most) {
        row("barrier", n_ranks, cost_of_barrier(n_ranks));
        row("allgather_data of 8 bytes", n_ranks, cost_of_exchange(n_ranks, 8));
        let (first, again) = cost_of_run(n_ranks, &[n_ranks, 1]);
        row("redistribution, first", n_ranks, first);
        row("redistribution, again", n_ranks, again);
        row("halo exchange", n_ranks, halo(n_ranks));
        println!("partners of a redistribution\t{n_ranks}\t{}\t\t\t", n_partners(n_ranks));
    }
}
