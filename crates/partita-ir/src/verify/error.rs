//! What can be wrong with a program.

partita_error::errors! {
    /// Why a program makes no sense.
    pub enum VerifyError {
        AttrMissing { op: String, name: String, wanted: String } "attr-missing" =>
            "{op} has no attribute {name}; give it {wanted}";
    }
}
