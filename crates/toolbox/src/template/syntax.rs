//! Parses templates into trees of limited depth, so that recursion over them cannot overflow the stack.

use minijinja::machinery::{Token, ast, parse as parse_tree, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::TemplateError;

const MAX_TEMPLATE_BYTES: usize = 256 * 1024;
/// Limit on the tokens of one tag. The parser limits nesting, but not chains such as `a + a + a`, in which every operator
/// adds a level to the tree.
const MAX_TAG_TOKENS: usize = 256;
/// Limit on `elif`s: each adds a level to the tree.
const MAX_ELIFS: usize = 64;

pub(crate) fn parse(template: &str) -> Result<ast::Stmt<'_>, TemplateError> {
    if template.len() > MAX_TEMPLATE_BYTES {
        let limit = MAX_TEMPLATE_BYTES / 1024;
        return Err(TemplateError::Syntax(format!("it is longer than {limit} KiB")));
    }
    check_size(template)?;
    parse_tree(template, "template", SyntaxConfig::default()).map_err(|error| syntax_error(&error))
}

fn check_size(template: &str) -> Result<(), TemplateError> {
    let (mut tokens, mut elifs) = (0, 0);
    for token in tokenize(template, false, SyntaxConfig::default()) {
        match token.map_err(|error| syntax_error(&error))?.0 {
            Token::BlockStart | Token::VariableStart => tokens = 0,
            Token::Ident("elif") => elifs += 1,
            _ => {}
        }
        tokens += 1;
        if tokens > MAX_TAG_TOKENS || elifs > MAX_ELIFS {
            return Err(TemplateError::Syntax("one of its expressions is too long".to_owned()));
        }
    }
    Ok(())
}

fn syntax_error(error: &minijinja::Error) -> TemplateError {
    let detail = error.detail().unwrap_or("syntax error");
    TemplateError::Syntax(match error.line() {
        Some(line) => format!("{detail} (line {line})"),
        None => detail.to_owned(),
    })
}
