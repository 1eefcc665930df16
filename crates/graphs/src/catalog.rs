//! How documents look up blocks and agents.

use protocol::block::BlockSpec;
use protocol::{BlockId, GraphId};
use serde_json::Value;

/// The blocks of a server.
pub trait BlockSpecs {
    fn spec(&self, id: &BlockId) -> Option<&BlockSpec>;

    fn specs(&self) -> Box<dyn Iterator<Item = &BlockSpec> + '_>;
}

/// Finds a block by its id or by its name, as people write it: `Send Web Request`, `SendWebRequestBlock`.
pub fn find_block<'a>(blocks: &'a dyn BlockSpecs, name: &str) -> Option<&'a BlockSpec> {
    blocks.spec(&BlockId::from(name)).or_else(|| {
        let wanted = comparable(name);
        blocks.specs().find(|spec| comparable(spec.name) == wanted)
    })
}

/// The name of a block as people write it: `SendWebRequestBlock` is `Send Web Request`.
pub fn block_title(name: &str) -> String {
    let name = name.strip_suffix("Block").filter(|rest| !rest.is_empty()).unwrap_or(name);
    let letters: Vec<char> = name.chars().collect();
    let mut title = String::with_capacity(name.len() + 4);
    for (at, letter) in letters.iter().enumerate() {
        let starts_word = letter.is_ascii_uppercase() && at > 0 && {
            let follows_small = !letters[at - 1].is_ascii_uppercase();
            // The last capital of `RSSFeed` starts a word.
            let precedes_small = letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
            follows_small || precedes_small
        };
        if starts_word {
            title.push(' ');
        }
        title.push(*letter);
    }
    title
}

/// Letters and digits only, in lower case, without the suffix of class names.
fn comparable(name: &str) -> String {
    let plain: String =
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    match plain.strip_suffix("block") {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => plain,
    }
}

/// The block names that are most like this one, best first.
pub fn similar_blocks(blocks: &dyn BlockSpecs, name: &str) -> Vec<String> {
    let wanted = comparable(name);
    let mut ranked: Vec<(usize, String)> = blocks
        .specs()
        .map(|spec| {
            let known = comparable(spec.name);
            let distance = match known.contains(&wanted) || wanted.contains(&known) {
                true => 1,
                false => edit_distance(&known, &wanted),
            };
            (distance, block_title(spec.name))
        })
        .filter(|(distance, _)| *distance <= 2 + wanted.len() / 4)
        .collect();
    ranked.sort();
    ranked.into_iter().take(3).map(|(_, title)| title).collect()
}

/// The candidate that is most like `name`, if one is close enough to be what was meant.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + name.chars().count() / 4;
    let ranked = candidates.into_iter().map(|candidate| {
        let same = candidate.to_lowercase() == name.to_lowercase();
        (if same { 0 } else { edit_distance(candidate, name) }, candidate)
    });
    let (distance, best) = ranked.min_by_key(|(distance, _)| *distance)?;
    (distance <= limit).then_some(best)
}

/// Like `closest`, if only one candidate can be meant: no other is equally close.
pub fn only_closest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let best = closest(name, candidates.iter().copied())?;
    let same = |candidate: &str| candidate.to_lowercase() == name.to_lowercase();
    let distance = |candidate: &str| match same(candidate) {
        true => 0,
        false => edit_distance(candidate, name),
    };
    let nearest = distance(best);
    let others = candidates.iter().filter(|candidate| **candidate != best);
    others.into_iter().all(|other| distance(other) > nearest).then_some(best)
}

/// Insertions, deletions, replacements and swaps of neighbors that turn one text into the other. Long texts are compared
/// by their beginning, which bounds the work.
fn edit_distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 64;
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(LONGEST).collect(), b.chars().take(LONGEST).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// The inputs and outputs of an agent that another one runs.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentInterface {
    pub id: GraphId,
    pub version: u32,
    pub name: String,
    pub input_schema: Value,
    pub output_schema: Value,
}

/// The agents that a document may run.
pub trait KnownAgents {
    /// `None` as version: the active one.
    fn agent(&self, id: &GraphId, version: Option<u32>) -> Option<AgentInterface>;
}

/// Agents given as a list.
impl KnownAgents for Vec<AgentInterface> {
    fn agent(&self, id: &GraphId, version: Option<u32>) -> Option<AgentInterface> {
        let is_it = |agent: &&AgentInterface| {
            agent.id == *id && version.is_none_or(|version| version == agent.version)
        };
        self.iter().find(is_it).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_named_as_people_write_it() {
        for (class, title) in [
            ("SendWebRequestBlock", "Send Web Request"),
            ("AITextGeneratorBlock", "AI Text Generator"),
            ("ReadRSSFeedBlock", "Read RSS Feed"),
            ("XMLParserBlock", "XML Parser"),
            ("ConditionBlock", "Condition"),
        ] {
            assert_eq!(block_title(class), title);
            assert_eq!(comparable(class), comparable(title));
        }
    }

    #[test]
    fn the_closest_name_is_the_one_that_was_meant() {
        assert_eq!(closest("respnose", ["response", "prompt"]), Some("response"));
        assert_eq!(closest("Text", ["text"]), Some("text"));
        assert_eq!(closest("weather", ["response", "prompt"]), None);
    }
}
