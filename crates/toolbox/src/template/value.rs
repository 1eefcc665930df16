//! Values of expressions: borrowed from the inputs, or computed.

use std::borrow::Cow;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::TemplateError;
use super::budget::RenderBudget;
use super::print;
use super::scope::LoopPosition;
use crate::values::is_true;

#[derive(Clone)]
pub(crate) enum TemplateValue<'r> {
    Undefined,
    /// Borrowed from the input values.
    Input(&'r Value),
    /// A text literal of the template, or a key of an input.
    Literal(&'r str),
    Computed(Rc<Value>),
    /// Text that is already escaped.
    Markup(Rc<str>),
    /// `loop`
    Loop(LoopPosition),
}

impl<'r> TemplateValue<'r> {
    pub(crate) fn computed(value: impl Into<Value>) -> Self {
        Self::Computed(Rc::new(value.into()))
    }

    /// The JSON value; `None` for literals, markup, loops and undefined values.
    pub(crate) fn as_json(&self) -> Option<&Value> {
        match self {
            Self::Input(value) => Some(value),
            Self::Computed(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Markup(text) => Some(text),
            _ => self.as_json()?.as_str(),
        }
    }

    pub(crate) fn list(&self) -> Option<&[Value]> {
        self.as_json()?.as_array().map(Vec::as_slice)
    }

    pub(crate) fn object(&self) -> Option<&Map<String, Value>> {
        self.as_json()?.as_object()
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self.as_json()? {
            Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
            value => value.as_f64(),
        }
    }

    pub(crate) fn integer(&self) -> Option<i64> {
        match self.as_json()? {
            Value::Bool(yes) => Some(i64::from(*yes)),
            value => value.as_i64(),
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.as_json().is_some_and(Value::is_null)
    }

    pub(crate) fn truth(&self) -> bool {
        match self {
            Self::Undefined => false,
            Self::Literal(text) => !text.is_empty(),
            Self::Markup(text) => !text.is_empty(),
            Self::Loop(_) => true,
            Self::Input(value) => is_true(value),
            Self::Computed(value) => is_true(value),
        }
    }

    /// The printed text of the value.
    pub(crate) fn to_text(&self, budget: &RenderBudget) -> Result<Cow<'_, str>, TemplateError> {
        match self.text() {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => print::to_text(self, budget).map(Cow::Owned),
        }
    }

    /// An owned copy, charged to the budget.
    pub(crate) fn to_value(&self, budget: &RenderBudget) -> Result<Value, TemplateError> {
        match self {
            Self::Undefined | Self::Loop(_) => Ok(Value::Null),
            Self::Input(value) => budget.copy(value),
            Self::Computed(value) => budget.copy(value),
            Self::Literal(text) => text_value(text, budget),
            Self::Markup(text) => text_value(text, budget),
        }
    }

    /// A part of this value: borrowed from an input, copied from a computed value.
    pub(crate) fn part(
        &self,
        budget: &RenderBudget,
        find: impl FnOnce(&Value) -> Option<&Value>,
    ) -> Result<TemplateValue<'r>, TemplateError> {
        match self {
            Self::Input(value) => {
                Ok(find(value).map_or(TemplateValue::Undefined, TemplateValue::Input))
            }
            Self::Computed(value) => match find(value) {
                Some(part) => budget.copy(part).map(TemplateValue::computed),
                None => Ok(TemplateValue::Undefined),
            },
            _ => Ok(TemplateValue::Undefined),
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Undefined => "an undefined value",
            Self::Literal(_) | Self::Markup(_) => "a text",
            Self::Loop(_) => "the loop",
            Self::Input(value) => kind(value),
            Self::Computed(value) => kind(value),
        }
    }
}

fn text_value(text: &str, budget: &RenderBudget) -> Result<Value, TemplateError> {
    budget.charge(text.len())?;
    Ok(Value::String(text.to_owned()))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "none",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a dictionary",
    }
}
