//! Patterns that strangers write, over texts that strangers write: both bounded, and matched in linear time.

use ports::block::BlockError;
use regex::{Regex, RegexBuilder};
use serde_json::Value;

/// Bytes of the text that a pattern is tried on.
const LONGEST_TEXT: usize = 1024 * 1024;
/// Bytes of a compiled pattern: `a{1000}{1000}` is short, what it stands for is not.
const LARGEST_PATTERN: usize = 1024 * 1024;

#[derive(Clone, Copy)]
pub(super) struct Flags {
    pub(super) case_sensitive: bool,
    pub(super) dot_all: bool,
}

pub(super) fn compile(pattern: &str, flags: Flags) -> Result<Regex, BlockError> {
    let compiled = RegexBuilder::new(pattern)
        .case_insensitive(!flags.case_sensitive)
        .dot_matches_new_line(flags.dot_all)
        .size_limit(LARGEST_PATTERN)
        .dfa_size_limit(LARGEST_PATTERN)
        .build();
    compiled.map_err(|error| {
        BlockError::failed(match error {
            regex::Error::CompiledTooBig(_) => "The pattern is too large.".to_owned(),
            _ if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| pattern.contains(look)) => {
                "The pattern looks ahead or behind, which is not supported.".to_owned()
            }
            error => format!("The pattern is wrong: {}.", last_line(&error.to_string())),
        })
    })
}

/// The text itself; everything else as JSON.
pub(super) fn searched(value: &Value) -> Result<std::borrow::Cow<'_, str>, BlockError> {
    let text = match value {
        Value::String(text) => text.as_str().into(),
        other => std::borrow::Cow::from(other.to_string()),
    };
    if text.len() > LONGEST_TEXT {
        let limit = LONGEST_TEXT / 1024 / 1024;
        return Err(BlockError::failed(format!("The text is longer than {limit} MiB.")));
    }
    Ok(text)
}

/// The last line of the library's message says what is wrong; those before draw the pattern.
fn last_line(message: &str) -> &str {
    message.lines().last().unwrap_or_default().trim_start_matches("error: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_cannot_be_used_says_why() {
        let flags = Flags { case_sensitive: true, dot_all: true };
        let message = |pattern: &str| compile(pattern, flags).expect_err("wrong").to_string();
        assert_eq!(message("a(?=b)"), "The pattern looks ahead or behind, which is not supported.");
        assert_eq!(
            message("(?<!a)b"),
            "The pattern looks ahead or behind, which is not supported."
        );
        assert_eq!(message("a{1000}{1000}{1000}"), "The pattern is too large.");
        assert_eq!(message("(a"), "The pattern is wrong: unclosed group.");
        assert!(searched(&Value::String("x".repeat(LONGEST_TEXT + 1))).is_err());
    }
}
