//! The dictionaries of all ranks of one array: they must speak of the same array.

use crate::finding::Findings;
use crate::partitioned::read::Partitioned;
use crate::partitioned::table::Table;
use crate::value::tuple_words;

/// Most cuts that a message shows.
const MOST_CUTS: usize = 8;

/// What a rank's dictionary says of the whole array: all that other ranks need to know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Shape, tiling and cuts.
    pub table: Table,
    /// Numbers of the positions that are local; none where the dictionary is not SPMD.
    pub locals: Option<Vec<u64>>,
    /// Name of the element type, if it is known without fetching anything.
    pub dtype: Option<String>,
}

impl Summary {
    /// That of a dictionary that passed.
    #[must_use]
    pub fn of(read: &Partitioned) -> Self {
        let Partitioned { table, locals, dtype, .. } = read;
        Self { table: table.clone(), locals: locals.clone(), dtype: dtype.clone() }
    }
}

/// Compares dictionaries that passed by themselves; `None` where one did not.
pub fn check_ranks(ranks: &[Option<Summary>], found: &mut Findings) {
    let mut read = ranks.iter().enumerate().filter_map(|(rank, one)| Some((rank, one.as_ref()?)));
    let Some((first, known)) = read.next() else { return };
    for (rank, one) in read {
        for (field, here, there) in differences(one, known) {
            let message =
                format!("{field} {here} on rank {rank}, {there} on rank {first}; make them equal");
            found.add(format!("ranks[{rank}].{field}"), "ranks-differ", message);
        }
    }
    check_nowhere(ranks, found);
}

/// A field, and what two ranks say of it.
type Difference = (String, String, String);

/// Every field in which two ranks differ.
fn differences(a: &Summary, b: &Summary) -> Vec<Difference> {
    let mut list = table_differences(&a.table, &b.table);
    if let (Some(here), Some(there)) = (&a.dtype, &b.dtype)
        && here != there
    {
        list.push(("dtype".into(), here.clone(), there.clone()));
    }
    if a.locals.is_some() != b.locals.is_some() {
        let word = |one: &Summary| if one.locals.is_some() { "given" } else { "missing" };
        list.push(("locals".into(), word(a).into(), word(b).into()));
    }
    list
}

/// Where two tables differ; cuts are compared only where there are equally many of the same array.
fn table_differences(a: &Table, b: &Table) -> Vec<Difference> {
    let tuples = |name: &str, here: &[u64], there: &[u64]| {
        vec![(name.to_string(), tuple_words(here), tuple_words(there))]
    };
    if a.shape() != b.shape() {
        return tuples("shape", a.shape(), b.shape());
    }
    if a.tiling() != b.tiling() {
        return tuples("partition_tiling", a.tiling(), b.tiling());
    }
    let cuts = |bounds: &[u64]| tuple_words(&bounds[..bounds.len().min(MOST_CUTS)]);
    let dims = a.bounds().iter().zip(b.bounds()).enumerate();
    dims.filter(|(_, (here, there))| here != there)
        .map(|(dim, (here, there))| {
            (format!("partitions (cuts of dimension {dim})"), cuts(here), cuts(there))
        })
        .collect()
}

/// Every partition must be local to some rank.
fn check_nowhere(ranks: &[Option<Summary>], found: &mut Findings) {
    let Some(all) = ranks.iter().map(Option::as_ref).collect::<Option<Vec<_>>>() else { return };
    let Some(first) = all.first() else { return };
    if all.iter().any(|one| one.locals.is_none() || one.table != first.table) {
        return;
    }
    let mut is_local = vec![false; first.table.n_partitions() as usize];
    for number in all.iter().flat_map(|one| one.locals.iter().flatten()) {
        is_local[*number as usize] = true;
    }
    let missing: Vec<u64> =
        (0..).zip(&is_local).filter(|(_, is)| !**is).map(|(at, _)| at).collect();
    if let Some(number) = missing.first() {
        let position = tuple_words(&first.table.position(*number));
        let message = format!(
            "{} partitions are local to no rank, the first is {position}; name each in the locals of \
             a rank",
            missing.len()
        );
        found.add("locals", "position-nowhere", message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Strictness;

    fn summary(bounds: [&[u64]; 2], locals: &[u64]) -> Summary {
        let shape = bounds.iter().map(|own| own[own.len() - 1]).collect();
        let tiling = bounds.iter().map(|own| own.len() as u64 - 1).collect();
        let table = Table::new(shape, tiling, bounds.map(<[u64]>::to_vec).to_vec());
        Summary { table, locals: Some(locals.to_vec()), dtype: Some("f64".into()) }
    }

    fn judged(ranks: Vec<Summary>) -> Vec<(String, &'static str)> {
        let mut found = Findings::new(Strictness::Lenient);
        check_ranks(&ranks.into_iter().map(Some).collect::<Vec<_>>(), &mut found);
        found.into_list().into_iter().map(|one| (one.path, one.reason)).collect()
    }

    #[test]
    fn every_difference_is_told() {
        let one = summary([&[0, 2, 4], &[0, 3, 6]], &[0, 1, 2, 3]);
        let mut other = summary([&[0, 1, 4], &[0, 5, 6]], &[]);
        other.dtype = Some("f32".into());
        other.locals = None;
        let cuts = |dim: usize| format!("partitions (cuts of dimension {dim})");
        let paths = [cuts(0), cuts(1), "dtype".into(), "locals".into()];
        let expected = paths.map(|path| (format!("ranks[1].{path}"), "ranks-differ"));
        assert_eq!(judged(vec![one, other]), expected);
    }

    #[test]
    fn a_partition_is_local_to_some_rank() {
        let rank = |locals: &[u64]| summary([&[0, 2, 4], &[0, 3, 6]], locals);
        assert_eq!(judged(vec![rank(&[0, 1]), rank(&[2, 3])]), []);
        let nowhere = judged(vec![rank(&[0, 1]), rank(&[3])]);
        assert_eq!(nowhere, [("locals".to_string(), "position-nowhere")]);
    }
}
