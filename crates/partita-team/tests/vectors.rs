//! The same regions with every instruction set this processor has.

mod common;

use common::{Sizes, check_random};
use partita_team::copy::Isa;

/// One test, because the limit holds for the whole process.
#[test]
fn every_instruction_set_copies_the_same() {
    let widest = Isa::detect();
    for isa in [Isa::Portable, Isa::Neon, Isa::Sse2, Isa::Avx2, Isa::Avx512] {
        isa.limit();
        assert_eq!(Isa::detect(), isa.min(widest));
        let items = [1, 2, 3, 4, 8, 8, 12, 16, 40];
        check_random(1000, &items, Sizes { n_elements: 300, n_bytes: 1 << 18 });
        check_random(60, &[2, 4, 8, 16], Sizes { n_elements: 60_000, n_bytes: 8 << 20 });
    }
}
