//! Changes an agent as a sentence asks for. Each kind of change is a function that recognizes its sentences; to add one,
//! write it and add it to `KINDS`.

mod additions;
mod approval;
mod naming;
mod removal;
mod spec_change;
mod target;
mod values;

use std::cell::Cell;
use std::sync::Arc;

use graphs::catalog::BlockSpecs;
use graphs::decompile::decompile;
use graphs::spec::{self, AgentSpec};
use ports::Block;
use ports::agent_generator::{AgentGoal, Generated, GeneratorError};
use ports::call_services::GivenAgent;
use protocol::BlockId;
use protocol::block::BlockSpec;
use protocol::graph::Graph;
use protocol::response::{GoalType, SuggestedGoal, UserQuestion};

use crate::words::Words;
use spec_change::SpecChange;

/// The outcome of a sentence that a kind of change recognizes.
pub(crate) type Changed = Result<(), Obstacle>;

/// Why a change that was understood cannot be made.
pub(crate) enum Obstacle {
    /// Something is missing; the answer completes the change.
    Question(UserQuestion),
    /// It cannot be made, and why.
    Impossible(String),
}

/// Tries to make a change; `None` if the sentence asks for something else.
type ChangeKind = fn(&mut SpecChange<'_>, &Words<'_>) -> Option<Changed>;

/// In the order in which they are tried.
const KINDS: [ChangeKind; 10] = [
    naming::rename,
    naming::describe,
    approval::remove,
    approval::add,
    removal::remove,
    additions::send,
    additions::output,
    additions::input,
    values::replace,
    values::set,
];

/// What the kinds understand, for people.
const UNDERSTOOD: &str = "rename it to …; change the description to …; set INPUT to VALUE; use NEW instead of OLD; ask me \
                          before STEP; don't ask me; remove the step, input or output NAME; add an output NAME from STEP; \
                          add an input NAME with default VALUE; send the result to WEB ADDRESS";

/// Where one change may end and the next begin, when a sentence as a whole is not understood.
const SEPARATORS: [&str; 6] = ["\n", ";", ", and ", ". ", " and then ", " and "];

/// How large an agent and a change may be: the rules compare each with the other.
const MAX_SPEC_BYTES: usize = 100_000;
const MAX_CHANGE_BYTES: usize = 2_000;
/// How many parts of a text are tried as a change. A text of many clauses can be split in more ways than can be tried.
const MAX_TRIES: usize = 100;

pub(crate) struct AgentChanger {
    blocks: ServerBlocks,
}

/// The blocks of the server.
pub(crate) struct ServerBlocks(Vec<Arc<dyn Block>>);

impl BlockSpecs for ServerBlocks {
    fn spec(&self, id: &BlockId) -> Option<&BlockSpec> {
        self.specs().find(|spec| spec.id == id.as_str())
    }

    fn specs(&self) -> Box<dyn Iterator<Item = &BlockSpec> + '_> {
        Box::new(self.0.iter().map(|block| block.spec()))
    }
}

impl AgentChanger {
    pub(crate) fn new(blocks: &[Arc<dyn Block>]) -> Self {
        Self { blocks: ServerBlocks(blocks.to_vec()) }
    }

    /// The changed agent, or what is missing for it.
    pub(crate) fn change(
        &self,
        spec: &str,
        graph: &Graph,
        change: &AgentGoal,
    ) -> Result<Generated, GeneratorError> {
        let before = match spec::parse(spec) {
            Ok(read) if !spec.trim().is_empty() => read,
            _ => decompile(graph, &self.blocks),
        };
        let text = change.description.trim();
        let suggest = |reason: String| {
            Ok(Generated::Suggestion(SuggestedGoal {
                suggested_goal: example(&before),
                reason,
                original_goal: Some(text.to_owned()),
                goal_type: GoalType::Vague,
            }))
        };
        let context = change.context.as_deref().unwrap_or_default();
        if spec.len() > MAX_SPEC_BYTES || text.len() > MAX_CHANGE_BYTES {
            return suggest(
                "The agent or the change is too large. Without a model, only small changes of small agents are \
                 understood."
                    .to_owned(),
            );
        }
        let reading = ChangeReading { blocks: &self.blocks, context, tries: Cell::new(MAX_TRIES) };
        match reading.apply(&before, text) {
            None => suggest(format!(
                "The change was not understood. Without a model, these are: {UNDERSTOOD}. Several can be joined by “and”."
            )),
            Some(Err(Obstacle::Question(question))) => Ok(Generated::Questions(vec![question])),
            Some(Err(Obstacle::Impossible(reason))) => suggest(reason),
            Some(Ok(after)) if after == before => {
                suggest("The agent already is as the change asks for.".to_owned())
            }
            Some(Ok(after)) => Ok(Generated::Agent(GivenAgent::Spec(spec::to_value(&after)))),
        }
    }
}

/// One text while it is read.
struct ChangeReading<'a> {
    blocks: &'a ServerBlocks,
    context: &'a str,
    tries: Cell<usize>,
}

impl ChangeReading<'_> {
    /// The spec after all changes of the text; `None` if one of them is not understood. A text that can be read as several
    /// changes is: its beginning alone might fit a kind that ignores the rest.
    fn apply(&self, spec: &AgentSpec, text: &str) -> Option<Result<AgentSpec, Obstacle>> {
        let mut obstacle = None;
        for separator in SEPARATORS {
            for (at, _) in text.match_indices(separator) {
                let (first, rest) = (text[..at].trim(), text[at + separator.len()..].trim());
                if first.is_empty() || rest.is_empty() || is_inside_quotes(first) {
                    continue;
                }
                let after = match self.apply_one(spec, first) {
                    Some(Ok(after)) => after,
                    Some(Err(found)) => {
                        obstacle.get_or_insert(found);
                        continue;
                    }
                    None => continue,
                };
                if let Some(done) = self.apply(&after, rest) {
                    return Some(done);
                }
            }
        }
        match self.apply_one(spec, text) {
            Some(Err(found)) => Some(Err(obstacle.unwrap_or(found))),
            Some(done) => Some(done),
            None => obstacle.map(Err),
        }
    }

    fn apply_one(&self, spec: &AgentSpec, text: &str) -> Option<Result<AgentSpec, Obstacle>> {
        self.tries.set(self.tries.get().checked_sub(1)?);
        let text = without_preamble(text);
        let words = Words::of(text);
        // A kind that does not recognize the text leaves the spec as it is.
        let mut change =
            SpecChange { spec: spec.clone(), blocks: self.blocks, text, context: self.context };
        let done = KINDS.iter().find_map(|kind| kind(&mut change, &words))?;
        Some(done.map(|()| change.spec))
    }
}

/// The sentence without words that lead to the change: "Please change the agent so that it …".
fn without_preamble(text: &str) -> &str {
    const PREAMBLES: [&str; 14] = [
        "please",
        "change the agent so that",
        "change it so that",
        "change the agent:",
        "change it:",
        "edit the agent:",
        "edit it:",
        "update the agent:",
        "it should",
        "make it",
        "can you",
        "could you",
        "i want you to",
        "also",
    ];
    let mut text = text.trim();
    loop {
        let lower = text.to_lowercase();
        // Only ASCII phrases are stripped, which have the same length in lower case.
        let found = PREAMBLES.iter().find(|preamble| {
            lower.strip_prefix(**preamble).is_some_and(|rest| rest.starts_with(char::is_whitespace))
        });
        match found.and_then(|preamble| text.get(preamble.len()..)) {
            Some(rest) => text = rest.trim_start(),
            None => return text,
        }
    }
}

/// Whether a quotation is still open at the end of the text.
fn is_inside_quotes(text: &str) -> bool {
    text.matches('"').count() % 2 == 1 || text.matches('“').count() > text.matches('”').count()
}

/// A change that this agent could have.
fn example(spec: &AgentSpec) -> String {
    let number = spec.inputs.iter().find_map(|(name, input)| {
        let default = input.settings.get("value")?.as_f64()?;
        Some(format!("Set {name} to {}", default + 1.0))
    });
    number.unwrap_or_else(|| format!("Rename it to “{} 2”", spec.name))
}
