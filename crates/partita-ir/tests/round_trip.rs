//! What is written is read again as the same program, in every form.

use std::path::{Path, PathBuf};

use partita_ir::passes::{DEFAULT_PIPELINE, Options, apply_with};
use partita_ir::{
    Attr, Block, Builder, DistEnv, EwBin, EwUny, Float, Form, Module, Reduce, Scalar, Size, Slices,
    Type, Value, parse, print, verify,
};
use partita_oracle::Rng;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/text")
}

fn texts() -> Vec<(String, String)> {
    texts_in(&folder())
}

fn texts_in(folder: &Path) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the folder of texts")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "mlir"))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a text"))
        })
        .collect();
    found.sort();
    found
}

fn read(name: &str, text: &str) -> Module {
    parse(text).unwrap_or_else(|found| panic!("{name}:\n{found}"))
}

#[test]
fn every_form_of_every_text_is_read_as_it_was() {
    for (name, text) in texts() {
        let module = read(&name, &text);
        for form in Form::ALL {
            let printed = print(&module, form);
            let again = read(&format!("{name} as {}:\n{printed}", form.name()), &printed);
            assert!(again == module, "{name} as {} changes:\n{printed}", form.name());
            assert_eq!(print(&again, form), printed, "{name} as {} is not settled", form.name());
        }
    }
}

/// Programs at every level, from before the first pass to local loops.
#[test]
fn every_form_of_every_level_is_read_as_it_was() {
    for (name, text) in texts_in(&folder().join("passes")) {
        let mut module = read(&name, &text);
        for pass in std::iter::once(&"").chain(DEFAULT_PIPELINE) {
            if !pass.is_empty() {
                apply_with(&mut module, pass, &Options { n_ranks: Some(3), rank: None })
                    .expect(pass);
            }
            for form in Form::ALL {
                let printed = print(&module, form);
                let again = read(&format!("{name} after {pass}:\n{printed}"), &printed);
                assert!(again == module, "{name} after {pass} as {}:\n{printed}", form.name());
            }
        }
    }
}

/// What each text looks like in each form lies beside it. What does not is written anew, and the
/// test fails once.
#[test]
fn texts_are_written_as_wanted() {
    let mut changed = Vec::new();
    for (name, text) in texts() {
        let module = read(&name, &text);
        for form in Form::ALL {
            let stem = name.trim_end_matches(".mlir");
            let path = folder().join("wanted").join(format!("{stem}.{}", form.name()));
            let printed = print(&module, form);
            if std::fs::read_to_string(&path).is_ok_and(|old| old == printed) {
                continue;
            }
            std::fs::write(&path, printed).expect("a text");
            changed.push(path);
        }
    }
    assert!(changed.is_empty(), "written anew, look at them and commit them: {changed:?}");
}

#[test]
fn every_text_makes_sense() {
    for (name, text) in texts() {
        let verdict = verify(&read(&name, &text));
        assert!(verdict.is_ok(), "{name}:\n{}", verdict.expect_err("problems").with_source(&text));
    }
}

fn sizes(numbers: &[u64]) -> Vec<Size> {
    numbers.iter().map(|n| if *n == 9 { Size::Dynamic } else { Size::Known(*n) }).collect()
}

fn array_type(rng: &mut Rng, shape: &[u64], element: Scalar) -> Type {
    let shape = sizes(shape);
    match rng.between(0, 2) {
        0 => Type::array(&shape, element),
        kind => {
            let team = if kind == 1 { Attr::i64(7) } else { Attr::text("all \"ranks\"") };
            Type::dist_array(&shape, element, DistEnv::unknown(team, shape.len()))
        }
    }
}

/// Random operations on two arrays, numbers and loops.
fn grow(b: &mut Builder<'_>, rng: &mut Rng, arrays: &mut Vec<Value>, depth: u64, block: Block) {
    for _ in 0..rng.between(1, 6) {
        let array = arrays[rng.between(0, arrays.len() as u64 - 1) as usize];
        let ty = b.ty(array);
        match rng.between(0, 6) {
            0 => arrays.push(b.ewbin(EwBin::ALL[rng.between(0, 1) as usize], array, array, ty)),
            1 => arrays.push(b.ewuny(EwUny::Sqrt, array, ty)),
            2 => {
                let ndim = ty.shape().map_or(0, <[_]>::len);
                let slices = Slices::known(&vec![0; ndim], &vec![1; ndim], &vec![1; ndim]);
                let view = ty.as_array().expect("an array").with_shape(&sizes(&vec![1; ndim]));
                b.subview(array, &slices, view.into());
            }
            3 => {
                let result = ty.as_array().expect("an array").with_shape(&[]);
                b.reduce(Reduce::Sum, array, result.into());
            }
            4 => {
                let number = f64::from_bits(rng.next());
                b.constant(Attr::Float(Float(number), Scalar::F64));
            }
            5 => drop(b.int(rng.next() as i64, Scalar::I64)),
            _ if depth > 0 => {
                let bound = b.index(rng.between(0, 5) as i64);
                let (_, body) = b.for_loop(bound, bound, bound, &[array]);
                let carried = b.module().arguments(body)[1];
                let mut inner = arrays.clone();
                inner.push(carried);
                b.move_to_end(body);
                grow(b, rng, &mut inner, depth - 1, body);
                b.yield_(&[carried]);
                b.move_to_end(block);
            }
            _ => {}
        }
    }
}

#[test]
fn random_programs_are_read_as_they_were() {
    let mut rng = Rng::new(13);
    for case in 0..2000 {
        let mut module = Module::new();
        let shape: Vec<u64> = (0..rng.between(0, 3)).map(|_| rng.between(1, 9)).collect();
        let ty = array_type(&mut rng, &shape, Scalar::F64);
        let f = module.add_function("f", &[ty.clone(), ty], &[]);
        let body = module.body(f).expect("a body");
        let mut arrays = module.arguments(body).to_vec();
        let mut b = Builder::at_end(&mut module, body);
        grow(&mut b, &mut rng, &mut arrays, 3, body);
        b.ret(&[]);
        let verdict = verify(&module);
        assert!(verdict.is_ok(), "case {case}: {}", verdict.expect_err("problems"));
        for form in Form::ALL {
            let printed = print(&module, form);
            let again = read(&format!("case {case}:\n{printed}"), &printed);
            assert!(again == module, "case {case} as {}:\n{printed}", form.name());
        }
    }
}

/// Stock tools refuse a cast without results.
#[test]
fn a_region_whose_body_has_no_arguments_is_written_for_stock_tools() {
    let text = "func.func @r(%a: !ndarray.ndarray<4xf64>) -> !ndarray.ndarray<4xf64> {
  %r = \"region.env_region\"(%a) ({
    %s = ndarray.ewbin add %a, %a : (!ndarray.ndarray<4xf64>, !ndarray.ndarray<4xf64>) -> !ndarray.ndarray<4xf64>
    \"region.env_region_yield\"(%s) : (!ndarray.ndarray<4xf64>) -> ()
  }) {environment = #region.gpu_env<device = \"gpu:0\">} : (!ndarray.ndarray<4xf64>) -> !ndarray.ndarray<4xf64>
  return %r : !ndarray.ndarray<4xf64>
}";
    let module = read("region", text);
    let builtin = print(&module, Form::Builtin);
    let mut casts = builtin.lines().filter(|line| line.contains("unrealized_conversion_cast"));
    assert!(casts.all(|line| !line.ends_with("-> ()")), "{builtin}");
    let again = print(&read("builtin", &builtin), Form::Generic);
    assert_eq!(again, print(&module, Form::Generic));
}
