//! Compares two versions of an agent, and says what the difference means: effects, credentials, interface, cost. Only the
//! meaning counts; ids, positions and order never show.

mod consequences;
mod interface;
mod matching;
mod reversed;
mod shown_value;
mod steps;
#[cfg(test)]
mod tests;
mod text;

use protocol::graph::Graph;
use protocol::graph_diff::{AgentDiff, CostChange, TextChange};
use protocol::text::cut_end;

use crate::catalog::BlockSpecs;
use crate::meaning::meaning;
use crate::named_graph::NamedGraph;
use shown_value::SecretTexts;

pub use reversed::reversed;
pub use text::to_text;

/// What changes from one graph to the other. Nodes are the same if their ids are, or else their names. `used_by` is left to
/// those who can look it up.
pub fn diff(from: &Graph, to: &Graph, blocks: &dyn BlockSpecs) -> AgentDiff {
    let cost =
        CostChange { from: consequences::cost(from, blocks), to: consequences::cost(to, blocks) };
    if meaning(from, blocks) == meaning(to, blocks) {
        return AgentDiff { cost, ..AgentDiff::default() };
    }
    let (from_named, to_named) = NamedGraph::read_both(from, to, blocks);
    let pairs = matching::pairs(&from_named, &to_named);
    let secrets = SecretTexts::of([from, to], blocks);
    let (steps, links) = steps::compare(&from_named, &to_named, &pairs, &secrets, blocks);
    AgentDiff {
        about: about(from, to, &secrets),
        steps,
        links,
        interface: interface::compare(from, to, &pairs, &secrets, blocks),
        effects: consequences::effects(&from_named, &to_named, &pairs, blocks),
        credentials: consequences::credentials(&from_named, &to_named, blocks),
        cost,
        used_by: Vec::new(),
    }
}

fn about(from: &Graph, to: &Graph, secrets: &SecretTexts) -> Vec<TextChange> {
    let texts = |graph: &Graph| {
        [
            ("name", graph.name.clone()),
            ("description", graph.description.clone()),
            ("instructions", graph.instructions.clone().unwrap_or_default()),
            ("recommended_schedule", graph.recommended_schedule_cron.clone().unwrap_or_default()),
        ]
    };
    let pairs = texts(from).into_iter().zip(texts(to));
    let changed = pairs.filter(|((_, from), (_, to))| from != to);
    let change = |((field, from), (_, to)): ((&str, String), (&str, String))| TextChange {
        field: field.to_owned(),
        from: cut_end(&secrets.mask(&from), shown_value::MAX_CHARS),
        to: cut_end(&secrets.mask(&to), shown_value::MAX_CHARS),
    };
    changed.map(change).collect()
}
