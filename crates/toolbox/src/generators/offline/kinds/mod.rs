//! The kinds of agents that are built without a model. To add one, write its file and add it to `KINDS`.

mod invoice;
mod letters;
mod number_limit;
mod table_column;
mod text_cleaning;
mod text_numbers;
mod web_page;

use super::draft::AgentDraft;
use super::goal::Goal;

pub(crate) struct AgentKind {
    /// What its agents do, for people: "total an invoice".
    pub(crate) does: &'static str,
    /// A goal that it fits.
    pub(crate) example: &'static str,
    pub(crate) fits: fn(&Goal<'_>) -> bool,
    pub(crate) draft: fn(&Goal<'_>) -> AgentDraft,
    /// An address in the goal may be that of a page to read.
    pub(crate) reads_page: bool,
}

/// In the order in which they are tried: goals of an earlier kind may have words of a later one.
pub(crate) const KINDS: [&AgentKind; 7] = [
    &web_page::KIND,
    &letters::KIND,
    &invoice::KIND,
    &table_column::KIND,
    &text_numbers::KIND,
    &text_cleaning::KIND,
    &number_limit::KIND,
];

/// The kind that is suggested when nothing else is closer.
pub(crate) const MOST_USEFUL: &AgentKind = &invoice::KIND;

pub(crate) fn kind_of(goal: &Goal<'_>) -> Option<&'static AgentKind> {
    KINDS.into_iter().find(|kind| (kind.fits)(goal))
}

/// The number without a fraction that is zero, as JSON.
fn number(value: f64) -> serde_json::Value {
    match value.fract() == 0.0 && value.abs() < 1e15 {
        true => serde_json::json!(value as i64),
        false => serde_json::json!(value),
    }
}

/// A word as the name of a column or a title: `Amount` stays, punctuation goes.
fn clean_name(text: &str) -> String {
    let kept = text.trim().chars().filter(|c| c.is_alphanumeric() || " _-".contains(*c));
    kept.collect::<String>().trim().to_owned()
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
