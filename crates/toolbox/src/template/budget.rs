//! The limits of one rendering.

use std::cell::Cell;
use std::fmt;

use serde_json::Value;

use super::TemplateError;

/// Limit on statements, expressions and loop iterations.
pub(crate) const STEPS: u32 = 200_000;
/// Limit on all bytes created, including intermediate values. Freed values are not credited, so the total bounds both
/// memory and copying.
pub(crate) const BYTES: usize = 8 * 1024 * 1024;
/// Limit on bytes read without being copied: a comparison takes time, but no memory.
const READ_BYTES: usize = 64 * 1024 * 1024;

pub(crate) struct RenderBudget {
    steps: Cell<u32>,
    bytes: Cell<usize>,
    read_bytes: Cell<usize>,
}

impl RenderBudget {
    pub(crate) fn new() -> Self {
        Self { steps: Cell::new(STEPS), bytes: Cell::new(BYTES), read_bytes: Cell::new(READ_BYTES) }
    }

    pub(crate) fn step(&self) -> Result<(), TemplateError> {
        let left = self.steps.get().checked_sub(1).ok_or(TemplateError::TooManySteps)?;
        self.steps.set(left);
        Ok(())
    }

    /// Charges bytes. Call it before they are allocated.
    pub(crate) fn charge(&self, bytes: usize) -> Result<(), TemplateError> {
        let left = self.bytes.get().checked_sub(bytes).ok_or(TemplateError::TooLarge)?;
        self.bytes.set(left);
        Ok(())
    }

    pub(crate) fn charge_read(&self, bytes: usize) -> Result<(), TemplateError> {
        let left = self.read_bytes.get().checked_sub(bytes).ok_or(TemplateError::TooManySteps)?;
        self.read_bytes.set(left);
        Ok(())
    }

    /// Copies a value and charges its size.
    pub(crate) fn copy(&self, value: &Value) -> Result<Value, TemplateError> {
        self.charge(byte_size(value))?;
        Ok(value.clone())
    }
}

/// Approximate size of a value in memory, in bytes.
pub(crate) fn byte_size(value: &Value) -> usize {
    const NODE: usize = size_of::<Value>();
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => NODE,
        Value::String(text) => NODE + text.len(),
        Value::Array(items) => NODE + items.iter().map(byte_size).sum::<usize>(),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| 2 * NODE + key.len() + byte_size(value);
            NODE + fields.iter().map(field).sum::<usize>()
        }
    }
}

/// A string builder that charges the budget. A write beyond the budget fails and leaves the text unchanged.
pub(crate) struct BudgetedText<'b> {
    text: String,
    budget: &'b RenderBudget,
}

impl<'b> BudgetedText<'b> {
    pub(crate) fn new(budget: &'b RenderBudget) -> Self {
        Self { text: String::new(), budget }
    }

    pub(crate) fn push(&mut self, part: &str) -> Result<(), TemplateError> {
        self.budget.charge(part.len())?;
        self.text.push_str(part);
        Ok(())
    }

    pub(crate) fn budget(&self) -> &'b RenderBudget {
        self.budget
    }

    pub(crate) fn into_string(self) -> String {
        self.text
    }
}

impl fmt::Write for BudgetedText<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.push(part).map_err(|_| fmt::Error)
    }
}

/// Formatting into a [`BudgetedText`] can only fail because the budget is exhausted.
impl From<fmt::Error> for TemplateError {
    fn from(_: fmt::Error) -> Self {
        Self::TooLarge
    }
}
