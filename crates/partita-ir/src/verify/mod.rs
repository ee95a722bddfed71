//! Whether a program makes sense.
//!
//! First every operation is held against the table: groups, types, attributes, nested blocks. An
//! operation that passes is then judged by the rules of its dialect, which may rely on that. All
//! problems are told, in the order of the text.

mod arith;
mod arrays;
mod delete;
mod dist;
mod env;
mod error;
mod flow;
mod ndarray;
mod operators;
mod partition;
mod slice;
mod table;

pub use error::VerifyError;

use crate::diagnostic::Diagnostics;
use crate::module::{Module, Op, Source, Value};
use crate::table::{DIALECTS, OWN_DIALECTS, OpInfo, Traits};
use crate::text::{Form, type_text};
use crate::types::{Size, Type, by_x};

/// Checks a program.
///
/// ```
/// let module = partita_ir::parse("func.func @f(%x: index) -> f64 { return %x : index }")?;
/// let found = partita_ir::verify(&module).expect_err("another type");
/// assert_eq!(found.reasons(), ["return-types"]);
/// # Ok::<(), partita_ir::Diagnostics>(())
/// ```
///
/// # Errors
/// Everything that is wrong, each with the place of its operation.
pub fn verify(module: &Module) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::default();
    flow::functions(module, &mut found);
    for op in module.walk(module.top()) {
        let before = found.len();
        let mut check = Check { module, op, found: &mut found };
        check.uses();
        check.blocks_end();
        let Some(info) = module.info(op) else {
            check.known();
            continue;
        };
        check.against_table(info);
        if check.found.len() == before {
            check.by_dialect(info);
        }
    }
    found.into_result()
}

/// One operation under judgement.
struct Check<'m> {
    module: &'m Module,
    op: Op,
    found: &'m mut Diagnostics,
}

impl Check<'_> {
    fn by_dialect(&mut self, info: &OpInfo) {
        self.environments();
        match info.kind.dialect() {
            "ndarray" => {
                self.one_team();
                self.ndarray();
            }
            "dist" | "distruntime" => {
                self.one_team();
                self.dist();
            }
            "partition" => self.partition(),
            "arith" | "math" => self.arith(),
            _ => self.flow(),
        }
    }

    /// Operations of other dialects are let through, unknown ones of ours are not.
    fn known(&mut self) {
        let name = self.name();
        let dialect = name.split('.').next().unwrap_or_default();
        let own = DIALECTS[..OWN_DIALECTS].iter().find(|own| own.name == dialect);
        if let Some(own) = own {
            let short = |info: &OpInfo| info.kind.name()[dialect.len() + 1..].to_string();
            let known = own.ops.iter().map(short).collect::<Vec<_>>().join(", ");
            let dialect = dialect.to_string();
            self.report(VerifyError::OperationUnknown { op: name, dialect, known });
        }
    }

    fn report(&mut self, error: VerifyError) {
        let location = self.module.location(self.op);
        self.found.push(error, location);
    }

    fn name(&self) -> String {
        self.module.name(self.op).to_string()
    }

    fn ty(&self, value: Value) -> &Type {
        self.module.ty(value)
    }

    fn operand_types(&self) -> Vec<&Type> {
        self.module.operands(self.op).iter().map(|value| self.module.ty(*value)).collect()
    }

    /// A group's values; the table was checked, so they are there.
    fn group(&self, name: &str) -> &[Value] {
        self.module.operands_named(self.op, name)
    }

    /// The type of the one value of a group.
    fn single(&self, name: &str) -> &Type {
        self.group(name).first().map_or(&Type::None, |value| self.module.ty(*value))
    }

    fn result(&self) -> &Type {
        self.module.results(self.op).first().map_or(&Type::None, |value| self.module.ty(*value))
    }

    /// Every operand is defined where it can be seen.
    fn uses(&mut self) {
        for value in self.module.operands(self.op).to_vec() {
            if !self.module.dominates(value, self.op) {
                let (op, value) = (self.name(), value_text(self.module, value));
                self.report(VerifyError::UseBeforeDefinition { op, value });
            }
        }
    }

    /// An operation that ends a block is its last.
    fn blocks_end(&mut self) {
        let ends = self.module.kind(self.op).traits().has(Traits::TERMINATOR);
        if ends && self.module.next_op(self.op).is_some() {
            let wanted = self.name();
            let op = self.owner_name();
            self.report(VerifyError::BlockEnd { op, wanted });
        }
    }

    fn owner_name(&self) -> String {
        let owner = self.module.block_of(self.op).and_then(|block| self.module.owner(block));
        owner.map_or("the module".into(), |owner| self.module.name(owner).to_string())
    }
}

/// A value for messages: its name, or what it is.
fn value_text(module: &Module, value: Value) -> String {
    match (module.hint(value), module.source(value)) {
        (Some(hint), _) => format!("%{hint}"),
        (None, Source::Result { op, number }) => format!("result {number} of {}", module.name(op)),
        (None, Source::Argument { number, .. }) => format!("%arg{number}"),
    }
}

fn shown(ty: &Type) -> String {
    type_text(ty, Form::Rfc)
}

fn shown_all<'a>(types: impl IntoIterator<Item = &'a Type>) -> String {
    types.into_iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// A shape for messages.
fn shape_text(shape: &[Size]) -> String {
    if shape.is_empty() { "of 0 dimensions".into() } else { by_x(shape) }
}
