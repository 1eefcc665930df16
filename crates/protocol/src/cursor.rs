//! A position in a stream log: the id of the last received event.

use crate::segment::Seq;

/// Parses `17`, `17-0` and the two forms of the beginning, `0` and `0-0`. Anything else is not a cursor, and its sender
/// gets the whole replay.
pub fn parse(text: &str) -> Option<Seq> {
    let number = text.strip_suffix("-0").unwrap_or(text);
    if number.is_empty() || number.len() > 19 || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn cursors_are_plain_numbers_with_an_optional_suffix() {
        for (text, seq) in [("0", 0), ("0-0", 0), ("17", 17), ("17-0", 17)] {
            assert_eq!(parse(text), Some(seq), "{text}");
        }
        for text in ["", "-0", "-1", "17-1", "1e3", "99999999999999999999", " 1", "$"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
