//! Texts with random changes: an error or a program, never a panic.

mod mutation;

const N_CASES: u64 = 100_000;

#[test]
fn changed_texts_are_refused_or_read_and_written_again() {
    let n_read = mutation::run(N_CASES, 20_261_116);
    assert!(n_read > N_CASES / 100, "only {n_read} of {N_CASES} were programs");
}
