//! Results as text or JSON.

use partita_array::run::{Dense, Number, Report, ResultValue, SparsePart};
use partita_array::sparse::{Format, SparseTensor};
use partita_ir::Scalar;

use super::numpy::{self, Element};
use super::options::Program;

/// What a run has cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Totals {
    pub n_exchanges: u64,
    pub n_bytes: u128,
    pub n_kernels: u64,
}

impl Totals {
    pub(super) fn of(reports: &[Report]) -> Self {
        let first = reports.first();
        Self {
            n_exchanges: first.map_or(0, |report| report.n_exchanges),
            n_bytes: first.map_or(0, |report| report.n_bytes),
            n_kernels: reports.iter().map(|report| report.n_kernels).sum(),
        }
    }
}

/// One rank's results: a JSON list, or lines.
pub(super) fn results(program: &Program, report: &Report) -> String {
    if program.is_json {
        let all: Vec<String> = report.results.iter().map(json).collect();
        return format!("[{}]", all.join(", "));
    }
    report.results.iter().map(|one| text(one) + "\n").collect()
}

/// What is printed of all ranks' results.
pub(super) fn joined(program: &Program, texts: &[String], totals: &Totals) -> String {
    if !program.is_json {
        if !program.is_local {
            return texts.first().cloned().unwrap_or_default();
        }
        let ranks = texts.iter().enumerate();
        return ranks.map(|(rank, text)| format!("rank {rank}:\n{text}")).collect();
    }
    let results = match program.is_local {
        true => format!("\"ranks\": [{}]", texts.join(", ")),
        false => format!("\"results\": {}", texts.first().map_or("[]", String::as_str)),
    };
    let Totals { n_exchanges, n_bytes, n_kernels } = totals;
    format!(
        "{{{results}, \"exchanges\": {n_exchanges}, \"bytes\": {n_bytes}, \"kernels\": {n_kernels}}}\n"
    )
}

fn text(result: &ResultValue) -> String {
    match result {
        ResultValue::Number(number, scalar) => numpy::one(element(*number, *scalar)),
        ResultValue::Array(dense) => numpy::array(dense),
        ResultValue::Parts { shape, parts } => {
            let part = |one: &partita_array::run::LocalPart| {
                format!("from {:?} of {shape:?}\n{}", one.offsets, numpy::array(&one.elements))
            };
            let parts: Vec<String> = parts.iter().map(part).collect();
            if parts.is_empty() { format!("nothing of {shape:?}") } else { parts.join("\n") }
        }
        ResultValue::Sparse(tensor) => sparse_text(tensor),
        ResultValue::SparseParts { shape, parts } => {
            let part = |one: &SparsePart| {
                format!("from {:?} of {shape:?}\n{}", one.offsets, sparse_text(&one.elements))
            };
            let parts: Vec<String> = parts.iter().map(part).collect();
            if parts.is_empty() { format!("nothing of {shape:?}") } else { parts.join("\n") }
        }
    }
}

/// The lists of a sparse tensor by the names that SciPy has for them.
fn lists(tensor: &SparseTensor) -> Vec<(&'static str, String)> {
    let coordinates = &tensor.coordinates;
    match tensor.format {
        Format::Coo => vec![("coords", format!("{coordinates:?}"))],
        _ => {
            let indices = coordinates.first().map_or(&[][..], Vec::as_slice);
            vec![("indptr", format!("{:?}", tensor.positions)), ("indices", format!("{indices:?}"))]
        }
    }
}

fn stored(tensor: &SparseTensor) -> Dense {
    Dense { shape: vec![tensor.n_elements()], dtype: tensor.dtype, bytes: tensor.values.clone() }
}

fn sparse_text(tensor: &SparseTensor) -> String {
    let SparseTensor { shape, dtype, format, .. } = tensor;
    let mut text = format!("{format} of {shape:?}, {} elements of {dtype}", tensor.n_elements());
    for (name, list) in lists(tensor) {
        text += &format!("\n{name:<7} {list}");
    }
    format!("{text}\n{:<7} {}", "data", numpy::array(&stored(tensor)))
}

fn sparse_json(tensor: &SparseTensor) -> String {
    let SparseTensor { shape, dtype, format, .. } = tensor;
    let lists = lists(tensor).into_iter().map(|(name, list)| format!("\"{name}\": {list}"));
    let lists = lists.collect::<Vec<_>>().join(", ");
    let words = numpy::elements(&stored(tensor)).into_iter().map(json_element);
    let data = words.collect::<Vec<_>>().join(", ");
    format!(
        "{{\"shape\": {shape:?}, \"dtype\": \"{dtype}\", \"format\": \"{format}\", {lists}, \"data\": [{data}]}}"
    )
}

fn element(number: Number, scalar: Scalar) -> Element {
    match number {
        Number::Int(truth) if scalar == Scalar::BOOL => Element::Bool(truth != 0),
        Number::Int(number) if scalar == Scalar::unsigned(64) => {
            Element::Int((number as u64).into())
        }
        Number::Int(number) => Element::Int(number.into()),
        Number::Float(number) => Element::Float(number),
        Number::Complex(real, imaginary) => Element::Complex(real, imaginary),
    }
}

fn json(result: &ResultValue) -> String {
    match result {
        ResultValue::Number(number, scalar) => json_element(element(*number, *scalar)),
        ResultValue::Array(dense) => json_array(dense),
        ResultValue::Parts { shape, parts } => {
            let part = |one: &partita_array::run::LocalPart| {
                let offsets = &one.offsets;
                format!("{{\"offsets\": {offsets:?}, \"elements\": {}}}", json_array(&one.elements))
            };
            let parts: Vec<String> = parts.iter().map(part).collect();
            format!("{{\"shape\": {shape:?}, \"parts\": [{}]}}", parts.join(", "))
        }
        ResultValue::Sparse(tensor) => sparse_json(tensor),
        ResultValue::SparseParts { shape, parts } => {
            let part = |one: &SparsePart| {
                let offsets = &one.offsets;
                format!(
                    "{{\"offsets\": {offsets:?}, \"elements\": {}}}",
                    sparse_json(&one.elements)
                )
            };
            let parts: Vec<String> = parts.iter().map(part).collect();
            format!("{{\"shape\": {shape:?}, \"parts\": [{}]}}", parts.join(", "))
        }
    }
}

fn json_array(dense: &Dense) -> String {
    let mut words = numpy::elements(dense).into_iter().map(json_element);
    let data = nested(&dense.shape, &mut words);
    format!("{{\"shape\": {:?}, \"dtype\": \"{}\", \"data\": {data}}}", dense.shape, dense.dtype)
}

fn nested(shape: &[usize], words: &mut dyn Iterator<Item = String>) -> String {
    let Some((size, inner)) = shape.split_first() else { return words.next().unwrap_or_default() };
    let parts: Vec<String> = (0..*size).map(|_| nested(inner, words)).collect();
    format!("[{}]", parts.join(", "))
}

/// Numbers that JSON has no words for are written as texts.
fn json_element(element: Element) -> String {
    let float = |number: f64| match number {
        n if n.is_nan() => "\"NaN\"".to_string(),
        n if n.is_infinite() => if n > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" }.to_string(),
        n => format!("{n:?}"),
    };
    match element {
        Element::Bool(truth) => truth.to_string(),
        Element::Int(number) => number.to_string(),
        Element::Float(number) => float(number),
        Element::Complex(real, imaginary) => format!("[{}, {}]", float(real), float(imaginary)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_json_lacks_are_texts() {
        let written = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.5, -0.0].map(Element::Float);
        let written = written.map(json_element);
        assert_eq!(written, ["\"NaN\"", "\"Infinity\"", "\"-Infinity\"", "0.5", "-0.0"]);
        let complex = json_element(Element::Complex(1.0, f64::NAN));
        assert_eq!(complex, "[1.0, \"NaN\"]");
    }
}
