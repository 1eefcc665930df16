//! A sentence as words: finds phrases, numbers, web addresses and quoted texts in it.

/// Characters that do not belong to the word beside them.
const PUNCTUATION: &[char] =
    &['.', ',', ';', ':', '!', '?', '"', '\'', '“', '”', '‘', '’', '«', '»', '(', ')', '[', ']'];
/// Pairs of quotation marks.
const QUOTES: [(char, char); 4] = [('“', '”'), ('"', '"'), ('‘', '’'), ('«', '»')];
const CURRENCIES: &[char] = &['$', '€', '£', '¥'];

/// A sentence, split at spaces.
pub(crate) struct Words<'a> {
    text: &'a str,
    words: Vec<Word>,
}

struct Word {
    /// In lower case, without the punctuation around it.
    plain: String,
    start: usize,
    end: usize,
    /// Whether a clause ends after it.
    ends_clause: bool,
}

impl<'a> Words<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let mut words = Vec::new();
        let mut offset = 0;
        for piece in text.split_whitespace() {
            let Some(at) = text[offset..].find(piece) else { continue };
            let from = offset + at;
            offset = from + piece.len();
            let inner = piece.trim_matches(PUNCTUATION);
            let Some(lead) = piece.find(inner).filter(|_| !inner.is_empty()) else { continue };
            let end = from + lead + inner.len();
            let ends_clause = text[end..offset].contains(['.', ',', ';', ':', '!', '?']);
            let plain = inner.to_lowercase().replace('’', "'");
            words.push(Word { plain, start: from + lead, end, ends_clause });
        }
        Self { text, words }
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(|word| word.plain.as_str())
    }

    pub(crate) fn plain_words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.plain.as_str())
    }

    /// The words from one index to before another, as they were written.
    pub(crate) fn span(&self, from: usize, to: usize) -> &'a str {
        match (self.words.get(from), to.checked_sub(1).and_then(|last| self.words.get(last))) {
            (Some(first), Some(last)) if first.start < last.end => {
                &self.text[first.start..last.end]
            }
            _ => "",
        }
    }

    /// The words from an index to the end of the clause: before the next comma, period, or one of these words.
    pub(crate) fn clause_from(&self, from: usize, stops: &[&str]) -> &'a str {
        let mut to = from;
        while let Some(word) = self.words.get(to) {
            if to > from && stops.contains(&word.plain.as_str()) {
                break;
            }
            to += 1;
            if word.ends_clause {
                break;
            }
        }
        self.span(from, to)
    }

    /// The indexes of the first word of a phrase and of the word after it. A word of the phrase that ends in `*` is a
    /// beginning: `total*` finds `totals`.
    pub(crate) fn find(&self, phrase: &str) -> Option<(usize, usize)> {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        let fits = |at: &usize| {
            wanted.iter().enumerate().all(|(offset, wanted)| {
                self.word(at + offset).is_some_and(|word| match wanted.strip_suffix('*') {
                    Some(beginning) => word.starts_with(beginning),
                    None => word == *wanted,
                })
            })
        };
        let at = (0..self.words.len()).find(fits)?;
        Some((at, at + wanted.len()))
    }

    pub(crate) fn has(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.find(phrase).is_some())
    }

    /// The index after the first of these phrases that is found.
    pub(crate) fn after(&self, phrases: &[&str]) -> Option<usize> {
        phrases.iter().find_map(|phrase| self.find(phrase)).map(|(_, after)| after)
    }

    pub(crate) fn number_at(&self, at: usize) -> Option<f64> {
        self.word(at).and_then(number)
    }

    /// The first number from an index on, at most this many words later.
    pub(crate) fn number_within(&self, from: usize, words: usize) -> Option<f64> {
        (from..from + words).find_map(|at| self.number_at(at))
    }

    /// A percentage: `21%`, `21 %` or `21 percent`.
    pub(crate) fn percent(&self) -> Option<f64> {
        (0..self.words.len()).find_map(|at| {
            let word = self.word(at)?;
            let is_percent = word.ends_with('%')
                || matches!(self.word(at + 1), Some("%" | "percent" | "per" | "pct"));
            if is_percent { number(word) } else { None }
        })
    }

    /// Web addresses, each with the word before it.
    pub(crate) fn addresses(&self) -> Vec<(Option<&str>, String)> {
        let address = |(at, word): (usize, &Word)| {
            let written = &self.text[word.start..word.end];
            let is_address = ["http://", "https://"]
                .iter()
                .any(|scheme| word.plain.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
            let before = at.checked_sub(1).and_then(|before| self.word(before));
            is_address.then(|| (before, written.to_owned()))
        };
        self.words.iter().enumerate().filter_map(address).collect()
    }
}

/// The number in a word such as `21`, `21%`, `$1,000.50` or `12,5`.
pub(crate) fn number(word: &str) -> Option<f64> {
    let digits = word.trim_start_matches(CURRENCIES).trim_end_matches('%');
    let digits = digits.trim_end_matches(CURRENCIES);
    if !digits.ends_with(|last: char| last.is_ascii_digit())
        || !digits.chars().all(|c| c.is_ascii_digit() || ".,-+".contains(c))
    {
        return None;
    }
    let plain = match digits.split_once(',') {
        // One comma that does not separate thousands is a decimal comma.
        Some((_, after)) if after.len() != 3 && !after.contains([',', '.']) => {
            digits.replace(',', ".")
        }
        Some(_) => digits.replace(',', ""),
        None => digits.to_owned(),
    };
    plain.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The texts between quotation marks.
pub(crate) fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((at, close)) = rest.char_indices().find_map(|(at, letter)| {
        QUOTES.iter().find(|(open, _)| *open == letter).map(|(_, close)| (at, *close))
    }) {
        let inner = &rest[at..];
        let open = inner.chars().next().map_or(0, char::len_utf8);
        let Some(end) = inner[open..].find(close) else { break };
        if end > 0 {
            found.push(&inner[open..open + end]);
        }
        rest = &inner[open + end + close.len_utf8()..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_in_any_case_and_with_punctuation() {
        let words = Words::of("Totals an Invoice, then asks me: “OK?”");
        for (phrase, found) in [
            ("total*", Some((0, 1))),
            ("an invoice", Some((1, 3))),
            ("ask* me", Some((4, 6))),
            ("ok", Some((6, 7))),
            ("invoice asks", None),
            ("total", None),
        ] {
            assert_eq!(words.find(phrase), found, "{phrase}");
        }
        assert_eq!(words.span(1, 3), "an Invoice");
        assert_eq!(words.clause_from(0, &[]), "Totals an Invoice");
        assert_eq!(words.clause_from(3, &["me"]), "then asks");
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected) in [
            ("21", Some(21.0)),
            ("21%", Some(21.0)),
            ("$1,000.50", Some(1000.5)),
            ("1,000", Some(1000.0)),
            ("12,5", Some(12.5)),
            ("-3", Some(-3.0)),
            ("30€", Some(30.0)),
            ("v2", None),
            ("", None),
            ("1-2", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
        for (text, expected) in [
            ("with 21 % tax", Some(21.0)),
            ("7.5% VAT", Some(7.5)),
            ("19 percent of it", Some(19.0)),
            ("21 ropes", None),
        ] {
            assert_eq!(Words::of(text).percent(), expected, "{text}");
        }
    }

    #[test]
    fn addresses_and_quotes_are_found() {
        let text = "Check https://a.example/x, then post to http://b.example.";
        let expected = [
            (Some("check"), "https://a.example/x".to_owned()),
            (Some("to"), "http://b.example".to_owned()),
        ];
        assert_eq!(Words::of(text).addresses(), expected);
        assert_eq!(quoted("look for “sold out” or \"gone\""), ["sold out", "gone"]);
        assert_eq!(quoted("an open “quote"), Vec::<&str>::new());
    }
}
