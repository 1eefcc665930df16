//! Text templates in Jinja's language, written by strangers. The parser is minijinja's; the evaluation is ours, because
//! a bound on instructions does not bound memory: here every step and every byte that a template makes is paid for from
//! one budget, and what is given is borrowed, never copied.

mod budget;
mod checks;
mod evaluate;
mod expression;
mod filters;
mod lists;
mod operators;
mod print;
mod printf;
mod scope;
mod syntax;
mod term;
#[cfg(test)]
mod tests;
mod texts;

use serde_json::{Map, Value};

/// What becomes of `<`, `>`, `&` and quotes in the values that a template prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    Nothing,
    Html,
}

impl Escape {
    /// As the blocks name it: `escape_html`.
    pub(crate) fn html(wanted: bool) -> Self {
        if wanted { Self::Html } else { Self::Nothing }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    #[error("The template cannot be read: {0}.")]
    Syntax(String),
    #[error("The template cannot be filled: {0}.")]
    Failed(String),
    #[error(
        "The template does too much: it may take {} steps, and fewer on long texts.",
        budget::STEPS
    )]
    TooLong,
    #[error("The template makes too much text: at most {} MiB.", budget::BYTES / 1024 / 1024)]
    TooLarge,
}

impl TemplateError {
    fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
}

/// Fills a template. An unknown name prints nothing; an attribute of one is an error.
pub(crate) fn render(
    template: &str,
    values: &Map<String, Value>,
    escape: Escape,
) -> Result<String, TemplateError> {
    if !template.contains('{') {
        return Ok(template.to_owned());
    }
    let tree = syntax::parse(template)?;
    let budget = budget::Budget::new();
    evaluate::Render::new(values, &budget, escape).template(&tree)
}
