//! Error texts of a generator service, cleaned for users: a service may name its files, its databases and its keys.

use protocol::redact::is_sensitive;
use protocol::text::cut_end;

const SHOWN_CHARS: usize = 200;
/// Texts are cut before they are read word by word.
const READ_CHARS: usize = 4000;
const HIDDEN: &str = "[hidden]";

/// Without paths, connection strings and credentials; at most 200 characters.
pub(crate) fn cleaned(text: &str) -> String {
    let text = cut_end(text, READ_CHARS);
    let mut words = Vec::new();
    let mut hide_next = false;
    for word in text.split_whitespace() {
        let is_scheme = ["bearer", "basic"].contains(&word.to_lowercase().as_str());
        words.push(if hide_next { HIDDEN.to_owned() } else { cleaned_word(word) });
        hide_next = is_scheme;
    }
    cut_end(&words.join(" "), SHOWN_CHARS - 1)
}

fn cleaned_word(word: &str) -> String {
    // Quotes, brackets and the punctuation of the sentence stay around what is replaced.
    let is_outside =
        |c: char| matches!(c, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '<' | '>' | ',' | ';');
    let inner = word.trim_matches(is_outside).trim_end_matches([':', '.']);
    match replacement(inner) {
        Some(replacement) => word.replacen(inner, &replacement, 1),
        None => word.to_owned(),
    }
}

fn replacement(word: &str) -> Option<String> {
    if let Some((scheme, rest)) = word.split_once("://") {
        let scheme = scheme.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        return Some(match scheme.to_lowercase().as_str() {
            "http" | "https" => address(scheme, rest),
            _ => "[connection string]".to_owned(),
        });
    }
    if let Some((key, value)) = word.split_once(['=', ':'])
        && !value.is_empty()
    {
        if is_sensitive(key) {
            return Some(format!("{key}={HIDDEN}"));
        }
        if is_path(value.trim_matches(['"', '\''])) {
            return Some(format!("{key}=[path]"));
        }
    }
    is_path(word).then(|| "[path]".to_owned())
}

/// The host and the path of a web address: its user and its query may have credentials.
fn address(scheme: &str, rest: &str) -> String {
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or_default();
    match path.is_empty() {
        true => format!("{scheme}://{host}"),
        false => format!("{scheme}://{host}/{path}"),
    }
}

/// A path of a file system. One slash alone is punctuation.
fn is_path(word: &str) -> bool {
    let mut chars = word.chars();
    let is_drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && matches!(chars.as_str().get(..2), Some(":\\" | ":/"));
    let is_absolute = (word.starts_with('/') || word.starts_with("~/") || word.starts_with("./"))
        && word.len() > 2;
    is_drive || is_absolute || word.starts_with("\\\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_connection_strings_and_credentials_are_removed() {
        for (text, expected) in [
            ("all is well", "all is well"),
            ("File \"/srv/app/main.py\", line 3", "File \"[path]\", line 3"),
            ("cannot open C:\\app\\key.pem.", "cannot open [path]."),
            ("see ~/.aws/config: denied", "see [path]: denied"),
            ("file=/etc/passwd", "file=[path]"),
            ("at postgres://bob:pw@db:5432/agents now", "at [connection string] now"),
            ("(redis://:pw@cache/0)", "([connection string])"),
            (
                "GET https://bob:pw@api.example.com/v1?key=1 failed",
                "GET https://api.example.com/v1 failed",
            ),
            ("https://api.example.com: refused", "https://api.example.com: refused"),
            ("host=db password=hunter2 user=bob", "host=db password=[hidden] user=bob"),
            ("api_key:sk-123, no", "api_key=[hidden], no"),
            ("Authorization: Bearer abc.def failed", "Authorization: Bearer [hidden] failed"),
            ("3 / 4 and/or 5", "3 / 4 and/or 5"),
        ] {
            assert_eq!(cleaned(text), expected, "{text}");
        }
    }

    #[test]
    fn a_long_text_is_cut_to_200_characters() {
        assert_eq!(cleaned(&"ö ".repeat(9000)).chars().count(), 200);
        assert_eq!(cleaned(""), "");
    }
}
