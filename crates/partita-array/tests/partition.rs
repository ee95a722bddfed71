//! Programs of the dialect `partition`: slices of sparse tensors on 1 to 5 ranks, beside a dense
//! model.

use partita_array::run::{Argument, Gather, Report, ResultValue, RunError};
use partita_array::run_on_threads;
use partita_array::sparse::{Format, SparseTensor};
use partita_kernel::Dtype;

const ROWS: u64 = 7;
const COLUMNS: u64 = 5;

fn encoding(format: Format) -> &'static str {
    match format {
        Format::Csr => "(d0, d1) -> (d0 : dense, d1 : compressed)",
        Format::Csc => "(d0, d1) -> (d1 : dense, d0 : compressed)",
        Format::Coo => "(d0, d1) -> (d0 : compressed(nonunique), d1 : singleton)",
    }
}

/// `#S` is the sparsity, `#P` the partitioned tensor's encoding, `!t` its type, `!s` a slice's.
fn header(format: Format, placements: [&str; 2], slice: &str) -> String {
    let [rows, columns] = placements;
    format!(
        "#S = #sparse_tensor.encoding<{{ map = {} }}>
         #P = #partition.encoding<#S, [\"{rows}\", \"{columns}\"]>
         !t = tensor<{ROWS}x{COLUMNS}xf64, #P>
         !s = tensor<{slice}xf64, #S>\n",
        encoding(format)
    )
}

/// Every rank takes the slice of the rank `%shift` behind it, along the axis that is distributed.
fn shifted(axis: usize) -> String {
    let (me, slice) = match axis {
        0 => ("%me, %c0", "%to, %c0"),
        _ => ("%c0, %me", "%c0, %to"),
    };
    let places = "%c0 = arith.constant 0 : index
           %me = \"distruntime.team_member\"() {team = 1 : i64} : () -> index
           %n = \"distruntime.team_size\"() {team = 1 : i64} : () -> index
           %at = arith.addi %me, %shift : index
           %to = arith.remsi %at, %n : index
           %g:2 = \"partition.get_grid_size\"() : () -> (index, index)";
    format!(
        "func.func @take(%a: !t, %shift: index) -> !s {{
           {places}
           %s = \"partition.get_slice\"(%a, {me}, %g#0, %g#1, {slice}) {{operandSegmentSizes = array<i32: 1, 2, 2, 2>}} : (!t, index, index, index, index, index, index) -> !s
           return %s : !s
         }}
         func.func @move(%a: !t, %shift: index) -> !t {{
           {places}
           %s = \"partition.get_slice\"(%a, {me}, %g#0, %g#1, {me}) {{operandSegmentSizes = array<i32: 1, 2, 2, 2>}} : (!t, index, index, index, index, index, index) -> !s
           %b = \"partition.set_slice\"(%a, %s, {me}, %g#0, %g#1, {slice}) {{operandSegmentSizes = array<i32: 1, 1, 2, 2, 2>}} : (!t, !s, index, index, index, index, index, index) -> !t
           return %b : !t
         }}"
    )
}

/// Some elements of a matrix, the others zero.
fn dense() -> Vec<f64> {
    (0..ROWS * COLUMNS).map(|at| if at % 3 == 0 { at as f64 + 0.5 } else { 0.0 }).collect()
}

fn bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn tensor(format: Format) -> SparseTensor {
    SparseTensor::from_dense(&[ROWS, COLUMNS], Dtype::Float64, format, &bytes(&dense()))
        .expect("a tensor")
}

fn run(
    text: &str,
    function: &str,
    arguments: &[Argument],
    n: u64,
    gather: Gather,
) -> Result<Vec<Report>, RunError> {
    let mut module = partita_ir::parse(text).unwrap_or_else(|found| panic!("{found}"));
    partita_ir::verify(&module).unwrap_or_else(|found| panic!("{}", found.with_source(text)));
    let options = partita_ir::passes::Options { n_ranks: Some(n), rank: None };
    let plain = run_on_threads(&module, function, arguments, n, gather);
    partita_ir::passes::apply_default(&mut module, &options).expect("the passes");
    let after = run_on_threads(&module, function, arguments, n, gather);
    let results = |one: &Result<Vec<Report>, RunError>| {
        one.as_ref().ok().map(|all| all.iter().map(|one| one.results.clone()).collect::<Vec<_>>())
    };
    assert_eq!(results(&plain), results(&after));
    plain
}

fn arguments(format: Format, shift: i64) -> Vec<Argument> {
    let shift = Argument::Number(partita_array::run::Number::Int(shift));
    vec![Argument::Sparse(tensor(format).into()), shift]
}

/// First and behind the last index of a rank's block.
fn part(n_ranks: u64, rank: u64, extent: u64) -> (u64, u64) {
    let part =
        partita_layout::dist::default_partition(n_ranks, rank, &[extent]).expect("a part")[0];
    (part.offset, part.offset + part.size)
}

fn block(format: Format, axis: usize, n_ranks: u64, rank: u64) -> SparseTensor {
    let (start, stop) = part(n_ranks, rank, [ROWS, COLUMNS][axis]);
    let inside = |at: u64| (start..stop).contains(&[at / COLUMNS, at % COLUMNS][axis]);
    let kept = dense().into_iter().enumerate().filter(|(at, _)| inside(*at as u64));
    let kept: Vec<f64> = kept.map(|(_, number)| number).collect();
    let mut shape = [ROWS, COLUMNS];
    shape[axis] = stop - start;
    SparseTensor::from_dense(&shape, Dtype::Float64, format, &bytes(&kept)).expect("a block")
}

#[test]
fn every_rank_gets_the_slice_it_asks_for() {
    for format in Format::ALL {
        for (axis, placements, slice) in
            [(0, ["distributed", "replicated"], "?x5"), (1, ["replicated", "distributed"], "7x?")]
        {
            let text = header(format, placements, slice) + &shifted(axis);
            for n_ranks in 1..=5 {
                for shift in 0..n_ranks {
                    let given = arguments(format, shift as i64);
                    let reports =
                        run(&text, "take", &given, n_ranks, Gather::Nobody).expect("a run");
                    for (rank, report) in reports.iter().enumerate() {
                        let from = (rank as u64 + shift) % n_ranks;
                        let wanted = block(format, axis, n_ranks, from);
                        assert_eq!(
                            report.results,
                            [ResultValue::Sparse(wanted)],
                            "{format} {axis} {n_ranks} {shift}"
                        );
                        let moves = shift != 0;
                        assert_eq!(
                            (report.n_exchanges, report.n_bytes > 0),
                            (u64::from(moves), moves)
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn slices_are_replaced_at_their_owners() {
    for format in Format::ALL {
        let text = header(format, ["distributed", "replicated"], "?x5") + &shifted(0);
        // Blocks of equal size, so that each fits where another was.
        for n_ranks in [1, 7] {
            let given = arguments(format, 1);
            let reports = run(&text, "move", &given, n_ranks, Gather::All).expect("a run");
            let mut rows: Vec<Vec<f64>> = dense().chunks(5).map(<[f64]>::to_vec).collect();
            rows.rotate_right(if n_ranks == 1 { 0 } else { 1 });
            let wanted = SparseTensor::from_dense(
                &[ROWS, COLUMNS],
                Dtype::Float64,
                format,
                &bytes(&rows.concat()),
            );
            for report in &reports {
                assert_eq!(
                    report.results,
                    [ResultValue::Sparse(wanted.clone().expect("a tensor"))]
                );
            }
        }
    }
}

#[test]
fn a_slice_comes_in_the_format_of_its_type() {
    let text = header(Format::Csr, ["distributed", "replicated"], "?x5")
        .replace("!s = tensor<?x5xf64, #S>", "#C = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>\n!s = tensor<?x5xf64, #C>")
        + &shifted(0);
    let reports = run(&text, "take", &arguments(Format::Coo, 1), 3, Gather::Nobody).expect("a run");
    assert_eq!(reports[0].results, [ResultValue::Sparse(block(Format::Csc, 0, 3, 1))]);
}

#[test]
fn dense_arrays_are_taken_apart() {
    let text = header(Format::Csr, ["distributed", "distributed"], "?x?")
        + "func.func @same(%a: !t) -> !t { return %a : !t }";
    let whole =
        Argument::Array { shape: vec![7, 5], dtype: Dtype::Float64, bytes: bytes(&dense()).into() };
    for n_ranks in 1..=6 {
        let reports = run(&text, "same", std::slice::from_ref(&whole), n_ranks, Gather::First);
        assert_eq!(reports.expect("a run")[0].results, [ResultValue::Sparse(tensor(Format::Csr))]);
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let text = header(Format::Csr, ["distributed", "replicated"], "?x5") + &shifted(0);
    let problem = |text: &str, function: &str, given: &[Argument], n: u64, gather: Gather| {
        run(text, function, given, n, gather).expect_err("a refusal").to_string()
    };
    let uneven = problem(&text, "move", &arguments(Format::Csr, 1), 2, Gather::All);
    assert!(
        uneven.contains("a slice of [3, 5] for slice [1, 0], which has [4, 5]")
            || uneven.contains("a slice of [4, 5] for slice [0, 0], which has [3, 5]"),
        "{uneven}"
    );
    let differing = problem(&text, "take", &arguments(Format::Csr, 0), 2, Gather::First);
    assert!(differing.contains("--local"), "{differing}");
    let wrong_grid = text.replace("%g#0, %g#1", "%g#1, %g#0");
    let grid = problem(&wrong_grid, "take", &arguments(Format::Csr, 0), 2, Gather::Nobody);
    assert!(grid.contains("a grid of [1, 2] for a tensor on a grid of [2, 1]"), "{grid}");
    let wrong_place = text.replace("(%a, %me, %c0", "(%a, %c0, %c0");
    let place = problem(&wrong_place, "take", &arguments(Format::Csr, 0), 2, Gather::Nobody);
    assert!(place.contains("rank 1 says that it is at [0, 0]"), "{place}");
    let three = text
        .replace("%g:2 = ", "%g:3 = ")
        .replace("() : () -> (index, index)", "() : () -> (index, index, index)");
    let axes = problem(&three, "take", &arguments(Format::Csr, 0), 2, Gather::Nobody);
    assert!(axes.contains("3 results where tensors have 2 dimensions"), "{axes}");
    let outside = text.replace("%to = arith.remsi %at, %n", "%to = arith.addi %at, %n");
    let slice = problem(&outside, "take", &arguments(Format::Csr, 0), 1, Gather::Nobody);
    assert!(slice.contains("there is no slice [1, 0]"), "{slice}");
    let small = SparseTensor { shape: vec![6, 5], ..tensor(Format::Coo) };
    let small = SparseTensor { coordinates: vec![vec![]; 2], values: vec![], ..small };
    let mut given = arguments(Format::Csr, 0);
    given[0] = Argument::Sparse(small.into());
    assert!(problem(&text, "take", &given, 2, Gather::All).contains("has the shape [6, 5]"));
    let dcsr = text.replace("d0 : dense", "d0 : compressed");
    assert!(problem(&dcsr, "take", &arguments(Format::Csr, 0), 1, Gather::All).contains("CSR"));
}

#[test]
fn ranks_that_bring_one_slice_bring_the_same() {
    let text = header(Format::Csr, ["distributed", "replicated"], "?x5")
        + &shifted(0).replace("%to = arith.remsi %at, %n", "%to = arith.subi %shift, %c0");
    let given = arguments(Format::Csr, 2);
    // All bring their own as slice 2, its owner too.
    let error = run(&text, "move", &given, 7, Gather::All).expect_err("different content");
    assert!(error.to_string().contains("ranks 0 and 1 bring different content"), "{error}");
    let same = text.replace("%g#0, %g#1, %me, %c0)", "%g#0, %g#1, %to, %c0)");
    let reports = run(&same, "move", &given, 7, Gather::All).expect("a run");
    assert_eq!(reports[0].results, [ResultValue::Sparse(tensor(Format::Csr))]);
    let others = text.replace("%to = arith.subi %shift, %c0 : index", "%two = arith.addi %c0, %shift : index\n%big = arith.cmpi sge, %me, %two : index\n%to = arith.select %big, %c0, %two : index");
    let error = run(&others, "move", &given, 7, Gather::All).expect_err("two bring slice 2");
    assert!(error.to_string().contains("different content for slice [2, 0]"), "{error}");
}
