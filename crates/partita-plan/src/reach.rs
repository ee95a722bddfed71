//! Who talks to whom along the grid axes that serve no dimension: replicas and summands.
//!
//! The rules, which sender and receiver compute alike:
//! - A target rank that holds a copy of the source data itself takes it from itself. Others take
//!   it from the replica whose number is their place modulo the number of replicas, which spreads
//!   the load evenly.
//! - Layouts with equally many summands pair them one to one. Otherwise all summands of the source
//!   are added into the first of the target, and the target's others are zero.

use partita_layout::{Form, GridForm, Layout, Place};

/// The extra grid axes of both layouts of a plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach<'a> {
    source: &'a Layout,
    pub n_replicas: u64,
    pub n_summands: u64,
    pub n_target_replicas: u64,
    pub n_target_summands: u64,
}

impl<'a> Reach<'a> {
    pub(crate) fn new(source: &'a Layout, target: &Layout) -> Self {
        let (n_replicas, n_summands) = extra(source);
        let (n_target_replicas, n_target_summands) = extra(target);
        Self { source, n_replicas, n_summands, n_target_replicas, n_target_summands }
    }

    /// Whether summands go one to one.
    pub(crate) fn is_paired(&self) -> bool {
        self.n_summands == self.n_target_summands
    }

    /// Summands of the source that reach a summand of the target.
    pub(crate) fn sources_of(&self, target_summand: u64) -> std::ops::Range<u64> {
        match target_summand {
            one if self.is_paired() => one..one + 1,
            0 => 0..self.n_summands,
            _ => 0..0,
        }
    }

    /// The summand of the target that a summand of the source reaches.
    pub(crate) fn target_of(&self, source_summand: u64) -> u64 {
        if self.is_paired() { source_summand } else { 0 }
    }

    /// The replica that gives the source data at `wanted` to a target rank.
    pub(crate) fn replica_for(&self, wanted: &Place, rank: u64, target_place: u64) -> u64 {
        if self.n_replicas == 1 {
            return 0;
        }
        match self.own_place(rank) {
            Some(own) if own.coordinates == wanted.coordinates && own.summand == wanted.summand => {
                own.replica
            }
            _ => target_place % self.n_replicas,
        }
    }

    fn own_place(&self, rank: u64) -> Option<Place> {
        grid_form(self.source).and_then(|form| form.place(rank))
    }
}

pub(crate) fn grid_form(layout: &Layout) -> Option<&GridForm> {
    match layout.form() {
        Form::Grid(form) => Some(form),
        Form::Boxes(_) => None,
    }
}

fn extra(layout: &Layout) -> (u64, u64) {
    grid_form(layout).map_or((1, 1), |form| (form.grid().n_replicas(), form.grid().n_summands()))
}
