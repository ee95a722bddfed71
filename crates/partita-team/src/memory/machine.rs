//! How much memory the machine has.

/// In bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub all: u64,
    pub swap: u64,
    /// Of all, what nobody uses, not even as a cache.
    pub free: u64,
}

/// What the machine has now; none where the system does not say.
#[cfg(target_os = "linux")]
pub(crate) fn machine() -> Option<Machine> {
    // SAFETY: a zeroed `sysinfo` is valid, and is filled by the call.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is ours.
    if unsafe { libc::sysinfo(&raw mut info) } != 0 {
        return None;
    }
    let unit = u64::from(info.mem_unit);
    #[allow(clippy::useless_conversion, reason = "the widths differ between systems")]
    let bytes = |n| u64::from(n) * unit;
    Some(Machine {
        all: bytes(info.totalram),
        swap: bytes(info.totalswap),
        free: bytes(info.freeram),
    })
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn machine() -> Option<Machine> {
    None
}
