//! The dictionaries of all ranks of one array: they must speak of the same array.

use crate::finding::Findings;
use crate::partitioned::read::Partitioned;
use crate::value::tuple_words;

/// Compares dictionaries that passed by themselves; `None` where one did not.
pub fn check_ranks(ranks: &[Option<Partitioned>], found: &mut Findings) {
    let mut read = ranks.iter().enumerate().filter_map(|(rank, one)| Some((rank, one.as_ref()?)));
    let Some((first, known)) = read.next() else { return };
    for (rank, one) in read {
        let mut differs = |field: &str, here: String, there: String| {
            let message =
                format!("{field} {here} on rank {rank}, {there} on rank {first}; make them equal");
            found.add(format!("ranks[{rank}].{field}"), "ranks-differ", message);
        };
        let (a, b) = (&one.table, &known.table);
        if a.shape() != b.shape() {
            differs("shape", tuple_words(a.shape()), tuple_words(b.shape()));
        } else if a.tiling() != b.tiling() {
            differs("partition_tiling", tuple_words(a.tiling()), tuple_words(b.tiling()));
        } else if a.bounds() != b.bounds() {
            let dim = (0..a.bounds().len()).find(|dim| a.bounds()[*dim] != b.bounds()[*dim]);
            let dim = dim.unwrap_or(0);
            let cuts = |bounds: &[Vec<u64>]| tuple_words(&bounds[dim][..bounds[dim].len().min(8)]);
            let name = format!("partitions (cuts of dimension {dim})");
            differs(&name, cuts(a.bounds()), cuts(b.bounds()));
        }
        if let (Some(here), Some(there)) = (&one.dtype, &known.dtype)
            && here != there
        {
            differs("dtype", here.clone(), there.clone());
        }
        if one.locals.is_some() != known.locals.is_some() {
            let word = |is_there| if is_there { "given" } else { "missing" }.to_string();
            differs("locals", word(one.locals.is_some()), word(known.locals.is_some()));
        }
    }
    check_nowhere(ranks, found);
}

/// Every partition must be local to some rank.
fn check_nowhere(ranks: &[Option<Partitioned>], found: &mut Findings) {
    let Some(all) = ranks.iter().map(Option::as_ref).collect::<Option<Vec<_>>>() else { return };
    let Some(first) = all.first() else { return };
    if all.iter().any(|one| one.locals.is_none() || one.table != first.table) {
        return;
    }
    let mut is_local = vec![false; first.entries.len()];
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
