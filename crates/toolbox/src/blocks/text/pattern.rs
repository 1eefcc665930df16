//! Regular expressions from untrusted authors: pattern and text size are limited, and matching takes linear time.

use ports::block::BlockError;
use regex::{Regex, RegexBuilder};
use serde_json::Value;

/// Limit on the searched text, in bytes.
const MAX_TEXT_BYTES: usize = 1024 * 1024;
/// Limit on a compiled pattern, in bytes: `a{1000}{1000}` is short but compiles to a large program.
const MAX_PATTERN_BYTES: usize = 1024 * 1024;

#[derive(Clone, Copy)]
pub(crate) struct PatternFlags {
    pub(crate) case_sensitive: bool,
    pub(crate) dot_all: bool,
}

pub(crate) fn compile(pattern: &str, flags: PatternFlags) -> Result<Regex, BlockError> {
    let compiled = RegexBuilder::new(pattern)
        .case_insensitive(!flags.case_sensitive)
        .dot_matches_new_line(flags.dot_all)
        .size_limit(MAX_PATTERN_BYTES)
        .dfa_size_limit(MAX_PATTERN_BYTES)
        .build();
    compiled.map_err(|error| {
        BlockError::failed(match error {
            regex::Error::CompiledTooBig(_) => "The pattern is too complex.".to_owned(),
            _ if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| pattern.contains(look)) => {
                "Lookahead and lookbehind are not supported in patterns.".to_owned()
            }
            error => format!("The pattern is invalid: {}.", last_line(&error.to_string())),
        })
    })
}

/// The text to search: strings as they are, other values as JSON.
pub(crate) fn searchable_text(value: &Value) -> Result<std::borrow::Cow<'_, str>, BlockError> {
    let text = match value {
        Value::String(text) => text.as_str().into(),
        other => std::borrow::Cow::from(other.to_string()),
    };
    if text.len() > MAX_TEXT_BYTES {
        let limit = MAX_TEXT_BYTES / 1024 / 1024;
        return Err(BlockError::failed(format!(
            "The text is longer than the limit of {limit} MiB."
        )));
    }
    Ok(text)
}

/// The last line of a `regex` error describes the problem; the lines above it repeat the pattern.
fn last_line(message: &str) -> &str {
    message.lines().last().unwrap_or_default().trim_start_matches("error: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unusable_pattern_is_rejected_with_its_reason() {
        let flags = PatternFlags { case_sensitive: true, dot_all: true };
        let message =
            |pattern: &str| compile(pattern, flags).expect_err("an invalid pattern").to_string();
        assert_eq!(message("a(?=b)"), "Lookahead and lookbehind are not supported in patterns.");
        assert_eq!(message("(?<!a)b"), "Lookahead and lookbehind are not supported in patterns.");
        assert_eq!(message("a{1000}{1000}{1000}"), "The pattern is too complex.");
        assert_eq!(message("(a"), "The pattern is invalid: unclosed group.");
        assert!(searchable_text(&Value::String("x".repeat(MAX_TEXT_BYTES + 1))).is_err());
    }
}
