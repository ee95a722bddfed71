//! Every function beside a dense model, on random patterns, for all types and numbers of threads.

use partita_sparse::{
    Cores, Csr, Group, Heap, Index, Into, Matrix, Number, Operation, Ordered, Rows, RowsMut,
    SparseError, Truth, Values, Wanted, chosen_columns, combined, compressed, compressed_groups,
    compressed_parts, divided, grouped, is_tidy, product, rows_of, sampled, taken_from, taken_rows,
    tidy, times, times_transposed, transposed, transposed_order, values_from,
};

/// Random numbers, always the same for one seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// Values whose sums are exact in every type, whatever the order.
trait Small: Ordered + std::fmt::Debug {
    fn small(dice: &mut Dice) -> Self;
}

macro_rules! small {
    ($($type:ty: $dice:ident $value:expr;)*) => {$(
        impl Small for $type {
            fn small($dice: &mut Dice) -> Self {
                $value
            }
        }
    )*};
}
small! {
    Truth: dice Truth(dice.below(3) as u8);
    i8: dice dice.below(9) as i8 - 4;
    i16: dice dice.below(9) as i16 - 4;
    i32: dice dice.below(9) as i32 - 4;
    i64: dice dice.below(9) as i64 - 4;
    u8: dice dice.below(9) as u8;
    u16: dice dice.below(9) as u16;
    u32: dice dice.below(9) as u32;
    u64: dice dice.below(9) as u64;
    f32: dice dice.below(9) as f32 - 4.0;
    f64: dice dice.below(9) as f64 - 4.0;
    [f32; 2]: dice [dice.below(9) as f32 - 4.0, dice.below(9) as f32 - 4.0];
    [f64; 2]: dice [dice.below(9) as f64 - 4.0, dice.below(9) as f64 - 4.0];
}

type Dense<T> = Vec<Vec<T>>;

struct Triplets<I, T> {
    rows: Vec<I>,
    columns: Vec<I>,
    values: Vec<T>,
}

fn triplets<I: Index, T: Small>(shape: [usize; 2], dice: &mut Dice) -> Triplets<I, T> {
    // Wide matrices have few entries, for their products are nearly full.
    let n = if shape[0] * shape[1] == 0 { 0 } else { 4 * shape[0].max(shape[1].min(1000)) };
    // A quarter of the entries is in one row; duplicates are likely.
    let row = |dice: &mut Dice, at| if at % 4 == 0 { shape[0] / 2 } else { dice.below(shape[0]) };
    Triplets {
        rows: (0..n).map(|at| I::from_position(row(dice, at))).collect(),
        columns: (0..n).map(|_| I::from_position(dice.below(shape[1]))).collect(),
        values: (0..n).map(|_| T::small(dice)).collect(),
    }
}

fn dense_of<I: Index, T: Number>(given: &Triplets<I, T>, shape: [usize; 2]) -> Dense<T> {
    let mut dense = vec![vec![T::ZERO; shape[1]]; shape[0]];
    for ((row, column), value) in given.rows.iter().zip(&given.columns).zip(&given.values) {
        let place = &mut dense[row.at()][column.at()];
        *place = place.plus(*value);
    }
    dense
}

fn view<I: Index, T: Number>(csr: &Csr<Heap, I, T>) -> Matrix<'_, I, T> {
    let (indptr, indices) = (csr.indptr.elements(), csr.indices.elements());
    Matrix::new(indptr, indices, csr.data.elements()).expect("a matrix of ours")
}

fn dense<I: Index, T: Number>(matrix: Matrix<'_, I, T>, n_columns: usize) -> Dense<T> {
    let indptr = matrix.pattern.indptr;
    let mut dense = vec![vec![T::ZERO; n_columns]; matrix.pattern.n_rows()];
    for (row, line) in dense.iter_mut().enumerate() {
        for at in indptr[row].at()..indptr[row + 1].at() {
            let place = &mut line[matrix.pattern.indices[at].at()];
            *place = place.plus(matrix.data[at]);
        }
    }
    dense
}

fn turned<T: Number>(dense: &Dense<T>, n_columns: usize) -> Dense<T> {
    (0..n_columns).map(|column| dense.iter().map(|row| row[column]).collect()).collect()
}

fn multiplied<T: Number>(a: &Dense<T>, b: &Dense<T>, n_columns: usize) -> Dense<T> {
    let element = |row: &Vec<T>, column: usize| {
        row.iter().zip(b).fold(T::ZERO, |sum, (x, b)| sum.plus(x.times(b[column])))
    };
    a.iter().map(|row| (0..n_columns).map(|column| element(row, column)).collect()).collect()
}

const SHAPES: [[usize; 2]; 8] =
    [[0, 0], [0, 4], [4, 0], [1, 1], [9, 6], [30, 200], [200, 30], [12_000, 20]];

/// Runs a check for all shapes, on one thread and on three.
fn everywhere(check: impl Fn([usize; 2], Cores, &mut Dice)) {
    for (seed, shape) in SHAPES.into_iter().enumerate() {
        for n_threads in [1, 3] {
            let cores = Cores { n_threads, ..Cores::best() };
            check(shape, cores, &mut Dice(seed as u64));
        }
    }
}

fn building<I: Index, T: Small>() {
    everywhere(|shape, cores, dice| {
        let given = triplets::<I, T>(shape, dice);
        let wanted = dense_of(&given, shape);
        let Triplets { rows, columns, values } = &given;
        let csr: Csr<Heap, I, T> =
            compressed(rows, columns, values, shape, cores).expect("all inside");
        assert_eq!(dense(view(&csr), shape[1]), wanted);
        assert!(is_tidy(view(&csr).pattern, cores).expect("a matrix"));

        let across: Csr<Heap, I, T> = transposed(view(&csr), shape[1], cores).expect("inside");
        assert_eq!(dense(view(&across), shape[0]), turned(&wanted, shape[1]));
        let order: Csr<Heap, I, i64> =
            transposed_order(view(&csr).pattern, shape[1], cores).expect("inside");
        let by_order = order.data.elements().iter().map(|at| csr.data.elements()[*at as usize]);
        assert!(by_order.eq(across.data.elements().iter().copied()));

        // Turned triplets are a matrix whose rows are not tidy, once turned back.
        let row_of = rows_of::<Heap, I>(csr.indptr.elements(), cores).expect("never falls");
        let reversed = taken_rows(view(&across), &[], cores).map(|none: Csr<Heap, I, T>| none);
        assert_eq!(reversed.expect("no rows").indices.elements().len(), 0);
        for (row, ends) in csr.indptr.elements().windows(2).enumerate() {
            let stretch = &row_of.elements()[ends[0].at()..ends[1].at()];
            assert!(stretch.iter().all(|of| of.at() == row));
        }
    });
}

/// The same entries in two lists.
fn split<'a, I, T>(
    all: &partita_sparse::Triplets<'a, I, T>,
) -> (partita_sparse::Triplets<'a, I, T>, partita_sparse::Triplets<'a, I, T>) {
    let middle = all.rows.len() / 3;
    let (rows, columns, values) =
        (all.rows.split_at(middle), all.columns.split_at(middle), all.values.split_at(middle));
    let list = |rows, columns, values| partita_sparse::Triplets { rows, columns, values };
    (list(rows.0, columns.0, values.0), list(rows.1, columns.1, values.1))
}

/// Two have entries, bring them into buckets, and every stretch is made of what both have.
fn in_buckets<I: Index, T: Small>(
    given: &Triplets<I, T>,
    cuts: &[usize],
    all: &Dense<T>,
    cores: Cores,
) {
    let Triplets { rows, columns, values } = given;
    let n_columns = all.first().map_or(0, Vec::len);
    let (one, two) = split(&partita_sparse::Triplets { rows, columns, values });
    // As if there were many more: then stretches have several buckets.
    let n_entries = 64 * rows.len();
    let both = [one, two]
        .map(|list| grouped::<Heap, I, T>(list, cuts, n_entries, cores).expect("rows are inside"));
    let mut next = [0, 0];
    for stretch in 0..cuts.len() - 1 {
        let mut groups = Vec::new();
        for (from, next) in both.iter().zip(&mut next) {
            let counts = &from.counts[stretch];
            let end = *next + counts.iter().sum::<usize>();
            groups.push(Group { entries: &from.entries.elements()[*next..end], counts });
            *next = end;
        }
        let (here, extents) = ((cuts, stretch), (n_entries, n_columns));
        let made = |groups: &[Group<'_, I, T>], extents: (usize, usize)| {
            compressed_groups::<Heap, I, T>(groups, here, extents.0, extents.1, cores)
        };
        let part = made(&groups, extents).expect("entries of the stretch");
        assert!(is_tidy(view(&part).pattern, cores).expect("a matrix"));
        assert_eq!(dense(view(&part), n_columns), all[cuts[stretch]..cuts[stretch + 1]]);
        if groups.iter().any(|group| !group.entries.is_empty()) {
            let refused = made(&groups, (n_entries, 0)).expect_err("columns are outside");
            assert_eq!(refused.reason(), "entry-outside");
            groups[0].counts = &[];
            let refused = made(&groups, extents).expect_err("buckets are missing");
            assert_eq!(refused.reason(), "lengths-differ");
        }
    }
    assert_eq!(next, both.map(|from| from.entries.elements().len()));
}

fn parts<I: Index, T: Small>() {
    everywhere(|shape, cores, dice| {
        let given = triplets::<I, T>(shape, dice);
        let Triplets { rows, columns, values } = &given;
        let csr: Csr<Heap, I, T> = compressed(rows, columns, values, shape, cores).expect("inside");
        let all = dense(view(&csr), shape[1]);
        let n_taken = if shape[0] == 0 { 0 } else { 2 * shape[0] };
        let wanted: Vec<i64> = (0..n_taken).map(|_| dice.below(shape[0]) as i64).collect();
        let taken: Csr<Heap, I, T> = taken_rows(view(&csr), &wanted, cores).expect("inside");
        let expected: Dense<T> = wanted.iter().map(|row| all[*row as usize].clone()).collect();
        assert_eq!(dense(view(&taken), shape[1]), expected);

        // Rows of two matrices in turns, one of which has the rows of the other.
        let sources = [Some(view(&csr)), None, Some(view(&taken))];
        let owners: Vec<i64> = (0..n_taken).map(|at| if at % 3 == 0 { 2 } else { 0 }).collect();
        let places: Vec<i64> = owners
            .iter()
            .map(|owner| dice.below(if *owner == 0 { shape[0] } else { n_taken }) as i64)
            .collect();
        let row = |(owner, at): (&i64, &i64)| match owner {
            0 => all[*at as usize].clone(),
            _ => expected[*at as usize].clone(),
        };
        let in_turns: Dense<T> = owners.iter().zip(&places).map(row).collect();
        let asked = Wanted { owners: Some(&owners), places: &places };
        let both = taken_from::<Heap, I, T>(&sources, asked, cores).expect("inside");
        assert_eq!(dense(view(&both.rows), shape[1]), in_turns);
        let values = sources.map(|source| source.map(|matrix| matrix.data));
        let (starts, indptr) = (both.starts.elements(), both.rows.indptr.elements());
        let values = values_from::<Heap, I, T>(&values, &owners, starts, indptr, cores);
        assert_eq!(values.expect("inside").elements(), both.rows.data.elements());

        // Entries by stretches of rows, some of them empty, and back again from their lists.
        let cut = |at: usize| I::from_position(shape[0] * at / 4);
        let cuts = [cut(0), cut(1), cut(1), cut(2), cut(4)];
        let grouped = divided::<Heap, I, T>(rows, columns, &given.values, &cuts, cores);
        let grouped = grouped.expect("inside");
        let mut next = 0;
        for (stretch, n) in grouped.counts.iter().enumerate() {
            let (start, end) = (cuts[stretch].at(), cuts[stretch + 1].at());
            let list = partita_sparse::Triplets {
                rows: &grouped.rows.elements()[next..next + n],
                columns: &grouped.columns.elements()[next..next + n],
                values: &grouped.values.elements()[next..next + n],
            };
            next += n;
            let (one, two) = split(&list);
            let part = compressed_parts::<Heap, I, T>(&[one, two], [end - start, shape[1]], cores);
            assert_eq!(dense(view(&part.expect("inside")), shape[1]), all[start..end]);
        }
        assert_eq!(next, rows.len());
        in_buckets(&given, &cuts.map(I::at), &all, cores);

        // All columns go to one of two, so that rows have duplicates out of order.
        let folded: Vec<i64> = (0..shape[1] as i64).map(|c| (c + 1) % 3 - 1).collect();
        let few: Csr<Heap, I, T> = chosen_columns(view(&csr), &folded, cores).expect("fits");
        let tidied: Csr<Heap, I, T> = tidy(view(&few), cores).expect("never falls");
        assert!(is_tidy(view(&tidied).pattern, cores).expect("a matrix"));
        let mut expected = vec![vec![T::ZERO; 2]; shape[0]];
        for (row, to) in all.iter().zip(&mut expected) {
            for (value, number) in row.iter().zip(&folded) {
                if *number >= 0 {
                    to[*number as usize] = to[*number as usize].plus(*value);
                }
            }
        }
        assert_eq!(dense(view(&few), 2), expected);
        assert_eq!(dense(view(&tidied), 2), expected);
    });
}

fn dense_products<I: Index, T: Small>() {
    everywhere(|shape, cores, dice| {
        let given = triplets::<I, T>(shape, dice);
        let Triplets { rows, columns, values } = &given;
        let csr: Csr<Heap, I, T> = compressed(rows, columns, values, shape, cores).expect("inside");
        let all = dense(view(&csr), shape[1]);
        for width in [0, 1, 2, 8, 43] {
            let random = |n: usize, dice: &mut Dice| -> Vec<T> {
                (0..n * width).map(|_| T::small(dice)).collect()
            };
            let lines = |flat: &[T], n: usize| -> Dense<T> {
                (0..n).map(|row| flat[row * width..(row + 1) * width].to_vec()).collect()
            };
            let (right, before) = (random(shape[1], dice), random(shape[0], dice));
            let n_own = shape[1] / 3;
            let extents = [n_own, shape[1] - n_own, width];
            let (own, ghosts) = right.split_at(n_own * width);
            let ghosts = ghosts.to_vec();
            let stacked = Rows::new(own, &ghosts, extents).expect("right lengths");
            let wanted = multiplied(&all, &lines(&right, shape[1]), width).concat();
            let mut out = before.clone();
            times(view(&csr), stacked, &mut out, Into::Replace, cores).expect("inside");
            assert_eq!(out, wanted);
            times(view(&csr), stacked, &mut out, Into::Add, cores).expect("inside");
            let twice: Vec<T> = wanted.iter().map(|one| one.plus(*one)).collect();
            assert_eq!(out, twice);

            for values in [Values::Plain, Values::Conjugate] {
                let (mut own, mut ghosts) = (own.to_vec(), ghosts.clone());
                let to = RowsMut::new(&mut own, &mut ghosts, extents).expect("right lengths");
                times_transposed(view(&csr), &before, to, values, cores).expect("inside");
                let mut across = turned(&all, shape[1]);
                if values == Values::Conjugate {
                    across.iter_mut().flatten().for_each(|one| *one = one.conjugate());
                }
                let sums = multiplied(&across, &lines(&before, shape[0]), width).concat();
                let wanted: Vec<T> = right.iter().zip(sums).map(|(x, y)| x.plus(y)).collect();
                assert_eq!([own, ghosts].concat(), wanted);
            }

            let mut out = vec![T::ZERO; csr.indices.elements().len()];
            let pattern = view(&csr).pattern;
            sampled(pattern, &before, stacked, &mut out, cores).expect("inside");
            let square = multiplied(
                &lines(&before, shape[0]),
                &turned(&lines(&right, shape[1]), width),
                shape[1],
            );
            for (row, line) in square.iter().enumerate() {
                for at in pattern.indptr[row].at()..pattern.indptr[row + 1].at() {
                    assert_eq!(out[at], line[pattern.indices[at].at()]);
                }
            }
        }
    });
}

fn sparse_products<I: Index, T: Small>() {
    everywhere(|shape, cores, dice| {
        let matrix = |shape: [usize; 2], dice: &mut Dice| -> Csr<Heap, I, T> {
            let given = triplets::<I, T>(shape, dice);
            compressed(&given.rows, &given.columns, &given.values, shape, cores).expect("inside")
        };
        let (a, b) = (matrix(shape, dice), matrix(shape, dice));
        let (x, y) = (dense(view(&a), shape[1]), dense(view(&b), shape[1]));
        type Both<T> = fn(T, T) -> T;
        let operations: [(Operation, Both<T>); 5] = [
            (Operation::Add, T::plus),
            (Operation::Subtract, T::minus),
            (Operation::Multiply, T::times),
            (Operation::Maximum, T::larger),
            (Operation::Minimum, T::smaller),
        ];
        for (operation, both) in operations {
            let found: Csr<Heap, I, T> =
                combined(view(&a), view(&b), operation, shape[1], cores).expect("tidy");
            let wanted: Dense<T> = x
                .iter()
                .zip(&y)
                .map(|(x, y)| x.iter().zip(y).map(|(x, y)| both(*x, *y)).collect())
                .collect();
            assert_eq!(dense(view(&found), shape[1]), wanted);
        }

        for n_columns in [50, 100_000] {
            if n_columns * shape[0] > 100_000_000 {
                continue;
            }
            let (n_own, n_ghosts) = (shape[1] / 3, shape[1] - shape[1] / 3);
            let own = matrix([n_own, n_columns], dice);
            let ghosts = matrix([n_ghosts, n_columns], dice);
            let found: Csr<Heap, I, T> =
                product(view(&a), view(&own), view(&ghosts), n_columns, cores).expect("inside");
            assert!(is_tidy(view(&found).pattern, cores).expect("a matrix"));
            assert!(found.data.elements().iter().all(|sum| *sum != T::ZERO));
            if n_columns > 1000 {
                continue;
            }
            let mut right = dense(view(&own), n_columns);
            right.extend(dense(view(&ghosts), n_columns));
            assert_eq!(dense(view(&found), n_columns), multiplied(&x, &right, n_columns));
        }
    });
}

/// Rows that are like the ones before them, now and then with another one between.
fn diagonals<I: Index, T: Small>(shape: [usize; 2], dice: &mut Dice) -> Csr<Heap, I, T> {
    let offsets: Vec<usize> = (0..dice.below(5)).map(|_| dice.below(shape[1])).collect();
    let mut given = Triplets { rows: vec![], columns: vec![], values: vec![] };
    for row in 0..shape[0] {
        let is_other = dice.below(12) == 0;
        for offset in &offsets {
            let column = if is_other { dice.below(shape[1]) } else { row + offset };
            // Few of the values are 0, and some sums cancel.
            if column < shape[1] && dice.below(200) > 0 {
                given.rows.push(I::from_position(row));
                given.columns.push(I::from_position(column));
                given.values.push(T::small(dice));
            }
        }
    }
    let Triplets { rows, columns, values } = &given;
    compressed(rows, columns, values, shape, Cores::best()).expect("all inside")
}

fn products_of_diagonals<I: Index, T: Small>() {
    let dice = &mut Dice(1);
    for turn in 0..40 {
        let cores = Cores { n_threads: 1 + turn % 3, ..Cores::best() };
        let [n_rows, n_inner, n_columns] = [0; 3].map(|_| 1 + dice.below(120));
        let n_own = dice.below(n_inner + 1);
        let a: Csr<Heap, I, T> = diagonals([n_rows, n_inner], dice);
        let own: Csr<Heap, I, T> = diagonals([n_own, n_columns], dice);
        let ghosts: Csr<Heap, I, T> = diagonals([n_inner - n_own, n_columns], dice);
        let found: Csr<Heap, I, T> =
            product(view(&a), view(&own), view(&ghosts), n_columns, cores).expect("inside");
        assert!(is_tidy(view(&found).pattern, cores).expect("a matrix"));
        assert!(found.data.elements().iter().all(|sum| *sum != T::ZERO));
        let mut right = dense(view(&own), n_columns);
        right.extend(dense(view(&ghosts), n_columns));
        let wanted = multiplied(&dense(view(&a), n_inner), &right, n_columns);
        assert_eq!(dense(view(&found), n_columns), wanted);
    }
}

fn all<I: Index, T: Small>() {
    building::<I, T>();
    parts::<I, T>();
    dense_products::<I, T>();
    sparse_products::<I, T>();
    products_of_diagonals::<I, T>();
}

// Every type has all functions with short positions, and one of each size with long ones.
macro_rules! for_types {
    ($($name:ident: $type:ty, $($index:ty),*;)*) => {$(
        #[test]
        fn $name() {
            $(all::<$index, $type>();)*
        }
    )*};
}
for_types! {
    truth: Truth, i32;
    signed_8: i8, i32, i64;
    signed_16: i16, i32;
    signed_32: i32, i32;
    signed_64: i64, i32;
    unsigned_8: u8, i32;
    unsigned_16: u16, i32, i64;
    unsigned_32: u32, i32;
    unsigned_64: u64, i32;
    single: f32, i32, i64;
    double: f64, i32, i64;
    complex_single: [f32; 2], i32;
    complex_double: [f64; 2], i32, i64;
}

/// A matrix of ones, from the columns of each row.
fn ones(rows: &[&[i32]]) -> Csr<Heap, i32, f64> {
    let given: Vec<(i32, i32)> =
        (0..).zip(rows).flat_map(|(row, columns)| columns.iter().map(move |c| (row, *c))).collect();
    let (rows_of, columns): (Vec<i32>, Vec<i32>) = given.into_iter().unzip();
    let n_columns = columns.iter().max().map_or(0, |most| *most as usize + 1);
    let shape = [rows.len(), n_columns];
    compressed(&rows_of, &columns, &vec![1.0; columns.len()], shape, Cores::best()).expect("inside")
}

#[test]
fn rows_that_only_seem_alike_are_multiplied() {
    let none = ones(&[]);
    // The last row has fewer terms than the one before, and no room for as many.
    let pairs = ones(&[&[0, 1], &[2, 3], &[4, 5]]);
    let right = ones(&[&[0], &[1], &[2], &[3], &[], &[]]);
    let found: Csr<Heap, i32, f64> =
        product(view(&pairs), view(&right), view(&none), 4, Cores::best()).expect("inside");
    let wanted = [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.0; 4]];
    assert_eq!(dense(view(&found), 4), wanted.map(Vec::from));

    // More columns than are ever learned, of which the last ones come first.
    let full = ones(&[&[0, 1], &[0, 1]]);
    let (late, early): (Vec<i32>, Vec<i32>) = ((5000..8000).collect(), (0..5000).collect());
    let right = ones(&[&late, &early]);
    let found: Csr<Heap, i32, f64> =
        product(view(&full), view(&right), view(&none), 8000, Cores::best()).expect("inside");
    assert_eq!(dense(view(&found), 8000), [vec![1.0; 8000], vec![1.0; 8000]]);
}

#[test]
fn wrong_matrices_have_reasons() {
    let cores = Cores::best();
    let reason = |error: SparseError| error.reason();
    let new = |indptr: &[i32], indices: &[i32]| {
        Matrix::new(indptr, indices, &vec![1.0; indices.len()])
            .and_then(|matrix| transposed::<Heap, i32, f64>(matrix, 2, cores))
            .map(|_| ())
            .map_err(reason)
    };
    assert_eq!(new(&[0, 1, 2], &[1, 0]), Ok(()));
    assert_eq!(new(&[], &[]), Err("pointers-empty"));
    assert_eq!(new(&[1, 1], &[0]), Err("pointers-start"));
    assert_eq!(new(&[0, 3], &[0]), Err("pointers-end"));
    assert_eq!(new(&[0, -1], &[0]), Err("pointers-end"));
    assert_eq!(new(&[0, 2, 1], &[0]), Err("pointers-fall"));
    assert_eq!(new(&[0, 1], &[2]), Err("column-outside"));
    assert_eq!(new(&[0, 1], &[-1]), Err("column-outside"));
    let wrong = compressed::<Heap, i32, f64>(&[2], &[0], &[1.0], [2, 2], cores);
    assert_eq!(wrong.map(|_| ()).map_err(reason), Err("row-outside"));
}
