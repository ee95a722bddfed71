//! Arrays that lie in different ways: on grids with two cuts, in rows, without dimensions.

use partita_array::run::{Argument, Gather, LocalPart, ResultValue};
use partita_array::run_on_threads;
use partita_ir::{Attr, DistEnv, Form, Grid, Module, Scalar, Size, Type, passes, type_text};
use partita_kernel::Dtype;

fn array(shape: &[usize]) -> Argument {
    let bytes: Vec<u8> = values(shape).iter().flat_map(|v| v.to_ne_bytes()).collect();
    Argument::Array { shape: shape.to_vec(), dtype: Dtype::Float64, bytes: bytes.into() }
}

fn values(shape: &[usize]) -> Vec<f64> {
    (0..shape.iter().product()).map(|i: usize| (i * i % 17) as f64).collect()
}

/// The type of an array on a grid; `columns` ranks along the second dimension, or rows alone.
fn ty(shape: &[usize], columns: Option<u64>) -> String {
    let sizes: Vec<Size> = shape.iter().map(|n| Size::Known(*n as u64)).collect();
    let team = Attr::i64(1);
    let env = match columns {
        Some(columns) => {
            let grid = Grid { shape: vec![Size::Dynamic, Size::Known(columns)], cut: vec![0, 1] };
            DistEnv::unknown_on(team, shape.len(), grid)
        }
        None => DistEnv::unknown(team, shape.len()),
    };
    type_text(&Type::dist_array(&sizes, Scalar::F64, env), Form::Generic)
}

/// Grids of so many ranks: rows alone, and all with two cuts.
fn grids(n_ranks: u64) -> Vec<Option<u64>> {
    let fitting = (1..=n_ranks).filter(|columns| n_ranks.is_multiple_of(*columns)).map(Some);
    std::iter::once(None).chain(fitting).collect()
}

fn floats(dense: &partita_array::run::Dense) -> Vec<f64> {
    let words = dense.bytes.chunks_exact(8);
    words.map(|w| f64::from_ne_bytes(w.try_into().expect("8 bytes"))).collect()
}

/// The whole array that the parts of all ranks make, each element once.
fn joined(ranks: &[ResultValue], n: usize) -> Vec<f64> {
    let mut whole = vec![None; n];
    for one in ranks {
        let ResultValue::Parts { shape, parts } = one else { panic!("{one:?}") };
        for LocalPart { offsets, elements } in parts {
            for (at, value) in floats(elements).into_iter().enumerate() {
                let mut rest = at;
                let (mut place, mut step) = (0, 1);
                for dim in (0..shape.len()).rev() {
                    let index = offsets[dim] as usize + rest % elements.shape[dim];
                    rest /= elements.shape[dim];
                    place += index * step;
                    step *= shape[dim] as usize;
                }
                assert!(whole[place].replace(value).is_none(), "element {place} twice");
            }
        }
    }
    whole.into_iter().map(|one| one.expect("every element")).collect()
}

/// A program means the same after every pass, whole and in the parts of each rank.
fn check(text: &str, arguments: &[Argument], n_ranks: u64, wanted: &[f64]) {
    let parsed = partita_ir::parse(text);
    let mut module: Module = parsed.unwrap_or_else(|found| panic!("{found}\n{text}"));
    let mut names = vec!["no pass"];
    names.extend(passes::DEFAULT_PIPELINE);
    for name in names {
        if name != "no pass" {
            passes::apply(&mut module, name).expect("a pass");
        }
        let shown =
            || format!("{n_ranks} ranks, {name}\n{}", partita_ir::print(&module, Form::Rfc));
        let run = |gather| {
            let reports = run_on_threads(&module, "f", arguments, n_ranks, gather);
            reports.unwrap_or_else(|error| panic!("{error}: {}", shown()))
        };
        let whole = run(Gather::First);
        let ResultValue::Array(dense) = &whole[0].results[0] else { panic!("no array") };
        assert_eq!(floats(dense), wanted, "{}", shown());
        if name != "no pass" && Some(&name) != passes::DEFAULT_PIPELINE.last() {
            continue;
        }
        let parts: Vec<ResultValue> =
            run(Gather::Nobody).into_iter().map(|report| report.results[0].clone()).collect();
        assert_eq!(joined(&parts, wanted.len()), wanted, "{}", shown());
    }
}

fn slice(offsets: [i64; 2], sizes: [i64; 2]) -> String {
    format!(
        "{{static_offsets = array<i64: {}, {}>, static_sizes = array<i64: {}, {}>, static_strides = array<i64: 1, 1>}}",
        offsets[0], offsets[1], sizes[0], sizes[1]
    )
}

#[test]
fn a_stencil_looks_around_in_both_dimensions() {
    let (shape, inner) = ([7, 6], [5, 4]);
    let at = |i: usize, j: usize| values(&shape)[i * 6 + j];
    let mut wanted = values(&shape);
    for (i, j) in (1..6).flat_map(|i| (1..5).map(move |j| (i, j))) {
        wanted[i * 6 + j] =
            at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) + at(i - 1, j - 1);
    }
    let places = [[0, 1], [2, 1], [1, 0], [1, 2], [0, 0]];
    for n_ranks in 1..=5 {
        for columns in grids(n_ranks) {
            let (t, v) = (ty(&shape, columns), ty(&inner, columns));
            let views: String = (0..5)
                .map(|n| {
                    let slice = slice(places[n], [5, 4]);
                    format!("%v{n} = \"ndarray.subview\"(%a) {slice} : ({t}) -> {v}\n")
                })
                .collect();
            let sums: String = (1..5)
                .map(|n| {
                    let before = if n == 1 { "v0".to_string() } else { format!("s{}", n - 1) };
                    format!("%s{n} = \"ndarray.ewbin\"(%{before}, %v{n}) {{op = 0 : i32}} : ({v}, {v}) -> {v}\n")
                })
                .collect();
            let into = slice([1, 1], [5, 4]);
            let text = format!(
                "func.func @f(%a: {t}) -> {t} {{\n{views}{sums}\"ndarray.insert_slice\"(%a, %s4) {into} : ({t}, {v}) -> ()\nreturn %a : {t}\n}}"
            );
            check(&text, &[array(&shape)], n_ranks, &wanted);
        }
    }
}

/// The sum of two arrays of other shapes and grids than the result.
fn check_sum(shapes: [&[usize]; 2], result: &[usize], wanted: &[f64]) {
    for n_ranks in 1..=5 {
        for columns in grids(n_ranks) {
            let cut = |shape: &[usize]| if shape.len() == 2 { columns } else { None };
            let (a, b) = (ty(shapes[0], cut(shapes[0])), ty(shapes[1], cut(shapes[1])));
            for cut in [cut(result), None] {
                let r = ty(result, cut);
                let text = format!(
                    "func.func @f(%a: {a}, %b: {b}) -> {r} {{\n%c = \"ndarray.ewbin\"(%a, %b) {{op = 0 : i32}} : ({a}, {b}) -> {r}\nreturn %c : {r}\n}}"
                );
                check(&text, &[array(shapes[0]), array(shapes[1])], n_ranks, wanted);
            }
        }
    }
}

#[test]
fn arrays_repeat_in_both_ways() {
    let (a, b) = (values(&[3, 1]), values(&[1, 4]));
    let wanted: Vec<f64> = a.iter().flat_map(|x| b.iter().map(move |y| x + y)).collect();
    check_sum([&[3, 1], &[1, 4]], &[3, 4], &wanted);
}

#[test]
fn a_row_goes_with_a_matrix() {
    let (a, b) = (values(&[5, 4]), values(&[4]));
    let wanted: Vec<f64> = a.iter().enumerate().map(|(at, x)| x + b[at % 4]).collect();
    check_sum([&[5, 4], &[4]], &[5, 4], &wanted);
}

#[test]
fn one_number_goes_with_nothing() {
    check_sum([&[0, 4], &[1, 1]], &[0, 4], &[]);
}

#[test]
fn arrays_on_different_grids_meet() {
    let wanted: Vec<f64> = values(&[5, 6]).iter().map(|x| x + x).collect();
    for n_ranks in 1..=5 {
        for (one, other) in
            grids(n_ranks).into_iter().flat_map(|a| grids(n_ranks).into_iter().map(move |b| (a, b)))
        {
            let (a, b) = (ty(&[5, 6], one), ty(&[5, 6], other));
            let text = format!(
                "func.func @f(%a: {a}, %b: {b}) -> {a} {{\n%c = \"ndarray.ewbin\"(%a, %b) {{op = 0 : i32}} : ({a}, {b}) -> {a}\nreturn %c : {a}\n}}"
            );
            check(&text, &[array(&[5, 6]), array(&[5, 6])], n_ranks, &wanted);
        }
    }
}
