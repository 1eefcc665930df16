//! Passwords, keys and tokens in memory.

use std::fmt;

/// Written in place of a secret, wherever a text would contain one.
pub const HIDDEN: &str = "<secret>";

/// A value that is never printed, not even by `{:?}`.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// The secret itself: only for the place that uses it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The text without the secret, which a service may echo.
    pub fn removed_from(&self, text: &str) -> String {
        // An empty text would match between all characters.
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, HIDDEN) }
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for SecretText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_neither_printed_nor_left_in_an_echo() {
        let secret = SecretText::from("s3cret");
        assert_eq!(format!("{:?}", Some(&secret)), "Some(<secret>)");
        assert_eq!(secret.removed_from("bad key s3cret, s3cret"), "bad key <secret>, <secret>");
        assert_eq!(SecretText::from("").removed_from("text"), "text");
    }
}
