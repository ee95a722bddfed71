//! How other hosts reach this one.

use std::net::Ipv4Addr;

/// Addresses of a host that are tried.
pub(crate) const N_ADDRESSES: usize = 3;

/// This host's addresses that others may reach.
pub(crate) fn own_addresses() -> Vec<Ipv4Addr> {
    let mut found = Vec::new();
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: the list is the system's until it is given back below.
    unsafe {
        if libc::getifaddrs(&raw mut first) != 0 {
            return found;
        }
        let mut at = first;
        while let Some(one) = at.as_ref() {
            let is_inet = !one.ifa_addr.is_null()
                && i32::from((*one.ifa_addr).sa_family) == libc::AF_INET
                && one.ifa_flags & libc::IFF_UP as u32 != 0;
            if is_inet {
                let address = &*one.ifa_addr.cast::<libc::sockaddr_in>();
                found.push(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)));
            }
            at = one.ifa_next;
        }
        libc::freeifaddrs(first);
    }
    found.retain(|address| !address.is_loopback());
    found.truncate(N_ADDRESSES);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_other_hosts() {
        assert!(own_addresses().iter().all(|address| !address.is_loopback()));
    }
}
