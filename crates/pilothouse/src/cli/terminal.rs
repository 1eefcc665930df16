//! Text for a terminal. What comes from a server, a model or a tool is escaped, so that it can print text and nothing
//! else.

use std::io::Write;

use crate::telemetry::is_invisible;

/// Of what is shown in a line of its own.
const LINE_CHARS: usize = 100;

/// Text as text: what could move the cursor, change colours or hide is made visible.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() || is_invisible(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// In one line, and not too long.
pub(super) fn shortened(text: &str) -> String {
    protocol::text::cut_end(&text.replace(['\n', '\r'], " "), LINE_CHARS)
}

/// A line beside the result, for the person who waits. Nobody may be there to read it.
pub(super) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", escaped(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_cannot_move_the_cursor() {
        let shown = escaped("a\u{1b}[2Jb\u{7}\r\u{9b}31m\u{202e}c\n\td");
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        assert!(!shown.contains('\u{202e}'));
        assert!(shown.starts_with('a') && shown.ends_with("c\n\td"));
    }
}
