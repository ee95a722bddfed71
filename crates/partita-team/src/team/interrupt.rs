//! Interrupts: whoever embeds the engines can end their waiting, as Ctrl-C does.

use std::sync::OnceLock;

static CHECK: OnceLock<fn() -> bool> = OnceLock::new();

/// Sets what is asked, every now and then, while a rank waits for others: true ends the wait.
///
/// The first setting counts; it is asked on the thread that waits.
pub fn set_interrupt_check(check: fn() -> bool) {
    let _ = CHECK.set(check);
}

/// Whether the wait should end.
pub fn is_interrupted() -> bool {
    CHECK.get().is_some_and(|check| check())
}
