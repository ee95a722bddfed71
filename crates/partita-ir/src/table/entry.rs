//! What an entry of the table is made of.

use crate::kind::OpKind;

/// One operation.
#[derive(Debug, Clone, Copy)]
pub struct OpInfo {
    /// Which.
    pub kind: OpKind,
    /// One sentence.
    pub summary: &'static str,
    /// Operands, in groups.
    pub operands: &'static [Group],
    /// Results, in groups. Groups of any length are equally long.
    pub results: &'static [Group],
    /// Attributes.
    pub attrs: &'static [AttrSpec],
    /// Fewest and most nested blocks.
    pub n_regions: (usize, usize),
    /// What it promises.
    pub traits: Traits,
    /// How the specification's form writes it; nothing for the usual way.
    pub form: &'static [Piece],
    /// How that form writes its types.
    pub tail: Tail,
}

/// A piece of an operation in the specification's form. Groups and attributes go by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// The values of a group, commas between them.
    Values(&'static str),
    /// A word and the values of a group, if there are any.
    Keyed(&'static str, &'static str),
    /// The values of a group in brackets.
    Bracket(&'static str),
    /// All operands in parentheses.
    Call,
    /// A word that is always there.
    Word(&'static str),
    /// A comma.
    Comma,
    /// `[offsets][sizes][strides]`, numbers and values mixed.
    Slice,
    /// The `op` attribute by its name.
    Operator,
    /// The name of an attribute that is there or true.
    Flag(&'static str),
    /// `[1, 0]`: an attribute of numbers.
    Numbers(&'static str),
}

/// How types are written behind an operation in the specification's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// `(all operands) -> results`
    Arrow,
    /// `(operands that are no index) to results`
    To,
    /// `first into second`, for an operation without results.
    Into,
    /// `(results)`
    Results,
}

/// Operands or results that belong together.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// Name in messages and pages.
    pub name: &'static str,
    /// How many.
    pub count: Count,
    /// Which types.
    pub rule: TypeRule,
}

impl Group {
    /// IRDL binds a group to one type: a group whose types may differ is written there as several,
    /// enough for the parts of an array with two cut dimensions.
    #[must_use]
    pub fn n_irdl_groups(&self) -> usize {
        match (self.count, self.rule) {
            (Count::Any, TypeRule::Index) | (Count::One | Count::Optional, _) => 1,
            (Count::Any, _) => 9,
        }
    }
}

/// How many values a group has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// One.
    One,
    /// None or one.
    Optional,
    /// Any number.
    Any,
}

impl Count {
    /// Whether a group may have so many.
    #[must_use]
    pub fn allows(self, n: usize) -> bool {
        match self {
            Self::One => n == 1,
            Self::Optional => n <= 1,
            Self::Any => true,
        }
    }
}

/// Which types a value of a group may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeRule {
    /// Any.
    Any,
    /// `index`.
    Index,
    /// `i1`, or an array, tensor of it.
    Bool,
    /// `i1` alone.
    OneBool,
    /// An integer, `index` included; or an array, tensor of them.
    Integer,
    /// A floating number; or a tensor of them.
    Float,
    /// A single number of any type.
    Number,
    /// `!ndarray.ndarray`.
    Array,
    /// `!ndarray.ndarray` with a `#dist.dist_env`.
    DistArray,
    /// `!ndarray.ndarray` without a `#dist.dist_env`, a memref or a tensor.
    LocalArray,
    /// `memref`.
    MemRef,
    /// `tensor`.
    Tensor,
    /// `!distruntime.asynchandle`.
    Handle,
}

impl TypeRule {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Any => "any type",
            Self::Index => "index",
            Self::Bool => "i1 or a tensor of i1",
            Self::OneBool => "i1",
            Self::Integer => "an integer, index, or a tensor of them",
            Self::Float => "a floating number or a tensor of them",
            Self::Number => "a number",
            Self::Array => "an ndarray",
            Self::DistArray => "a distributed ndarray",
            Self::LocalArray => "an ndarray that is not distributed, a memref or a tensor",
            Self::MemRef => "a memref",
            Self::Tensor => "a tensor",
            Self::Handle => "!distruntime.asynchandle",
        }
    }
}

/// An attribute an operation may have.
#[derive(Debug, Clone, Copy)]
pub struct AttrSpec {
    /// Its name.
    pub name: &'static str,
    /// What it must be.
    pub rule: AttrRule,
    /// Whether it must be there.
    pub required: bool,
    /// What it says.
    pub summary: &'static str,
}

/// What an attribute must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttrRule {
    /// Anything.
    Any,
    /// An integer of any type.
    Int,
    /// A truth value.
    Bool,
    /// A text.
    Text,
    /// There, or not.
    Unit,
    /// `array<i64: ..>`.
    I64s,
    /// A number of [`crate::EwBin`].
    EwBin,
    /// A number of [`crate::EwUny`].
    EwUny,
    /// A number of [`crate::Reduce`].
    Reduce,
    /// A number of [`crate::CmpI`].
    CmpI,
    /// A number of [`crate::CmpF`].
    CmpF,
    /// A number of [`crate::DType`].
    DType,
    /// A type of functions.
    FunctionType,
    /// `@name`.
    Symbol,
    /// A number with its type.
    Number,
}

impl AttrRule {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Any => "any attribute",
            Self::Int => "an integer",
            Self::Bool => "true or false",
            Self::Text => "a text",
            Self::Unit => "unit",
            Self::I64s => "array<i64: ..>",
            Self::EwBin => "the number of a binary operator",
            Self::EwUny => "the number of a unary operator",
            Self::Reduce => "the number of a reduction",
            Self::CmpI => "the number of a comparison of integers",
            Self::CmpF => "the number of a comparison of floating numbers",
            Self::DType => "the number of an element type",
            Self::FunctionType => "a type of functions",
            Self::Symbol => "a symbol",
            Self::Number => "a number with its type",
        }
    }
}

/// What an operation promises: a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits(u8);

impl Traits {
    /// Nothing special.
    pub const NONE: Self = Self(0);
    /// The results depend on the operands alone and nothing else happens: it may be erased, moved
    /// and merged with its like.
    pub const PURE: Self = Self(1);
    /// It reads memory that others can write.
    pub const READS: Self = Self(2);
    /// It writes or frees memory.
    pub const WRITES: Self = Self(4);
    /// All ranks of the team take part.
    pub const COMMUNICATES: Self = Self(8);
    /// It ends its block.
    pub const TERMINATOR: Self = Self(16);
    /// Its result shares memory with its first operand.
    pub const VIEW: Self = Self(32);
    /// The results are made afresh: nothing else shares their memory.
    pub const FRESH: Self = Self(64);
    /// Anything may happen.
    pub const UNKNOWN: Self = Self(2 + 4 + 8);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` hold.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// In words, for the pages.
    #[must_use]
    pub fn words(self) -> Vec<&'static str> {
        let all = [
            (Self::PURE, "pure"),
            (Self::READS, "reads memory"),
            (Self::WRITES, "writes memory"),
            (Self::COMMUNICATES, "communicates"),
            (Self::TERMINATOR, "ends its block"),
            (Self::VIEW, "gives a view"),
            (Self::FRESH, "gives fresh memory"),
        ];
        all.into_iter().filter(|(one, _)| self.has(*one)).map(|(_, word)| word).collect()
    }
}

pub(super) const fn one(name: &'static str, rule: TypeRule) -> Group {
    Group { name, count: Count::One, rule }
}

pub(super) const fn optional(name: &'static str, rule: TypeRule) -> Group {
    Group { name, count: Count::Optional, rule }
}

pub(super) const fn any(name: &'static str, rule: TypeRule) -> Group {
    Group { name, count: Count::Any, rule }
}

/// Any number of `index` values.
pub(super) const fn indices(name: &'static str) -> Group {
    any(name, TypeRule::Index)
}

pub(super) const fn must(name: &'static str, rule: AttrRule, summary: &'static str) -> AttrSpec {
    AttrSpec { name, rule, required: true, summary }
}

pub(super) const fn may(name: &'static str, rule: AttrRule, summary: &'static str) -> AttrSpec {
    AttrSpec { name, rule, required: false, summary }
}

impl OpInfo {
    pub(super) const fn new(kind: OpKind, summary: &'static str) -> Self {
        Self {
            kind,
            summary,
            operands: &[],
            results: &[],
            attrs: &[],
            n_regions: (0, 0),
            traits: Traits::NONE,
            form: &[],
            tail: Tail::Arrow,
        }
    }

    pub(super) const fn takes(mut self, operands: &'static [Group]) -> Self {
        self.operands = operands;
        self
    }

    pub(super) const fn gives(mut self, results: &'static [Group]) -> Self {
        self.results = results;
        self
    }

    pub(super) const fn knows(mut self, attrs: &'static [AttrSpec]) -> Self {
        self.attrs = attrs;
        self
    }

    pub(super) const fn promises(mut self, traits: Traits) -> Self {
        self.traits = traits;
        self
    }

    pub(super) const fn nests(mut self, fewest: usize, most: usize) -> Self {
        self.n_regions = (fewest, most);
        self
    }

    pub(super) const fn reads(mut self, form: &'static [Piece], tail: Tail) -> Self {
        self.form = form;
        self.tail = tail;
        self
    }

    /// The place of an operand group of a name.
    #[must_use]
    pub fn operand_place(&self, name: &str) -> Option<usize> {
        self.operands.iter().position(|group| group.name == name)
    }

    /// The pieces of the specification's form: those given, or the usual ones, in which single
    /// operands come first and the others behind their names.
    #[must_use]
    pub fn pieces(&self) -> Vec<Piece> {
        if !self.form.is_empty() {
            return self.form.to_vec();
        }
        let mut pieces = Vec::new();
        for group in self.operands {
            if group.count != Count::One {
                pieces.push(Piece::Keyed(group.name, group.name));
                continue;
            }
            if !pieces.is_empty() {
                pieces.push(Piece::Comma);
            }
            pieces.push(Piece::Values(group.name));
        }
        pieces
    }

    /// Whether the lengths of the operand groups must be written down.
    #[must_use]
    pub fn has_segments(&self) -> bool {
        n_open(self.operands) > 1
    }

    /// Whether results come in several groups of any length.
    #[must_use]
    pub fn has_result_segments(&self) -> bool {
        n_open(self.results) > 1
    }

    /// Lengths of groups as they are written down for IRDL; nothing where they follow from the
    /// number of values.
    #[must_use]
    pub fn irdl_lengths(groups: &[Group], lengths: &[usize]) -> Option<Vec<usize>> {
        let mut written = Vec::new();
        for (group, length) in groups.iter().zip(lengths) {
            let (n, mut rest) = (group.n_irdl_groups(), *length);
            for number in 0..n {
                let here = if number + 1 == n { rest } else { rest.min(1) };
                written.push(here);
                rest -= here;
            }
        }
        let n_open: usize =
            groups.iter().filter(|g| g.count != Count::One).map(Group::n_irdl_groups).sum();
        (n_open > 1).then_some(written)
    }

    /// What [`OpInfo::irdl_lengths`] wrote, back to one length per group.
    #[must_use]
    pub fn folded_lengths(groups: &[Group], written: &[u32]) -> Option<Vec<u32>> {
        if written.len() == groups.len() {
            return Some(written.to_vec());
        }
        let mut rest = written.iter();
        let mut lengths = Vec::new();
        for group in groups {
            let here = rest.by_ref().take(group.n_irdl_groups());
            lengths.push(here.fold(0_u32, |sum, n| sum.saturating_add(*n)));
        }
        let total: usize = groups.iter().map(Group::n_irdl_groups).sum();
        (written.len() == total).then_some(lengths)
    }

    /// What is known of an attribute of a name.
    #[must_use]
    pub fn attr(&self, name: &str) -> Option<&'static AttrSpec> {
        self.attrs.iter().find(|spec| spec.name == name)
    }
}

fn n_open(groups: &[Group]) -> usize {
    groups.iter().filter(|group| group.count != Count::One).count()
}
