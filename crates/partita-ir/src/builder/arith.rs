//! Arithmetic of numbers.

use super::Builder;
use crate::attr::{Attr, Float};
use crate::enums::{CmpF, CmpI};
use crate::kind::OpKind;
use crate::module::{NewOp, Value};
use crate::types::{Scalar, Type};

macro_rules! binary {
    ($($(#[$about:meta])* $name:ident $kind:ident;)*) => {
        impl Builder<'_> {
            $($(#[$about])*
            pub fn $name(&mut self, lhs: Value, rhs: Value) -> Value {
                let ty = self.ty(lhs);
                self.simple(OpKind::$kind, &[lhs, rhs], ty)
            })*
        }
    };
}

binary! {
    /// `arith.addi`
    addi ArithAddi;
    /// `arith.subi`
    subi ArithSubi;
    /// `arith.muli`
    muli ArithMuli;
    /// `arith.divsi`
    divsi ArithDivsi;
    /// `arith.divui`
    divui ArithDivui;
    /// `arith.ceildivsi`
    ceildivsi ArithCeildivsi;
    /// `arith.floordivsi`
    floordivsi ArithFloordivsi;
    /// `arith.remsi`
    remsi ArithRemsi;
    /// `arith.maxsi`
    maxsi ArithMaxsi;
    /// `arith.minsi`
    minsi ArithMinsi;
    /// `arith.andi`
    andi ArithAndi;
    /// `arith.ori`
    ori ArithOri;
    /// `arith.xori`
    xori ArithXori;
    /// `arith.addf`
    addf ArithAddf;
    /// `arith.subf`
    subf ArithSubf;
    /// `arith.mulf`
    mulf ArithMulf;
    /// `arith.divf`
    divf ArithDivf;
    /// `arith.maximumf`
    maximumf ArithMaximumf;
    /// `arith.minimumf`
    minimumf ArithMinimumf;
}

impl Builder<'_> {
    /// A constant; its type is the attribute's.
    pub fn constant(&mut self, value: Attr) -> Value {
        let ty = match &value {
            Attr::Dense(_, ty) => ty.clone(),
            other => other.scalar().map_or(Type::None, Type::Scalar),
        };
        self.value(NewOp::new(OpKind::ArithConstant).attr("value", value).result(ty))
    }

    /// A constant `index`.
    pub fn index(&mut self, number: i64) -> Value {
        self.constant(Attr::index(number))
    }

    /// A constant integer of a type.
    pub fn int(&mut self, number: i64, scalar: Scalar) -> Value {
        let truth = scalar == Scalar::BOOL;
        self.constant(if truth { Attr::Bool(number != 0) } else { Attr::Int(number, scalar) })
    }

    /// A constant floating number of a type.
    pub fn float(&mut self, number: f64, scalar: Scalar) -> Value {
        self.constant(Attr::Float(Float(number), scalar))
    }

    /// `arith.cmpi`
    pub fn cmpi(&mut self, predicate: CmpI, lhs: Value, rhs: Value) -> Value {
        let new = NewOp::new(OpKind::ArithCmpi).operands(&[lhs, rhs]).result(Type::BOOL);
        self.value(new.attr("predicate", Attr::i64(predicate.number())))
    }

    /// `arith.cmpf`
    pub fn cmpf(&mut self, predicate: CmpF, lhs: Value, rhs: Value) -> Value {
        let new = NewOp::new(OpKind::ArithCmpf).operands(&[lhs, rhs]).result(Type::BOOL);
        self.value(new.attr("predicate", Attr::i64(predicate.number())))
    }

    /// `arith.select`
    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let ty = self.ty(yes);
        self.simple(OpKind::ArithSelect, &[condition, yes, no], ty)
    }

    /// A cast of `arith` to a type, such as `arith.index_cast`.
    pub fn cast(&mut self, kind: OpKind, value: Value, to: Scalar) -> Value {
        self.simple(kind, &[value], to.into())
    }

    /// A function of `math` of one number.
    pub fn math(&mut self, kind: OpKind, value: Value) -> Value {
        let ty = self.ty(value);
        self.simple(kind, &[value], ty)
    }
}
