//! What one rendering may cost.

use std::cell::Cell;
use std::fmt;

use serde_json::Value;

use super::TemplateError;

/// Statements, expressions and rounds of loops.
pub(super) const STEPS: u32 = 200_000;
/// Bytes of everything that is made on the way, the result included. What was made is not given back: the sum bounds
/// both the memory and the copying.
pub(super) const BYTES: usize = 8 * 1024 * 1024;
/// Bytes that are looked at without being copied: a comparison takes time, but no memory.
const LOOKS: usize = 64 * 1024 * 1024;

pub(super) struct Budget {
    steps: Cell<u32>,
    bytes: Cell<usize>,
    looks: Cell<usize>,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { steps: Cell::new(STEPS), bytes: Cell::new(BYTES), looks: Cell::new(LOOKS) }
    }

    pub(super) fn step(&self) -> Result<(), TemplateError> {
        let left = self.steps.get().checked_sub(1).ok_or(TemplateError::TooLong)?;
        self.steps.set(left);
        Ok(())
    }

    /// Pays for bytes. Call it before they are allocated.
    pub(super) fn pay(&self, bytes: usize) -> Result<(), TemplateError> {
        let left = self.bytes.get().checked_sub(bytes).ok_or(TemplateError::TooLarge)?;
        self.bytes.set(left);
        Ok(())
    }

    pub(super) fn look(&self, bytes: usize) -> Result<(), TemplateError> {
        let left = self.looks.get().checked_sub(bytes).ok_or(TemplateError::TooLong)?;
        self.looks.set(left);
        Ok(())
    }

    /// A copy of a value, paid for.
    pub(super) fn copy(&self, value: &Value) -> Result<Value, TemplateError> {
        self.pay(weight(value))?;
        Ok(value.clone())
    }
}

/// About the bytes that a value takes in memory.
pub(super) fn weight(value: &Value) -> usize {
    const NODE: usize = size_of::<Value>();
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => NODE,
        Value::String(text) => NODE + text.len(),
        Value::Array(items) => NODE + items.iter().map(weight).sum::<usize>(),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| 2 * NODE + key.len() + weight(value);
            NODE + fields.iter().map(field).sum::<usize>()
        }
    }
}

/// Text under construction. A write that the budget does not cover fails and leaves the text as it is.
pub(super) struct Text<'b> {
    text: String,
    budget: &'b Budget,
}

impl<'b> Text<'b> {
    pub(super) fn new(budget: &'b Budget) -> Self {
        Self { text: String::new(), budget }
    }

    pub(super) fn push(&mut self, part: &str) -> Result<(), TemplateError> {
        self.budget.pay(part.len())?;
        self.text.push_str(part);
        Ok(())
    }

    pub(super) fn budget(&self) -> &'b Budget {
        self.budget
    }

    pub(super) fn into_string(self) -> String {
        self.text
    }
}

impl fmt::Write for Text<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.push(part).map_err(|_| fmt::Error)
    }
}

/// The only way in which formatting into a [`Text`] can fail.
impl From<fmt::Error> for TemplateError {
    fn from(_: fmt::Error) -> Self {
        Self::TooLarge
    }
}
