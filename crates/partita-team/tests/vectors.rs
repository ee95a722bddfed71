//! The same regions with every instruction set this processor has.

mod common;

use common::{Sizes, check_random, in_every_form};

#[test]
fn every_instruction_set_copies_the_same() {
    in_every_form(|| {
        let items = [1, 2, 3, 4, 8, 8, 12, 16, 40];
        check_random(1000, &items, Sizes { n_elements: 300, n_bytes: 1 << 18 });
        check_random(60, &[2, 4, 8, 16], Sizes { n_elements: 60_000, n_bytes: 8 << 20 });
    });
}
