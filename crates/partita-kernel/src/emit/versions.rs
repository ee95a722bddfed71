//! The versions of one loop: as it is for tiles and small calls, and others made when asked for.

use super::access::Access;
use super::assemble;
use super::pages::Pages;
use super::segment::Segment;
use std::sync::{Arc, PoisonError, RwLock};

/// Versions that are kept beside the plain one; the oldest goes first.
const MOST: usize = 8;

/// Code of a segment for several kinds of access to memory.
#[derive(Debug)]
pub struct Versions {
    plain: Pages,
    others: RwLock<Vec<(Access, Arc<Pages>)>>,
}

impl Versions {
    /// The plain one; nothing where the system forbids code.
    pub fn new(segment: &Segment) -> Option<Versions> {
        let plain = emit(segment, Access::default())?;
        Some(Versions { plain, others: RwLock::default() })
    }

    /// The one that reads and writes contiguous rows through the cache.
    #[inline]
    pub fn plain(&self) -> *const u8 {
        self.plain.start()
    }

    /// The one for an access, which is emitted if it was not asked for lately; nothing where the
    /// system forbids more code.
    pub fn find(&self, segment: &Segment, access: Access) -> Option<Arc<Pages>> {
        {
            let others = self.others.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = others.iter().find(|other| other.0 == access) {
                return Some(known.1.clone());
            }
        }
        let pages = Arc::new(emit(segment, access)?);
        let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
        if others.len() == MOST {
            others.remove(0);
        }
        others.push((access, pages.clone()));
        Some(pages)
    }
}

fn emit(segment: &Segment, access: Access) -> Option<Pages> {
    let code = assemble::assemble(segment, access);
    debug_assert!(code.is_ok(), "{code:?} for {segment:?}");
    Pages::new(&code.ok()?)
}
