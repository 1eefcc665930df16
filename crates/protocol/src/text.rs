//! Sanitizes and truncates text for storage, streams and display, in one place so that all backends and clients see the
//! same.

use serde_json::Value;

/// Truncates in the middle, with a marker that says how much is missing.
pub fn cut_middle(text: &str, chars: usize) -> String {
    let total = text.chars().count();
    if total <= chars {
        return text.to_owned();
    }
    let marker = format!("\n… [{} characters cut] …\n", total - chars);
    let keep = chars.saturating_sub(marker.chars().count());
    let head: String = text.chars().take(keep.div_ceil(2)).collect();
    let tail: String = text.chars().skip(total - keep / 2).collect();
    format!("{head}{marker}{tail}")
}

/// The first `chars` characters, with an ellipsis when something follows.
pub fn cut_end(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// NUL cannot be stored in every database; it is replaced by U+FFFD.
pub fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

/// Two hexadecimal digits for each byte, such as those of a digest.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    text
}

/// Makes a JSON value safe for the client: its parser treats the keys `__proto__` and `constructor.prototype` as an attack
/// and drops the stream, and NUL cannot be stored everywhere.
pub fn scrub(value: Value) -> Value {
    match value {
        Value::String(text) if text.contains('\0') => Value::String(without_nul(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(scrub).collect()),
        Value::Object(map) => Value::Object(
            map.into_iter()
                .filter(|(key, inner)| {
                    key != "__proto__"
                        && !(key == "constructor" && inner.get("prototype").is_some())
                })
                .map(|(key, inner)| (without_nul(&key), scrub(inner)))
                .collect(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_text_is_truncated_in_the_middle_with_a_marker() {
        let text = "ä".repeat(50) + &"z".repeat(150);
        let cut = cut_middle(&text, 100);
        assert!(cut.chars().count() <= 100);
        assert!(cut.starts_with('ä') && cut.ends_with('z') && cut.contains("[100 characters cut]"));
        assert_eq!(cut_middle("short", 100), "short");
    }

    #[test]
    fn a_digest_is_written_in_hexadecimal_digits() {
        assert_eq!(hex(&[0x00, 0x0f, 0xa5, 0xff]), "000fa5ff");
    }

    #[test]
    fn keys_that_the_client_treats_as_an_attack_are_removed() {
        let value =
            json!({"a": [{"__proto__": 1, "b\u{0}": "x\u{0}y"}], "constructor": {"prototype": {}}});
        assert_eq!(scrub(value), json!({"a": [{"b\u{FFFD}": "x\u{FFFD}y"}]}));
        assert_eq!(scrub(json!({"constructor": "Smith"})), json!({"constructor": "Smith"}));
    }
}
