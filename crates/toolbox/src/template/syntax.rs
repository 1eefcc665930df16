//! From text to a tree whose depth is bounded, so that no walk over it can exhaust the stack.

use minijinja::machinery::{Token, ast, parse as parse_tree, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::TemplateError;

const TEMPLATE_BYTES: usize = 256 * 1024;
/// Tokens between one pair of braces. The parser bounds nesting itself, but not chains such as `a + a + a`, and every
/// link of those is a level of the tree.
const TAG_TOKENS: usize = 256;
/// Every `elif` is a level of the tree too.
const ELIFS: usize = 64;

pub(super) fn parse(template: &str) -> Result<ast::Stmt<'_>, TemplateError> {
    if template.len() > TEMPLATE_BYTES {
        let limit = TEMPLATE_BYTES / 1024;
        return Err(TemplateError::Syntax(format!("it is longer than {limit} KiB")));
    }
    bound(template)?;
    parse_tree(template, "template", SyntaxConfig::default()).map_err(|error| sentence(&error))
}

fn bound(template: &str) -> Result<(), TemplateError> {
    let (mut tokens, mut elifs) = (0, 0);
    for token in tokenize(template, false, SyntaxConfig::default()) {
        match token.map_err(|error| sentence(&error))?.0 {
            Token::BlockStart | Token::VariableStart => tokens = 0,
            Token::Ident("elif") => elifs += 1,
            _ => {}
        }
        tokens += 1;
        if tokens > TAG_TOKENS || elifs > ELIFS {
            return Err(TemplateError::Syntax("one of its expressions is too long".to_owned()));
        }
    }
    Ok(())
}

fn sentence(error: &minijinja::Error) -> TemplateError {
    let detail = error.detail().unwrap_or("its syntax is wrong");
    TemplateError::Syntax(match error.line() {
        Some(line) => format!("{detail} (line {line})"),
        None => detail.to_owned(),
    })
}
