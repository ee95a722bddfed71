//! What can be wrong with a matrix, each with a stable reason code.

/// Result of this crate.
pub type Result<T> = std::result::Result<T, SparseError>;

partita_error::errors! {
    /// Why a matrix was refused.
    pub enum SparseError {
        PointersEmpty "pointers-empty" =>
            "indptr has no elements; give one more than there are rows";
        PointersStart { first: i64 } "pointers-start" =>
            "indptr begins with {first}; let it begin with 0";
        PointersFall { row: usize, start: i64, end: i64 } "pointers-fall" =>
            "row {row} begins at {start} and ends at {end}; let indptr never fall";
        PointersEnd { end: i64, n_entries: usize } "pointers-end" =>
            "indptr ends with {end}, and there are {n_entries} entries; give all of them";
        LengthsDiffer { what: &'static str, n: usize, wanted: usize } "lengths-differ" =>
            "there are {n} {what}; give {wanted}";
        ColumnOutside { at: usize, column: i64, n_columns: usize } "column-outside" =>
            "entry {at} has column {column} of {n_columns}; use 0 to {n_columns} - 1";
        RowOutside { at: usize, row: i64, n_rows: usize } "row-outside" =>
            "entry {at} has row {row} of {n_rows}; use 0 to {n_rows} - 1";
        EntryOutside { n_rows: usize, n_columns: usize } "entry-outside" =>
            "an entry lies outside of {n_rows} rows and {n_columns} columns; give all ranks the same extents";
        SourceAbsent { at: usize, owner: i64 } "source-absent" =>
            "row {at} is to come from matrix {owner}, which is absent; give that matrix";
        ColumnNumber { column: usize, number: i64 } "column-number" =>
            "column {column} is to become {number}; use -1 to drop it, or a number that fits the indices";
        NotTidy { row: usize, before: i64, column: i64 } "not-tidy" =>
            "column {column} follows {before} in row {row}; sort columns and add duplicates first";
        TooManyEntries { n_entries: usize } "too-many-entries" =>
            "the result has {n_entries} entries, more than 32-bit indices can count; use int64";
        NoMemory { n_bytes: usize } "no-memory" =>
            "the system has no {n_bytes} bytes left; give fewer entries at once";
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn reasons_and_cures() {
        let problems = partita_error::judge(super::SparseError::TABLE, "", &[]);
        assert!(problems.is_empty(), "{problems:?}");
    }
}
