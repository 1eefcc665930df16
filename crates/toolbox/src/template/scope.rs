//! The names set by a template, and the position of its loops.

use super::TemplateError;
use super::value::TemplateValue;

/// Limit on names set at the same time: lookup is linear.
const MAX_NAMES: usize = 500;

/// The current iteration of a loop, available as `loop`.
#[derive(Clone, Copy)]
pub(crate) struct LoopPosition {
    pub(crate) index: usize,
    pub(crate) length: usize,
}

impl LoopPosition {
    pub(crate) fn attribute(self, name: &str) -> Option<TemplateValue<'static>> {
        Some(match name {
            "index" => TemplateValue::computed(self.index + 1),
            "index0" => TemplateValue::computed(self.index),
            "revindex" => TemplateValue::computed(self.length - self.index),
            "revindex0" => TemplateValue::computed(self.length - self.index - 1),
            "first" => TemplateValue::computed(self.index == 0),
            "last" => TemplateValue::computed(self.index + 1 == self.length),
            "length" => TemplateValue::computed(self.length),
            _ => return None,
        })
    }
}

/// Names in the order they were set; the latest entry of a name is its value.
#[derive(Default)]
pub(crate) struct TemplateScope<'r> {
    names: Vec<(&'r str, TemplateValue<'r>)>,
    /// Index of the first name set in the innermost loop or `with`.
    start: usize,
}

impl<'r> TemplateScope<'r> {
    pub(crate) fn find(&self, name: &str) -> Option<&TemplateValue<'r>> {
        self.names.iter().rev().find(|(set, _)| *set == name).map(|(_, value)| value)
    }

    /// Sets a name in the innermost scope only, as Jinja does: names set in a loop end with it.
    pub(crate) fn set(
        &mut self,
        name: &'r str,
        value: TemplateValue<'r>,
    ) -> Result<(), TemplateError> {
        let index = self.names[self.start..].iter().position(|(set, _)| *set == name);
        match index {
            Some(index) => self.names[self.start + index].1 = value,
            None if self.names.len() < MAX_NAMES => self.names.push((name, value)),
            None => return Err(TemplateError::failed("it sets too many names")),
        }
        Ok(())
    }

    /// Opens a scope and returns the value to pass to `close`.
    pub(crate) fn open(&mut self) -> usize {
        std::mem::replace(&mut self.start, self.names.len())
    }

    pub(crate) fn close(&mut self, outer: usize) {
        self.names.truncate(self.start);
        self.start = outer;
    }
}
