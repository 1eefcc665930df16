//! Converts search words to patterns of the two databases. Case folding depends on a database's configuration, so each
//! pattern names both cases of a letter.

/// One `GLOB` pattern of SQLite per word.
pub(crate) fn globs(words: &[String]) -> Vec<String> {
    let glob = |word: &String| {
        let letters: String = word
            .chars()
            .map(|letter| match cases(letter) {
                Cases::One('*' | '?' | '[') => format!("[{letter}]"),
                Cases::One(_) => letter.to_string(),
                Cases::Two(one, other) => format!("[{one}{other}]"),
            })
            .collect();
        format!("*{letters}*")
    };
    words.iter().map(glob).collect()
}

/// One regular expression of Postgres per word.
pub(crate) fn expressions(words: &[String]) -> Vec<String> {
    let expression = |word: &String| {
        word.chars()
            .map(|letter| match cases(letter) {
                Cases::One(sign) if sign.is_ascii_punctuation() => format!("\\{sign}"),
                Cases::One(_) => letter.to_string(),
                Cases::Two(one, other) => format!("[{one}{other}]"),
            })
            .collect()
    };
    words.iter().map(expression).collect()
}

enum Cases {
    One(char),
    Two(char, char),
}

/// A letter whose other case is more than one letter counts as having none.
fn cases(letter: char) -> Cases {
    let other = other(letter, letter.to_lowercase());
    let other = other.or_else(|| self::other(letter, letter.to_uppercase()));
    other.map_or(Cases::One(letter), |other| Cases::Two(letter, other))
}

fn other(letter: char, mut cased: impl Iterator<Item = char>) -> Option<char> {
    let only = cased.next().filter(|only| *only != letter);
    only.filter(|_| cased.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_cases_are_named_and_special_characters_are_escaped() {
        let words = ["Äb".to_owned(), "5%*[^]".to_owned(), "(?i)ß".to_owned()];
        assert_eq!(globs(&words), ["*[Ää][bB]*", "*5%[*][[]^]*", "*([?][iI])ß*"]);
        assert_eq!(expressions(&words), ["[Ää][bB]", "5\\%\\*\\[\\^\\]", "\\(\\?[iI]\\)ß"]);
    }
}
