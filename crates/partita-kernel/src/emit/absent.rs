//! No machine code on this processor: the tile machine computes everything.

mod access;

pub use access::{Access, GROUP};

use crate::math::Level;
use crate::tiles::Code;
use std::marker::PhantomData;

/// There is none.
#[derive(Debug)]
pub enum Fused {}

/// There is none.
#[derive(Debug)]
pub struct Loop<'a> {
    never: Fused,
    fused: PhantomData<&'a Fused>,
}

impl Loop<'_> {
    /// Never called.
    ///
    /// # Safety
    /// None needed.
    pub unsafe fn call(&self, _: *const *mut u8, _: usize, _: usize, _: *const isize) {
        match self.never {}
    }
}

/// One piece of work: a step by its number.
#[derive(Debug)]
pub enum Work {
    /// Emitted code.
    Fused(Fused),
    /// A tile function.
    Step(usize),
}

/// Nothing.
pub fn fuse(_: &Code, _: Level) -> Option<Vec<Work>> {
    None
}

/// Nothing to wait for.
pub fn fence() {}

impl Fused {
    /// Never called.
    ///
    /// # Safety
    /// None needed.
    pub unsafe fn call(&self, _: *const *mut u8, _: usize) {
        match *self {}
    }

    /// Never called.
    pub fn version(&self, _: Access) -> Option<Loop<'_>> {
        match *self {}
    }

    /// Never called.
    pub fn can_stream(&self) -> bool {
        match *self {}
    }

    /// Never called.
    pub fn can_group(&self, _: usize) -> bool {
        match *self {}
    }

    /// Never called.
    pub fn can_repeat(&self, _: u16) -> bool {
        match *self {}
    }

    /// Never called.
    pub fn written(&self) -> std::iter::Empty<u16> {
        match *self {}
    }

    /// Never called.
    pub fn pads_bytes(&self) -> bool {
        match *self {}
    }

    /// Never called.
    pub fn has_bytes(&self) -> bool {
        match *self {}
    }

    /// Never called.
    pub fn slots(&self) -> (Vec<u16>, Vec<u16>) {
        match *self {}
    }

    /// Never called.
    pub fn bytes(&self, _: Access) -> Vec<u8> {
        match *self {}
    }
}
