//! Locations: where a partition can be read without communication, in every dialect met so far.

use std::sync::Arc;

use crate::finding::Findings;
use crate::numbers::Path;
use crate::value::{Value, clip};

/// One place of a partition, as far as its producer says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Location {
    /// Rank in the producer's team.
    pub rank: Option<u64>,
    /// Address of the node, or of the worker.
    pub ip: Option<Arc<str>>,
    /// Process id on that node.
    pub pid: Option<u64>,
    /// Where in that process; `kDLCPU` if nothing is said.
    pub device: Option<Device>,
    /// The device in the producer's own words, to be handed on as it came.
    pub device_words: Option<Arc<str>>,
}

impl Location {
    /// Where the elements lie; a rank or an address alone does not say.
    #[must_use]
    pub fn memory(&self) -> Option<Device> {
        self.pid.map(|_| self.device.unwrap_or(Device::HOST))
    }
}

/// A device as DLPack numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// DLPack's code.
    pub code: u32,
    /// Which of them.
    pub index: u32,
}

/// DLPack's names. Codes 5 and 6 are not in use.
const DEVICES: [(&str, u32); 16] = [
    ("kDLCPU", 1),
    ("kDLCUDA", 2),
    ("kDLCUDAHost", 3),
    ("kDLOpenCL", 4),
    ("kDLVulkan", 7),
    ("kDLMetal", 8),
    ("kDLVPI", 9),
    ("kDLROCM", 10),
    ("kDLROCMHost", 11),
    ("kDLExtDev", 12),
    ("kDLCUDAManaged", 13),
    ("kDLOneAPI", 14),
    ("kDLWebGPU", 15),
    ("kDLHexagon", 16),
    ("kDLMAIA", 17),
    ("kDLTrn", 18),
];

/// Devices whose memory the processor reads like its own: pinned and managed memory among them.
const READ_BY_HOST: [u32; 4] = [1, 3, 11, 13];

impl Device {
    /// The processor's own memory.
    pub const HOST: Self = Self { code: 1, index: 0 };

    /// A device by DLPack's numbers, if they are known.
    #[must_use]
    pub fn numbered(code: u32, index: u32) -> Option<Self> {
        let is_known = DEVICES.iter().any(|(_, known)| *known == code);
        is_known.then_some(Self { code, index })
    }

    /// Whether two names may stand for the same memory.
    #[must_use]
    pub fn may_be(self, other: Self) -> bool {
        let is_host = |device: Self| READ_BY_HOST.contains(&device.code);
        // Managed memory belongs to the processor and to every device of CUDA.
        let is_managed = |one: Self, two: Self| (one.code, two.code) == (13, 2);
        self == other
            || (is_host(self) && is_host(other))
            || is_managed(self, other)
            || is_managed(other, self)
    }

    /// Reads `name` or `name:index`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (name, index) = text.split_once(':').unwrap_or((text, "0"));
        let code = DEVICES.iter().find(|(known, _)| *known == name)?.1;
        let is_plain = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
        Some(Self { code, index: if is_plain { index.parse().ok()? } else { return None } })
    }

    /// The device in DLPack's words.
    #[must_use]
    pub fn name(self) -> String {
        let name = DEVICES.iter().find(|(_, code)| *code == self.code).map_or("kDLCPU", |(n, _)| n);
        format!("{name}:{}", self.index)
    }
}

/// Reads a location in any dialect: a rank, an address, a tuple, or a list of these.
pub fn read_locations(value: &Value, path: Path<'_>, found: &mut Findings) -> Vec<Location> {
    match value {
        Value::Tuple(items) if is_one_location(items) => {
            let message = "location is one tuple; use a list of tuples (ip, pid[, device])";
            found.add_strict(path(), "location-type", message);
            read_tuple(items, path, found).into_iter().collect()
        }
        Value::List(items) | Value::Tuple(items) => items
            .iter()
            .enumerate()
            .filter_map(|(at, item)| read_one(item, &|| format!("{}[{at}]", path()), found))
            .collect(),
        _ => {
            let message = format!("location {} is no list; use a list of tuples", value.words());
            found.add_strict(path(), "location-type", message);
            read_one(value, path, found).into_iter().collect()
        }
    }
}

/// `(ip, pid)` or `(ip, pid, device)`, and not a tuple of two addresses.
fn is_one_location(items: &[Value]) -> bool {
    matches!(
        items,
        [Value::Text(_), Value::Int(_) | Value::Bool(_) | Value::Float(_) | Value::Huge(_), ..]
    )
}

fn read_one(value: &Value, path: Path<'_>, found: &mut Findings) -> Option<Location> {
    match value {
        Value::Int(rank @ 0..) => {
            let message = format!("location {rank} is a rank; use a tuple (ip, pid[, device])");
            found.add_strict(path(), "location-type", message);
            Some(Location { rank: Some(*rank as u64), ..Location::default() })
        }
        Value::Text(ip) => {
            let message = format!("location {:?} is an address; use a tuple (ip, pid)", clip(ip));
            found.add_strict(path(), "location-type", message);
            Some(Location { ip: Some(Arc::clone(ip)), ..Location::default() })
        }
        Value::Tuple(items) | Value::List(items) => read_tuple(items, path, found),
        _ => {
            let message = format!(
                "location {} is a {}; use a tuple (ip, pid[, device]), a rank or an address",
                value.words(),
                value.kind()
            );
            found.add(path(), "location-type", message);
            None
        }
    }
}

fn read_tuple(items: &[Value], path: Path<'_>, found: &mut Findings) -> Option<Location> {
    let wrong = |found: &mut Findings, reason, message: String| {
        found.add(path(), reason, message);
        None
    };
    let (ip, pid, device) = match items {
        [ip, pid] => (ip, pid, None),
        [ip, pid, device] => (ip, pid, Some(device)),
        _ => {
            let message = format!("location of {} items; use (ip, pid[, device])", items.len());
            return wrong(found, "location-type", message);
        }
    };
    let Value::Text(ip) = ip else {
        let message = format!("address {} is a {}; use text", ip.words(), ip.kind());
        return wrong(found, "location-ip", message);
    };
    let pid = match pid {
        Value::Int(pid @ 0..) => *pid as u64,
        _ => {
            let message = format!("process id {} is none; use an integer from 0", pid.words());
            return wrong(found, "location-pid", message);
        }
    };
    let words = match device {
        Some(Value::Text(words)) => Some(Arc::clone(words)),
        _ => None,
    };
    let device = match device {
        None | Some(Value::Null) => None,
        Some(device) => Some(read_device(device, path, found)?),
    };
    let ip = Some(Arc::clone(ip));
    Some(Location { rank: None, ip, pid: Some(pid), device, device_words: words })
}

fn read_device(value: &Value, path: Path<'_>, found: &mut Findings) -> Option<Device> {
    if let Value::Text(text) = value
        && let Some(device) = Device::parse(text)
    {
        return Some(device);
    }
    let hint = match value {
        Value::Text(text) if text.starts_with("cuda") => " (torch's cuda:0 is kDLCUDA:0)",
        Value::Text(text) if text.starts_with("cpu") => " (torch's cpu is kDLCPU)",
        _ => "",
    };
    let message = format!(
        "device {} is none of DLPack; use a name such as kDLCPU or kDLCUDA:0{hint}",
        value.words()
    );
    found.add(path(), "location-device", message);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_a_name_and_an_index() {
        let read = |text| Device::parse(text).map(|device| (device.code, device.index));
        assert_eq!(read("kDLCPU"), Some((1, 0)));
        assert_eq!(read("kDLCPU:0"), Some((1, 0)));
        assert_eq!(read("kDLOneAPI:1"), Some((14, 1)));
        for wrong in ["cuda:0", "kDLFoo", "kDLCUDA:-1", "kDLCUDA:x", "kDLCUDA:", "", "kDLCUDA:+1"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(Device { code: 14, index: 1 }.name(), "kDLOneAPI:1");
    }

    #[test]
    fn names_of_one_memory_agree() {
        let may =
            |a: &str, b: &str| Device::parse(a).zip(Device::parse(b)).map(|(a, b)| a.may_be(b));
        for (a, b) in
            [("kDLCPU", "kDLCPU:1"), ("kDLCPU", "kDLCUDAHost"), ("kDLCUDAManaged", "kDLCUDA:2")]
        {
            assert_eq!((may(a, b), may(b, a)), (Some(true), Some(true)), "{a} {b}");
        }
        for (a, b) in
            [("kDLCPU", "kDLCUDA"), ("kDLCUDA:0", "kDLCUDA:1"), ("kDLCUDAHost", "kDLCUDA")]
        {
            assert_eq!((may(a, b), may(b, a)), (Some(false), Some(false)), "{a} {b}");
        }
    }
}
