//! Finding things by a few words that somebody typed, best match first. It compares word by word, so that "mail
//! summary" finds "Summarise my e-mail", and forgives a wrong letter or two in a word that is found nowhere.

/// What is read of a query, and of one field.
const QUERY_WORDS: usize = 12;
const FIELD_WORDS: usize = 300;
/// Nobody's 300 words are longer.
const FIELD_CHARS: usize = 6_000;
/// Below this an item has too little to do with the query to be shown.
const LEAST: f64 = 0.3;
/// How much a hit in the first field counts, in the second, and in those after it.
const FIELD_WEIGHTS: [f64; 3] = [1.0, 0.8, 0.6];
/// So short a piece is found inside every other word.
const SHORTEST_PART: usize = 3;

/// The items that have to do with the query, with a score above 0 and up to 1. `fields` names the texts of an item, the
/// most telling one first. Without a query all of them match alike; equals keep their order.
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
            let spelling = if known { Spelling::Exact } else { Spelling::Forgiving };
            QueryWord { word, spelling }
        })
        .collect();
    let mut ranked: Vec<(f64, T)> = items
        .into_iter()
        .map(|read| (read.score(&wanted), read.item))
        .filter(|(score, _)| *score >= LEAST)
        .collect();
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranked
}

struct QueryWord {
    word: String,
    spelling: Spelling,
}

/// Whether letters may be wrong. They may in a word that nothing contains, which therefore is most likely misspelt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Exact,
    Forgiving,
}

struct IndexedItem<T> {
    item: T,
    fields: Vec<IndexedField>,
}

struct IndexedField {
    words: Vec<String>,
    /// All words in one, so that "timesheet" finds "time sheet" and the reverse.
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
            // The name itself is better than one that only contains it.
            _ => average * 0.95,
        }
    }

    /// How well a word of the query is met by the best place of the item.
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
    } else if have_one_stem(wanted, word) {
        0.7
    } else if spelling == Spelling::Forgiving {
        match slips(wanted, word) {
            Some(slips) => 0.7 - 0.1 * slips as f64,
            None => 0.0,
        }
    } else {
        0.0
    }
}

fn is_part(wanted: &str, whole: &str) -> bool {
    wanted.chars().count() >= SHORTEST_PART && whole.contains(wanted)
}

/// `summary` and `summarise`, `agents` and `agent`: most of both words is the same, from the start.
fn have_one_stem(a: &str, b: &str) -> bool {
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let (shorter, longer) = {
        let (a, b) = (a.chars().count(), b.chars().count());
        (a.min(b), a.max(b))
    };
    same >= 4 && same + 1 >= shorter && same * 5 >= longer * 3
}

/// How many letters are wrong, missing, too many or swapped: one may be, in a long word two.
fn slips(wanted: &str, word: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (wanted.chars().collect(), word.chars().collect());
    let allowed = match a.len() {
        0..=3 => return None,
        4..=7 => 1,
        _ => 2,
    };
    if a.len().abs_diff(b.len()) > allowed {
        return None;
    }
    // The usual table of distances, of which three rows are enough to see swapped neighbours.
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
        ("Summarise my e-mail", "Reads new messages and writes a digest."),
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
        assert_eq!(found("mail summary"), ["Summarise my e-mail", "Mail"]);
        assert_eq!(found("REQUEST web"), ["SendWebRequestBlock"]);
        assert_eq!(found("timesheet"), ["Time sheet"]);
        assert_eq!(found("calendar"), ["Time sheet"]);
    }

    #[test]
    fn the_name_itself_comes_first() {
        assert_eq!(found("mail"), ["Mail", "Summarise my e-mail"]);
    }

    #[test]
    fn a_slip_or_two_is_forgiven_where_nothing_else_fits() {
        assert_eq!(found("waether"), ["Weather report"]);
        assert_eq!(found("calandar"), ["Time sheet"]);
        assert_eq!(found("sumarise"), ["Summarise my e-mail"]);
        assert_eq!(found("reprot"), ["Weather report"]);
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        for query in ["zeppelin", "wxyz", "!!!! qq"] {
            let hits = found(query);
            assert!(hits.is_empty(), "{query}: {hits:?}");
        }
        assert_eq!(found("  ").len(), AGENTS.len(), "without words everything matches");
    }

    #[test]
    fn slips_are_counted_with_swapped_neighbours() {
        for (wanted, word, slips_made) in [
            ("form", "from", Some(1)),
            ("calendar", "calender", Some(1)),
            ("wikipedia", "wikpediaa", Some(2)),
            ("abc", "abd", None),
            ("mail", "rails", None),
        ] {
            assert_eq!(slips(wanted, word), slips_made, "{wanted} {word}");
        }
    }
}
