//! Words that a title has to have, as patterns of the two databases. Capital and small letters are told apart by neither
//! pattern: what a database takes for the other case of a letter depends on how it was set up, so both are named.

/// One `GLOB` of SQLite for each word.
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

/// One regular expression of Postgres for each word.
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

/// A letter whose other case is more than one letter has none here.
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
    fn both_cases_are_named_and_signs_mean_themselves() {
        let words = ["Äb".to_owned(), "5%*[^]".to_owned(), "(?i)ß".to_owned()];
        assert_eq!(globs(&words), ["*[Ää][bB]*", "*5%[*][[]^]*", "*([?][iI])ß*"]);
        assert_eq!(expressions(&words), ["[Ää][bB]", "5\\%\\*\\[\\^\\]", "\\(\\?[iI]\\)ß"]);
    }
}
