//! Keyword search over short texts, best match first. It compares word by word, so that "mail summary" finds "Summarize
//! my e-mail", and tolerates one or two typos in a word that occurs nowhere.

/// Words read of a query, and of one field.
const QUERY_WORDS: usize = 12;
const FIELD_WORDS: usize = 300;
/// Characters read of one field; 300 words are seldom longer.
const FIELD_CHARS: usize = 6_000;
/// Items with a lower score are left out.
const MIN_SCORE: f64 = 0.3;
/// Weights of the first field, the second, and all later ones.
const FIELD_WEIGHTS: [f64; 3] = [1.0, 0.8, 0.6];
/// Shorter query words do not match inside other words: they would match too many.
const MIN_PART_CHARS: usize = 3;

/// The items that match the query, with a score above 0 and up to 1, best match first. `fields` returns the texts of an
/// item, the most important first. Without a query all items match equally. Equal scores keep their order.
pub fn rank<T>(
    query: &str,
    items: impl IntoIterator<Item = T>,
    fields: impl for<'a> Fn(&'a T) -> Vec<&'a str>,
) -> Vec<(f64, T)> {
    let wanted: Vec<String> = words(query).take(QUERY_WORDS).collect();
    if wanted.is_empty() {
        return items.into_iter().map(|item| (1.0, item)).collect();
    }
    let read = |item: T| {
        let fields = fields(&item).into_iter().map(IndexedField::read).collect();
        IndexedItem { item, fields }
    };
    let items: Vec<IndexedItem<T>> = items.into_iter().map(read).collect();
    let wanted: Vec<QueryWord> = wanted
        .into_iter()
        .map(|word| {
            let known = items.iter().any(|item| item.best(&word, Spelling::Exact) > 0.0);
            let spelling = if known { Spelling::Exact } else { Spelling::Tolerant };
            QueryWord { word, spelling }
        })
        .collect();
    let mut ranked: Vec<(f64, T)> = items
        .into_iter()
        .map(|read| (read.score(&wanted), read.item))
        .filter(|(score, _)| *score >= MIN_SCORE)
        .collect();
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranked
}

struct QueryWord {
    word: String,
    spelling: Spelling,
}

/// Whether typos are tolerated: only in a word that occurs in no item, and is therefore most likely misspelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Exact,
    Tolerant,
}

struct IndexedItem<T> {
    item: T,
    fields: Vec<IndexedField>,
}

struct IndexedField {
    words: Vec<String>,
    /// All words joined, so that "timesheet" finds "time sheet" and the reverse.
    joined: String,
}

impl IndexedField {
    fn read(text: &str) -> Self {
        let words: Vec<String> = words(text).take(FIELD_WORDS).collect();
        Self { joined: words.concat(), words }
    }
}

impl<T> IndexedItem<T> {
    fn score(&self, wanted: &[QueryWord]) -> f64 {
        let found: f64 = wanted.iter().map(|wanted| self.best(&wanted.word, wanted.spelling)).sum();
        let phrase: String = wanted.iter().map(|wanted| wanted.word.as_str()).collect();
        let average = found / wanted.len() as f64;
        match self.fields.first() {
            Some(first) if first.joined == phrase => 1.0,
            // An exact match of the first field ranks above one that only contains the words.
            _ => average * 0.95,
        }
    }

    /// The score of a query word in the best matching field.
    fn best(&self, wanted: &str, spelling: Spelling) -> f64 {
        let in_field = |(at, field): (usize, &IndexedField)| {
            let weight = FIELD_WEIGHTS[at.min(FIELD_WEIGHTS.len() - 1)];
            let words = field.words.iter().map(|word| likeness(wanted, word, spelling));
            let across = if is_part(wanted, &field.joined) { 0.5 } else { 0.0 };
            weight * words.fold(across, f64::max)
        };
        self.fields.iter().enumerate().map(in_field).fold(0.0, f64::max)
    }
}

fn likeness(wanted: &str, word: &str, spelling: Spelling) -> f64 {
    if wanted == word {
        1.0
    } else if word.starts_with(wanted) {
        0.9
    } else if is_part(wanted, word) {
        0.75
    } else if share_a_stem(wanted, word) {
        0.7
    } else if spelling == Spelling::Tolerant {
        match typos(wanted, word) {
            Some(typos) => 0.7 - 0.1 * typos as f64,
            None => 0.0,
        }
    } else {
        0.0
    }
}

fn is_part(wanted: &str, whole: &str) -> bool {
    wanted.chars().count() >= MIN_PART_CHARS && whole.contains(wanted)
}

/// `summary` and `summarize`, `agents` and `agent`: the words share a prefix that is most of both.
fn share_a_stem(a: &str, b: &str) -> bool {
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let (shorter, longer) = {
        let (a, b) = (a.chars().count(), b.chars().count());
        (a.min(b), a.max(b))
    };
    same >= 4 && same + 1 >= shorter && same * 5 >= longer * 3
}

/// The number of wrong, missing, extra or swapped letters, if it is at most one, or two in a long word.
fn typos(wanted: &str, word: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (wanted.chars().collect(), word.chars().collect());
    let allowed = match a.len() {
        0..=3 => return None,
        4..=7 => 1,
        _ => 2,
    };
    if a.len().abs_diff(b.len()) > allowed {
        return None;
    }
    // Edit distance; three rows of the table are enough to detect swapped neighbors.
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().filter(|distance| *distance <= allowed)
}

/// Words in lower case; `SendWebRequest` is three of them.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars().take(FIELD_CHARS) {
        let begins = !c.is_alphanumeric() || (c.is_uppercase() && was_lower);
        if begins && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.into_iter().filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENTS: [(&str, &str); 5] = [
        ("Summarize my e-mail", "Reads new messages and writes a digest."),
        ("Mail", "Sends a message."),
        ("Time sheet", "Adds up hours for the calendar."),
        ("SendWebRequestBlock", "Asks a web server."),
        ("Weather report", "Says every morning whether it rains."),
    ];

    fn found(query: &str) -> Vec<&'static str> {
        let ranked = rank(query, AGENTS, |(name, about)| vec![name, about]);
        assert!(ranked.iter().all(|(score, _)| *score > 0.0 && *score <= 1.0), "{query}");
        ranked.into_iter().map(|(_, (name, _))| name).collect()
    }

    #[test]
    fn words_are_found_in_any_order_and_form() {
        assert_eq!(found("mail summary"), ["Summarize my e-mail", "Mail"]);
        assert_eq!(found("REQUEST web"), ["SendWebRequestBlock"]);
        assert_eq!(found("timesheet"), ["Time sheet"]);
        assert_eq!(found("calendar"), ["Time sheet"]);
    }

    #[test]
    fn the_name_itself_comes_first() {
        assert_eq!(found("mail"), ["Mail", "Summarize my e-mail"]);
    }

    #[test]
    fn one_or_two_typos_are_tolerated_where_nothing_else_matches() {
        assert_eq!(found("waether"), ["Weather report"]);
        assert_eq!(found("calandar"), ["Time sheet"]);
        assert_eq!(found("sumarize"), ["Summarize my e-mail"]);
        assert_eq!(found("reprot"), ["Weather report"]);
    }

    #[test]
    fn unrelated_queries_find_nothing() {
        for query in ["zeppelin", "wxyz", "!!!! qq"] {
            let hits = found(query);
            assert!(hits.is_empty(), "{query}: {hits:?}");
        }
        assert_eq!(found("  ").len(), AGENTS.len(), "without words everything matches");
    }

    #[test]
    fn typos_include_swapped_neighbors() {
        for (wanted, word, typos_made) in [
            ("form", "from", Some(1)),
            ("calendar", "calender", Some(1)),
            ("wikipedia", "wikpediaa", Some(2)),
            ("abc", "abd", None),
            ("mail", "rails", None),
        ] {
            assert_eq!(typos(wanted, word), typos_made, "{wanted} {word}");
        }
    }
}
