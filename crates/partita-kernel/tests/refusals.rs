//! Hostile programs are refused by name.

use partita_kernel::{
    Action, Builder, Dtype, Instruction, Op, Output, Program, Reduction, Scalar, Value,
};

fn instruction(op: Op, dtype: Dtype, operands: [u16; 3]) -> Instruction {
    Instruction { op, dtype, operands: operands.map(Value) }
}

fn reason(program: &Program) -> &'static str {
    let error = program.verify().expect_err("the program must be refused");
    assert!(!error.to_string().is_empty());
    error.reason()
}

/// `x + x` of float64, which each case spoils in one way.
fn sound() -> Program {
    let mut b = Builder::new(1);
    let x = b.input(Dtype::Float64);
    let y = b.add(x, x);
    b.store(y);
    b.finish()
}

fn spoilt(spoil: impl FnOnce(&mut Program)) -> &'static str {
    let mut program = sound();
    assert!(program.verify().is_ok());
    spoil(&mut program);
    reason(&program)
}

#[test]
fn cycles_and_unknown_values() {
    let add = |a, b| instruction(Op::Add, Dtype::Float64, [a, b, 0]);
    assert_eq!(spoilt(|p| p.instructions[1] = add(1, 0)), "operand-not-before");
    assert_eq!(spoilt(|p| p.instructions[1] = add(0, 9)), "operand-not-before");
    assert_eq!(spoilt(|p| p.instructions[0] = add(0, 0)), "operand-not-before");
    assert_eq!(spoilt(|p| p.outputs[0].value = Value(2)), "output-unknown");
    assert_eq!(spoilt(|p| p.inputs.clear()), "source-unknown");
    let index = instruction(Op::Index, Dtype::Int64, [1, 0, 0]);
    assert_eq!(spoilt(|p| p.instructions.push(index)), "source-unknown");
}

#[test]
fn wrong_types() {
    let cases = [
        (instruction(Op::BitAnd, Dtype::Float64, [0, 0, 0]), "operand-type"),
        (instruction(Op::Where, Dtype::Float64, [0, 0, 0]), "operand-type"),
        (instruction(Op::Less, Dtype::Float64, [0, 0, 0]), "result-type"),
        (instruction(Op::Add, Dtype::Float32, [0, 0, 0]), "result-type"),
        (instruction(Op::Input, Dtype::Float32, [0, 0, 0]), "result-type"),
    ];
    for (given, wanted) in cases {
        assert_eq!(spoilt(|p| p.instructions.push(given)), wanted, "{given:?}");
    }
    let mixed = spoilt(|p| {
        p.constants.push(Scalar::from(1_i32));
        p.instructions.push(instruction(Op::Constant, Dtype::Int32, [0, 0, 0]));
        p.instructions.push(instruction(Op::Add, Dtype::Float64, [0, 2, 0]));
    });
    assert_eq!(mixed, "operands-differ");
}

#[test]
fn wrong_outputs() {
    assert_eq!(spoilt(|p| p.outputs.clear()), "no-output");
    let action = |action| move |p: &mut Program| p.outputs[0].action = action;
    assert_eq!(spoilt(action(Action::Reduce(Reduction::Any))), "reduction-type");
    assert_eq!(spoilt(action(Action::Reduce(Reduction::Variance))), "correction-unknown");
    let both = spoilt(|p| {
        let value = Value(1);
        p.outputs.push(Output { value, action: Action::RunningSum, correction: Value(0) });
        let action = Action::Reduce(Reduction::Sum);
        p.outputs.push(Output { value, action, correction: Value(0) });
    });
    assert_eq!(both, "reduces-and-scans");
    let truth = spoilt(|p| {
        p.instructions.push(instruction(Op::Less, Dtype::Bool, [0, 0, 0]));
        p.outputs[0] = Output { value: Value(2), action: Action::RunningSum, correction: Value(0) };
    });
    assert_eq!(truth, "scan-type");
}

#[test]
fn wrong_axes_and_counts() {
    assert_eq!(spoilt(|p| p.reduced_axes = 2), "axis-unknown");
    let along = spoilt(|p| {
        p.outputs[0].action = Action::RunningSum;
        p.scan_axis = 1;
    });
    assert_eq!(along, "axis-unknown");
    assert_eq!(spoilt(|p| p.ndim = 17), "too-many");
    assert_eq!(spoilt(|p| p.inputs = vec![Dtype::Float64; 65]), "too-many");
    assert_eq!(spoilt(|p| p.instructions = vec![p.instructions[0]; 5000]), "too-many");
}

/// What a builder is asked for, and what becomes of it; nothing wraps around and nothing panics.
fn asked(ndim: usize, ask: impl FnOnce(&mut Builder, Value)) -> &'static str {
    let mut b = Builder::new(ndim);
    let x = b.input(Dtype::Float64);
    b.store(x);
    ask(&mut b, x);
    let program = b.finish();
    program.verify().map_or_else(|error| error.reason(), |()| "verified")
}

#[test]
fn numbers_beyond_those_of_a_program() {
    assert_eq!(asked(1, |_, _| {}), "verified");
    assert_eq!(asked(17, |_, _| {}), "too-many");
    assert_eq!(asked(65537, |_, _| {}), "too-many");
    for axis in [1, 15, 16, 17, 65535, 65536, 65537, usize::MAX] {
        let over = asked(1, |b, x| {
            b.over(&[0, axis]).reduce(x, Reduction::Sum);
        });
        assert_eq!(over, "axis-unknown", "over {axis}");
        let along = asked(1, |b, x| {
            b.along(axis).running_sum(x);
        });
        assert_eq!(along, "axis-unknown", "along {axis}");
        let index = asked(1, |b, _| {
            b.index(axis);
        });
        assert_eq!(index, "source-unknown", "index {axis}");
    }
}

#[test]
fn too_few_and_too_many_operands() {
    for op in Op::ALL.iter().copied().filter(|op| !op.is_source()) {
        for n in (0..6).filter(|&n| n != op.n_operands()) {
            let reason = asked(1, |b, x| {
                b.apply(op, &vec![x; n]);
            });
            assert_eq!(reason, "operand-count", "{op:?} of {n}");
        }
    }
    let unknown = asked(1, |b, x| {
        b.add(x, Value(77));
    });
    assert_eq!(unknown, "operand-not-before");
}

#[test]
fn corrections_are_scalars_or_constants() {
    let variance = |correction: fn(&mut Builder, Value) -> Value| {
        asked(1, |b, x| {
            let correction = correction(b, x);
            b.over(&[0]).variance(x, correction);
        })
    };
    assert_eq!(variance(|b, _| b.scalar(Dtype::Float64)), "verified");
    assert_eq!(variance(|b, _| b.constant(1.0)), "verified");
    assert_eq!(variance(|_, x| x), "correction-unknown");
    assert_eq!(variance(|b, x| b.add(x, x)), "correction-unknown");
    assert_eq!(variance(|b, _| b.scalar(Dtype::Float32)), "correction-unknown");
    assert_eq!(variance(|b, _| b.constant(1_i64)), "correction-unknown");
    assert_eq!(variance(|_, _| Value(77)), "correction-unknown");
}

#[test]
#[should_panic(expected = "4 bytes are no float64; give 8")]
fn numbers_of_too_few_bytes() {
    let _ = Scalar::from_bytes(Dtype::Float64, &1.0_f32.to_ne_bytes());
}

/// A call of every method that is one operation, so that none is missing.
#[test]
fn builders_have_a_method_for_every_operation() {
    macro_rules! methods {
        ($b:ident $dtype:ident: $($unary:ident)*; $($binary:ident)*) => {{
            let x = $b.input(Dtype::$dtype);
            $($b.$unary(x);)*
            $($b.$binary(x, x);)*
        }};
    }
    let mut b = Builder::new(1);
    methods!(b Float64: negative absolute sign square reciprocal square_root floor ceil trunc round
        is_nan is_inf is_finite sign_bit exp expm1 exp2 log log1p log2 log10 sin cos tan asin acos
        atan sinh cosh tanh asinh acosh atanh erf erfc cbrt; add subtract multiply divide
        floor_divide remainder power minimum maximum equal not_equal less less_equal greater
        greater_equal atan2 hypot log_add_exp copy_sign next_after complex);
    methods!(b Bool: logical_not bit_not;
        logical_and logical_or logical_xor bit_and bit_or bit_xor);
    methods!(b Complex128: real imag conjugate;);
    methods!(b UInt64: ; shift_left shift_right random random_high);
    b.store(Value(0));
    let program = b.finish();
    assert_eq!(program.verify(), Ok(()));
    // Those with more operands, and the sources, have methods of other shapes.
    let others = [Op::Scalar, Op::Constant, Op::Index, Op::Cast, Op::Where, Op::FusedMultiplyAdd];
    for op in Op::ALL.iter().filter(|op| !others.contains(op)) {
        assert!(program.instructions.iter().any(|i| i.op == *op), "no method for {op:?}");
    }
}
