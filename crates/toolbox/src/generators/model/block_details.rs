//! The schemas of the blocks that a request is about. The guide lists every block with its pins; the types and
//! descriptions of all pins would fill the model's context.

use graphs::catalog::block_title;
use protocol::block::BlockSpec;
use serde_json::{Value, json};

use crate::tools::block_choice::{BlockCatalog, best_matches};
use crate::tools::building_guide::is_step;

const MAX_BLOCKS: usize = 15;
/// Matches of each search.
const PER_SEARCH: usize = 3;
const MAX_CHARS: usize = 30_000;

/// The blocks that the text mentions by name, then those that match one of the searches, a JSON object each.
pub(crate) fn of(blocks: &BlockCatalog, searches: &[&str], mentioned_in: &str) -> String {
    let steps: Vec<&BlockSpec> = blocks.specs().filter(|spec| is_step(spec)).collect();
    let mentioned = plain(mentioned_in);
    let mut chosen: Vec<&BlockSpec> =
        steps.iter().copied().filter(|spec| is_mentioned(spec, &mentioned)).collect();
    for search in searches {
        for spec in best_matches(search, steps.clone(), PER_SEARCH) {
            if !chosen.iter().any(|other| other.id == spec.id) {
                chosen.push(spec);
            }
        }
    }
    let mut text = String::new();
    for spec in chosen.into_iter().take(MAX_BLOCKS) {
        let line = described(spec).to_string();
        if text.len() + line.len() > MAX_CHARS {
            break;
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn is_mentioned(spec: &BlockSpec, text: &str) -> bool {
    let title = format!(" {} ", plain(&block_title(spec.name)).trim());
    text.contains(&title) || text.contains(&format!(" {} ", spec.name.to_lowercase()))
}

/// Words in lower case, with a space before and after each.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut plain = String::from(" ");
    for word in words {
        plain.push_str(&word.to_lowercase());
        plain.push(' ');
    }
    plain
}

fn described(spec: &BlockSpec) -> Value {
    let required: Vec<&str> = spec.required().collect();
    json!({
        "block": block_title(spec.name),
        "inputs": spec.inputs.get("properties"),
        "required": required,
        "outputs": spec.outputs.get("properties"),
        "$defs": spec.inputs.get("$defs"),
    })
}
