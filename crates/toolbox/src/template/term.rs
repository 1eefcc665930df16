//! What an expression stands for: something given, or something made on the way.

use std::borrow::Cow;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::TemplateError;
use super::budget::Budget;
use super::print;
use super::scope::Round;
use crate::values::is_true;

#[derive(Clone)]
pub(super) enum Term<'r> {
    Undefined,
    Given(&'r Value),
    /// A text that stands in the template, or a key of what was given.
    Word(&'r str),
    Made(Rc<Value>),
    /// Text that is not escaped again.
    Markup(Rc<str>),
    /// `loop`
    Round(Round),
}

impl<'r> Term<'r> {
    pub(super) fn made(value: impl Into<Value>) -> Self {
        Self::Made(Rc::new(value.into()))
    }

    /// A value, unless it is a text or undefined.
    pub(super) fn value(&self) -> Option<&Value> {
        match self {
            Self::Given(value) => Some(value),
            Self::Made(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Word(text) => Some(text),
            Self::Markup(text) => Some(text),
            _ => self.value()?.as_str(),
        }
    }

    pub(super) fn list(&self) -> Option<&[Value]> {
        self.value()?.as_array().map(Vec::as_slice)
    }

    pub(super) fn object(&self) -> Option<&Map<String, Value>> {
        self.value()?.as_object()
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self.value()? {
            Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
            value => value.as_f64(),
        }
    }

    pub(super) fn integer(&self) -> Option<i64> {
        match self.value()? {
            Value::Bool(yes) => Some(i64::from(*yes)),
            value => value.as_i64(),
        }
    }

    pub(super) fn is_none(&self) -> bool {
        self.value().is_some_and(Value::is_null)
    }

    pub(super) fn truth(&self) -> bool {
        match self {
            Self::Undefined => false,
            Self::Word(text) => !text.is_empty(),
            Self::Markup(text) => !text.is_empty(),
            Self::Round(_) => true,
            Self::Given(value) => is_true(value),
            Self::Made(value) => is_true(value),
        }
    }

    /// What prints, as a text.
    pub(super) fn printed(&self, budget: &Budget) -> Result<Cow<'_, str>, TemplateError> {
        match self.text() {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => print::to_text(self, budget).map(Cow::Owned),
        }
    }

    /// As a part of another value; paid for.
    pub(super) fn to_value(&self, budget: &Budget) -> Result<Value, TemplateError> {
        match self {
            Self::Undefined | Self::Round(_) => Ok(Value::Null),
            Self::Given(value) => budget.copy(value),
            Self::Made(value) => budget.copy(value),
            Self::Word(text) => text_value(text, budget),
            Self::Markup(text) => text_value(text, budget),
        }
    }

    /// A part of this term: borrowed from what was given, copied from what was made.
    pub(super) fn part(
        &self,
        budget: &Budget,
        find: impl FnOnce(&Value) -> Option<&Value>,
    ) -> Result<Term<'r>, TemplateError> {
        match self {
            Self::Given(value) => Ok(find(value).map_or(Term::Undefined, Term::Given)),
            Self::Made(value) => match find(value) {
                Some(part) => budget.copy(part).map(Term::made),
                None => Ok(Term::Undefined),
            },
            _ => Ok(Term::Undefined),
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Undefined => "an undefined value",
            Self::Word(_) | Self::Markup(_) => "a text",
            Self::Round(_) => "the loop",
            Self::Given(value) => kind(value),
            Self::Made(value) => kind(value),
        }
    }
}

fn text_value(text: &str, budget: &Budget) -> Result<Value, TemplateError> {
    budget.pay(text.len())?;
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
