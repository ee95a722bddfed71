//! Special values of complex functions: the tables of C99 Annex G, at every level.
//!
//! Annex G leaves the sign of every NaN open, and so do we: levels may differ in it. The circular
//! functions have no table of their own; they are what the hyperbolic ones are of i z.

use partita_kernel::math::{self, Level, Unary};
use std::f64::consts::{FRAC_PI_2, LN_2, LN_10, PI};

type Z = [f64; 2];

struct Case {
    function: Unary,
    symmetry: Symmetry,
    argument: Z,
    value: [Wanted; 2],
}

#[derive(Clone, Copy, PartialEq)]
enum Symmetry {
    Odd,
    Even,
    Neither,
}

/// One part of a value.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    Exactly(f64),
    /// With either sign.
    Size(f64),
}

impl Wanted {
    fn negative(self) -> Wanted {
        match self {
            Wanted::Exactly(x) => Wanted::Exactly(-x),
            Wanted::Size(x) => Wanted::Size(x),
        }
    }

    /// The same as a float32 has it.
    fn single(self) -> Wanted {
        match self {
            Wanted::Exactly(x) => Wanted::Exactly(f64::from(x as f32)),
            Wanted::Size(x) => Wanted::Size(f64::from(x as f32)),
        }
    }

    /// Equal with the sign of zero; any NaN equals any. Multiples of pi may be a unit off.
    fn is(self, got: f64) -> bool {
        let same = |x: f64, y: f64| {
            let near = x.is_normal() && (x - y).abs() <= 2.0 * f64::EPSILON * x.abs();
            x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan() || near
        };
        match self {
            Wanted::Exactly(x) => same(x, got),
            Wanted::Size(x) => same(x, got.abs()),
        }
    }
}

fn number(word: &str) -> f64 {
    match word {
        "inf" => f64::INFINITY,
        "-inf" => f64::NEG_INFINITY,
        "nan" => f64::NAN,
        "pi" => PI,
        "pi/2" => FRAC_PI_2,
        "pi/4" => PI / 4.0,
        "3pi/4" => 3.0 * PI / 4.0,
        "pi/2/ln2" => FRAC_PI_2 / LN_2,
        "pi/2/ln10" => FRAC_PI_2 / LN_10,
        word => word.parse().expect("a number"),
    }
}

fn wanted(word: &str) -> Wanted {
    match word.strip_prefix('~') {
        Some(rest) => Wanted::Size(number(rest)),
        None => Wanted::Exactly(number(word)),
    }
}

fn case(line: &str) -> Case {
    let words: Vec<&str> = line.split(' ').collect();
    let [name, symmetry, x, y, re, im] = words[..] else { panic!("{line} has not six words") };
    Case {
        function: *Unary::ALL.iter().find(|f| f.name() == name).expect("a function"),
        symmetry: match symmetry {
            "odd" => Symmetry::Odd,
            "even" => Symmetry::Even,
            _ => Symmetry::Neither,
        },
        argument: [number(x), number(y)],
        value: [wanted(re), wanted(im)],
    }
}

fn table() -> Vec<Case> {
    let lines = include_str!("data/annex_g.txt").lines();
    lines.filter(|line| !line.starts_with('#')).map(case).collect()
}

impl Case {
    fn conjugate(&self) -> Case {
        let ([x, y], [re, im]) = (self.argument, self.value);
        Case { argument: [x, -y], value: [re, im.negative()], ..*self }
    }

    /// The case at -z, for functions that say what it is.
    fn opposite(&self) -> Option<Case> {
        let ([x, y], [re, im]) = (self.argument, self.value);
        let value = match self.symmetry {
            Symmetry::Odd => [re.negative(), im.negative()],
            Symmetry::Even => [re, im],
            Symmetry::Neither => return None,
        };
        Some(Case { argument: [-x, -y], value, ..*self })
    }

    /// The same case of the circular function: f(z) = -i g(i z), or g(i z) for the cosine.
    fn turned(&self) -> Option<Case> {
        let function = match self.function {
            Unary::Sinh => Unary::Sin,
            Unary::Cosh => Unary::Cos,
            Unary::Tanh => Unary::Tan,
            Unary::Asinh => Unary::Asin,
            Unary::Atanh => Unary::Atan,
            _ => return None,
        };
        let ([x, y], [re, im]) = (self.argument, self.value);
        let value = if function == Unary::Cos { [re, im] } else { [im, re.negative()] };
        Some(Case { function, argument: [y, -x], value, ..*self })
    }

    /// All that follows from a row of the table, itself included.
    fn family(self) -> Vec<Case> {
        let mut all = vec![self.conjugate()];
        all.extend(self.opposite());
        all.extend(self.opposite().map(|case| case.conjugate()));
        all.push(self);
        let turned: Vec<Case> = all.iter().filter_map(Case::turned).collect();
        all.extend(turned);
        all
    }

    fn check(&self, level: Level, wrong: &mut Vec<String>) {
        let mut double = [[0.0; 2]];
        math::apply(level, self.function, &[self.argument], &mut double);
        let mut single = [[0.0f32; 2]];
        math::apply(level, self.function, &[self.argument.map(|x| x as f32)], &mut single);
        let single = single[0].map(f64::from);
        let [re, im] = self.value;
        let is_right = re.is(double[0][0]) && im.is(double[0][1]);
        let is_right32 = re.single().is(single[0]) && im.single().is(single[1]);
        if !is_right || !is_right32 {
            wrong.push(format!(
                "{:?} of {:?} at {level:?} is {:?} and in complex64 {single:?}, not {:?}",
                self.function, self.argument, double[0], self.value
            ));
        }
    }
}

#[test]
fn special_values_of_complex_functions() {
    let mut wrong = Vec::new();
    let cases: Vec<Case> = table().into_iter().flat_map(Case::family).collect();
    for level in Level::all() {
        for case in &cases {
            case.check(level, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{} are wrong: {wrong:#?}", wrong.len());
    assert!(cases.len() > 500, "the table has shrunk to {}", cases.len());
}
