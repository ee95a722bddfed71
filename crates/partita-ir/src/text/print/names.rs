//! Names of values: those of the text where they say something, numbers elsewhere.

use std::collections::{HashMap, HashSet};

use crate::module::{Module, Value};

#[derive(Debug, Default)]
pub(super) struct Names {
    known: HashMap<Value, String>,
    /// Names that are visible, by nesting.
    used: HashSet<String>,
    scopes: Vec<Vec<String>>,
    next: usize,
    next_argument: usize,
    /// The number behind a name that was taken, by name: copies of one value may be thousands.
    next_copy: HashMap<String, usize>,
}

impl Names {
    /// Names from here on are forgotten by [`Names::leave`].
    pub(super) fn enter(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub(super) fn leave(&mut self) {
        for name in self.scopes.pop().unwrap_or_default() {
            self.used.remove(&name);
        }
    }

    /// A value's name with its `%`; one that was never named is shown by its number.
    pub(super) fn get(&self, value: Value) -> &str {
        self.known.get(&value).map_or("%undefined", String::as_str)
    }

    /// Names an argument.
    pub(super) fn argument(&mut self, module: &Module, value: Value) -> String {
        let name = match module.hint(value) {
            Some(hint) => self.fresh(hint),
            None => {
                let name = format!("arg{}", self.next_argument);
                self.next_argument += 1;
                self.fresh(&name)
            }
        };
        let text = format!("%{name}");
        self.known.insert(value, text.clone());
        text
    }

    /// Names results; gives what stands before the operation.
    pub(super) fn results(&mut self, module: &Module, results: &[Value]) -> String {
        match results {
            [] => String::new(),
            [one] => {
                let name = self.result(module, *one);
                format!("{name} = ")
            }
            several if several.iter().all(|value| module.hint(*value).is_some()) => {
                let names: Vec<String> = several.iter().map(|v| self.result(module, *v)).collect();
                format!("{} = ", names.join(", "))
            }
            [first, ..] => {
                let name = self.result(module, *first);
                for (number, value) in results.iter().enumerate() {
                    self.known.insert(*value, format!("{name}#{number}"));
                }
                format!("{name}:{} = ", results.len())
            }
        }
    }

    fn result(&mut self, module: &Module, value: Value) -> String {
        let name = match module.hint(value) {
            Some(hint) => self.fresh(hint),
            None => {
                let name = self.next.to_string();
                self.next += 1;
                self.fresh(&name)
            }
        };
        let text = format!("%{name}");
        self.known.insert(value, text.clone());
        text
    }

    /// The name, or with a number behind it where it is taken.
    fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        while self.used.contains(&name) {
            let number = self.next_copy.entry(wanted.to_string()).or_default();
            name = format!("{wanted}_{number}");
            *number += 1;
        }
        self.used.insert(name.clone());
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name.clone());
        }
        name
    }
}
