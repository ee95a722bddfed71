//! `partita plan`: a movement explained, as text, JSON and picture.

use std::io::Write;

use partita_layout::{Layout, Level, Run, parse_shape};
use partita_picture::plan as picture;
use partita_plan::{Dtype, Move, Plan};

use crate::args::PlanArgs;
use crate::json::Json;
use crate::{Outcome, write_file};

/// Moves printed for one rank before the rest is only counted.
const MOST_MOVES: usize = 40;

pub(crate) fn run(args: &PlanArgs, out: &mut dyn Write) -> Outcome {
    let shape = parse_shape(&args.shape)?;
    let source = Layout::parse(&shape, &args.source)?;
    let target = Layout::parse(&shape, &args.target)?;
    let plan = Plan::new(&source, &target, Dtype::parse(&args.dtype)?)?;
    if args.rank.is_none() || args.svg.is_some() {
        plan.check_countable()?;
    }
    match (args.rank, args.json) {
        (None, false) => write!(out, "{}\n{}", plan.explain(), picture::text(&plan))?,
        (None, true) => writeln!(out, "{}", totals_json(&plan))?,
        (Some(rank), false) => write_rank(&plan, rank, out)?,
        (Some(rank), true) => writeln!(out, "{}", rank_json(&plan, rank)?)?,
    }
    if let Some(path) = &args.svg {
        write_file(path, &picture::svg(&plan))?;
    }
    Ok(())
}

fn named(plan: &Plan) -> Vec<(&'static str, Json)> {
    let extents = plan.source().shape().iter().map(|extent| Json::from(*extent)).collect();
    vec![
        ("fingerprint", (&*plan.fingerprint()).into()),
        ("pattern", plan.pattern().name().into()),
        ("shape", Json::List(extents)),
        ("source", plan.source().notation().into()),
        ("target", plan.target().notation().into()),
        ("dtype", plan.dtype().name().into()),
    ]
}

fn totals_json(plan: &Plan) -> Json {
    let totals = plan.totals();
    let mut fields = named(plan);
    fields.extend([
        ("n_ranks", totals.n_ranks.into()),
        ("n_moves", totals.n_moves.into()),
        ("n_messages", totals.n_messages.into()),
        ("bytes_moved", totals.bytes_moved.into()),
        ("bytes_kept", totals.bytes_kept.into()),
        ("bytes_lower_bound", totals.bytes_lower_bound.into()),
        ("max_send_bytes", totals.max_send_bytes.into()),
        ("max_recv_bytes", totals.max_recv_bytes.into()),
        ("extra_bytes", totals.extra_bytes().into()),
    ]);
    Json::Object(fields)
}

fn rank_json(plan: &Plan, rank: u64) -> Result<Json, crate::Failure> {
    let totals = plan.rank_totals(rank)?;
    let n_bytes = plan.dtype().n_bytes();
    let moves = plan.moves(rank)?;
    let mut fields = named(plan);
    fields.extend([
        ("rank", rank.into()),
        ("n_sends", totals.n_sends.into()),
        ("n_receives", totals.n_receives.into()),
        ("send_bytes", totals.send_bytes.into()),
        ("recv_bytes", totals.recv_bytes.into()),
        ("keep_bytes", totals.keep_bytes.into()),
        ("moves", Json::List(moves.iter().map(|m| move_json(m, n_bytes)).collect())),
    ]);
    Ok(Json::Object(fields))
}

fn move_json(m: &Move, n_bytes: u64) -> Json {
    let runs = |runs: &std::sync::Arc<[Run]>| Json::List(runs.iter().map(run_json).collect());
    Json::Object(vec![
        ("source_rank", m.source_rank.into()),
        ("target_rank", m.target_rank.into()),
        ("bytes", (u128::from(m.n_elements()) * u128::from(n_bytes)).into()),
        ("runs", Json::List(m.runs.iter().map(runs).collect())),
    ])
}

fn run_json(run: &Run) -> Json {
    let level = |level: &Level| {
        Json::Object(vec![
            ("count", level.count.into()),
            ("source_step", level.source_step.into()),
            ("target_step", level.target_step.into()),
        ])
    };
    Json::Object(vec![
        ("source_start", run.source.into()),
        ("target_start", run.target.into()),
        ("levels", Json::List(run.levels.iter().filter(|l| l.count > 1).map(level).collect())),
    ])
}

fn write_rank(plan: &Plan, rank: u64, out: &mut dyn Write) -> Outcome {
    let totals = plan.rank_totals(rank)?;
    writeln!(out, "plan {}  rank {rank}", plan.fingerprint())?;
    writeln!(
        out,
        "  sends {} bytes to {} ranks, receives {} bytes from {}, keeps {} bytes",
        totals.send_bytes, totals.n_sends, totals.recv_bytes, totals.n_receives, totals.keep_bytes
    )?;
    let moves = plan.moves(rank)?;
    for m in moves.iter().take(MOST_MOVES) {
        let counts: Vec<String> =
            m.runs.iter().map(|runs| partita_layout::n_elements(runs).to_string()).collect();
        let region = if counts.is_empty() { "1".to_string() } else { counts.join("x") };
        let bytes = u128::from(m.n_elements()) * u128::from(plan.dtype().n_bytes());
        let (from, to) = (m.source_rank, m.target_rank);
        writeln!(out, "  {from:>8} -> {to:<8} {region} elements, {bytes} bytes")?;
    }
    if moves.len() > MOST_MOVES {
        writeln!(out, "  ... and {} more moves", moves.len() - MOST_MOVES)?;
    }
    Ok(())
}
