//! Programs on distributed arrays: the dialects `ndarray`, `dist`, `distruntime`, `region` and
//! `partition`, with the functions, arithmetic and loops that programs need around them.
//!
//! A [`Module`] is a program in memory. The array front end builds one with a [`Builder`], the
//! text tool reads one from a file; passes change it. [`table`] has every operation.
//!
//! The crate starts no thread, reads no environment and has no `unsafe`.

#![forbid(unsafe_code)]

mod attr;
mod builder;
mod builtin;
mod diagnostic;
mod enums;
mod irdl;
mod kind;
mod listed;
pub mod model;
mod module;
mod pages;
pub mod passes;
mod slices;
pub mod table;
mod text;
mod types;
mod verify;

pub use attr::{Attr, Attrs, DialectAttr, Float, Name, Placement};
pub use builder::{Builder, Entry, Slices};
pub use diagnostic::{Diagnostic, Diagnostics, IrError, marked_line};
pub use enums::{CmpF, CmpI, DType, EwBin, EwUny, Reduce};
pub use irdl::{Llvm, irdl};
pub use kind::OpKind;
pub use listed::listed;
pub use module::{Block, Location, Mapping, Module, NewOp, Op, Ops, Source, Use, Value};
pub use pages::page;
pub use slices::{Reach, kept_dims};
pub use text::{Form, SyntaxError, float_text, parse, parse_bytes, parse_type, print, type_text};
pub use types::{
    ArrayType, DYNAMIC, DistEnv, Env, FunctionType, Grid, MAX_CUTS, MemRefType, Scalar, Sign, Size,
    TensorType, Type, by_x, shapes_may_equal,
};
pub use verify::{VerifyError, verify};
