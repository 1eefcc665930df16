//! Jinja text templates from untrusted authors. Parsing is minijinja's. Evaluation is our own, because minijinja's limit
//! on instructions does not limit memory: here every step and every byte a template creates is charged to one budget,
//! and input values are borrowed, not copied.

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
#[cfg(test)]
mod tests;
mod texts;
mod value;

use serde_json::{Map, Value};

/// How `<`, `>`, `&` and quotes in printed values are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EscapeMode {
    None,
    Html,
}

impl EscapeMode {
    /// The mode for the blocks' option `escape_html`.
    pub(crate) fn html(escape_html: bool) -> Self {
        if escape_html { Self::Html } else { Self::None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    #[error("The template is invalid: {0}.")]
    Syntax(String),
    #[error("The template could not be rendered: {0}.")]
    Failed(String),
    #[error(
        "The template is too complex: the limit is {} steps, or fewer on long texts.",
        budget::STEPS
    )]
    TooManySteps,
    #[error("The template creates too much text: the limit is {} MiB.", budget::BYTES / 1024 / 1024)]
    TooLarge,
}

impl TemplateError {
    fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
}

/// Renders a template. An undefined name prints nothing; accessing an attribute of it is an error.
pub(crate) fn render(
    template: &str,
    values: &Map<String, Value>,
    escape: EscapeMode,
) -> Result<String, TemplateError> {
    if !template.contains('{') {
        return Ok(template.to_owned());
    }
    let tree = syntax::parse(template)?;
    let budget = budget::RenderBudget::new();
    evaluate::TemplateRenderer::new(values, &budget, escape).render(&tree)
}
