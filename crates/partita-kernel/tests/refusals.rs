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
        p.outputs.push(Output { value, action: Action::RunningSum, correction: 0 });
        let action = Action::Reduce(Reduction::Sum);
        p.outputs.push(Output { value, action, correction: 0 });
    });
    assert_eq!(both, "reduces-and-scans");
    let truth = spoilt(|p| {
        p.instructions.push(instruction(Op::Less, Dtype::Bool, [0, 0, 0]));
        p.outputs[0] = Output { value: Value(2), action: Action::RunningSum, correction: 0 };
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
