//! What ranks do, and when: exchanges go on while cores are computed, and ask nobody twice.

use partita_array::run::{Argument, Gather, Number, ResultValue};
use partita_array::timeline::{Activity, Event};
use partita_array::{run_on_threads, run_recorded_on_threads};
use partita_ir::{Module, passes};

/// So many steps of a five-point stencil on a square, after the default passes.
fn stencil(side: usize, n_ranks: u64) -> Module {
    let inside = side - 2;
    let env = "#dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>";
    let view = |name: &str, at: &str| {
        format!("%{name} = ndarray.subview %u[{at}][{inside}, {inside}][1, 1] : !all to !inside\n")
    };
    let views = [("n", "0, 1"), ("s", "2, 1"), ("w", "1, 0"), ("e", "1, 2")];
    let views: String = views.iter().map(|(name, at)| view(name, at)).collect();
    let text = format!(
        "!all = !ndarray.ndarray<{side}x{side}xf64, {env}>
!inside = !ndarray.ndarray<{inside}x{inside}xf64, {env}>
!number = !ndarray.ndarray<f64, #dist.dist_env<team = 1>>
func.func @f(%n_steps: index, %u: !all) -> !all {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 0.25 : f64
  %quarter = ndarray.create value %x : (f64) -> !number
  scf.for %i = %c0 to %n_steps step %c1 {{
{views}    %ns = ndarray.ewbin add %n, %s : (!inside, !inside) -> !inside
    %we = ndarray.ewbin add %w, %e : (!inside, !inside) -> !inside
    %all = ndarray.ewbin add %ns, %we : (!inside, !inside) -> !inside
    %mean = ndarray.ewbin mul %all, %quarter : (!inside, !number) -> !inside
    ndarray.insert_slice %mean into %u[1, 1][{inside}, {inside}][1, 1] : !inside into !all
  }}
  return %u : !all
}}"
    );
    let mut module = partita_ir::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let options = passes::Options { n_ranks: Some(n_ranks), ..passes::Options::default() };
    passes::apply_default(&mut module, &options).expect("the ranks are known");
    module
}

fn arguments(side: usize, n_steps: i64) -> [Argument; 2] {
    let values = (0..side * side).map(|at| (at % 97) as f64);
    let bytes: Vec<u8> = values.flat_map(f64::to_ne_bytes).collect();
    let dtype = partita_kernel::Dtype::Float64;
    let array = Argument::Array { shape: vec![side, side], dtype, bytes: bytes.into() };
    [Argument::Number(Number::Int(n_steps)), array]
}

fn events(side: usize, n_ranks: u64, n_steps: i64) -> Vec<Vec<Event>> {
    let module = stencil(side, n_ranks);
    let given = arguments(side, n_steps);
    let ranks = run_recorded_on_threads(&module, "f", &given, n_ranks, Gather::First);
    ranks.expect("a run").into_iter().map(|(_, events)| events).collect()
}

fn of(events: &[Event], activity: Activity) -> Vec<&Event> {
    events.iter().filter(|event| event.activity == activity).collect()
}

#[test]
fn cores_are_computed_while_halos_are_under_way() {
    // The arrival is noted by the thread that moves the data: where it lies behind the beginning
    // of a kernel, both went on at once. A rank may be fast once, not forty times.
    for (rank, events) in events(768, 2, 40).iter().enumerate() {
        let cores = of(events, Activity::Kernel);
        let cores: Vec<_> =
            cores.into_iter().filter(|event| event.about.ends_with("x766")).collect();
        let exchanges = of(events, Activity::Exchange);
        let n_overlaps =
            exchanges.iter().filter(|one| cores.iter().any(|core| core.overlaps(one))).count();
        assert!(exchanges.len() >= 40, "rank {rank} has {} exchanges", exchanges.len());
        assert!(n_overlaps > 0, "rank {rank}: no exchange of {} overlaps", exchanges.len());
    }
}

#[test]
fn ranks_ask_each_other_once_for_what_never_changes() {
    let n_asked = |n_steps: i64| {
        let events = events(64, 3, n_steps);
        let asked = |event: &&Event| event.activity == Activity::Waiting && event.about == "boxes";
        events.iter().map(|own| own.iter().filter(asked).count()).collect::<Vec<_>>()
    };
    assert_eq!(n_asked(2), n_asked(20));
    assert_eq!(n_asked(20), [1, 1, 1]);
}

#[test]
fn results_are_those_of_one_rank_however_cores_and_edges_are_computed() {
    for side in [16, 200, 384] {
        let found = |n_ranks: u64| {
            let module = stencil(side, n_ranks);
            let reports = run_on_threads(&module, "f", &arguments(side, 7), n_ranks, Gather::First);
            reports.expect("a run").remove(0).results.remove(0)
        };
        let ResultValue::Array(wanted) = found(1) else { panic!("an array") };
        for n_ranks in 2..=5 {
            let ResultValue::Array(array) = found(n_ranks) else { panic!("an array") };
            assert!(array == wanted, "{side} on {n_ranks} ranks");
        }
    }
}
