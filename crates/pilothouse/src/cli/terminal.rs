//! Text for a terminal. Text from a server, a model or a tool is escaped, so that it cannot control the terminal.

use std::io::Write;

use crate::telemetry::is_invisible;

/// Maximum characters of a single-line text.
const LINE_CHARS: usize = 100;

/// Makes characters visible that could move the cursor, change colors or hide text.
pub(crate) fn escaped(text: &str) -> String {
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

/// The text on one line, truncated.
pub(crate) fn shortened(text: &str) -> String {
    protocol::text::cut_end(&text.replace(['\n', '\r'], " "), LINE_CHARS)
}

/// Prints a line to standard error, beside the result. Failures are ignored.
pub(crate) fn note(text: &str) {
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
