//! What can be wrong with the arguments, each with a stable reason code.

/// Result of this crate.
pub type Result<T> = std::result::Result<T, NumericError>;

partita_error::errors! {
    /// Why arguments were refused.
    pub enum NumericError {
        IndexOutOfRange { at: usize, index: i64, length: usize } "index-out-of-range" =>
            "position {at} is {index}, outside of {length} elements; use -{length} to {length} - 1";
        BinNegative { at: usize, value: i64 } "bin-negative" =>
            "value {at} is {value}; count values from 0 on";
        BinTooLarge { at: usize, value: i64, n_bins: usize } "bin-too-large" =>
            "value {at} is {value}, and there are {n_bins} bins; give more of them";
        ParameterOutOfRange { name: &'static str, wanted: &'static str } "parameter-out-of-range" =>
            "{name} is outside of its range; it must be {wanted}";
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn reasons_and_cures() {
        let problems = partita_error::judge(super::NumericError::TABLE, "", &[]);
        assert!(problems.is_empty(), "{problems:?}");
    }
}
