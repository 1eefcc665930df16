//! A task: what a person says, and what the agent must do then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use protocol::rehearsal::AgentState;
use protocol::response::GoalType;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Larger files are no tasks.
const MAX_BYTES: u64 = 1024 * 1024;
const MAX_TASKS: usize = 1_000;

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvalTask {
    /// The name of the file.
    #[serde(skip)]
    pub(crate) name: String,
    /// What the person wants.
    pub(crate) goal: String,
    /// What the person answers if the generator asks. Without it, a question fails the task.
    #[serde(default)]
    pub(crate) answer: Option<String>,
    pub(crate) expected: Expected,
}

/// What must come out.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    /// The goal must be refused as this, with another one suggested. Nothing else is expected then.
    #[serde(default)]
    pub(crate) goal: Option<GoalType>,
    /// Whether the generator must ask before it makes the agent.
    #[serde(default)]
    pub(crate) question: bool,
    /// One of the states that a rehearsal may lead to. By default, those of agents that are ready to use.
    #[serde(default = "ready")]
    pub(crate) state: Vec<AgentState>,
    /// Blocks that the agent must use.
    #[serde(default)]
    pub(crate) blocks: Vec<String>,
    /// Rehearsals with given inputs.
    #[serde(default)]
    pub(crate) rehearsals: Vec<ExpectedRehearsal>,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedRehearsal {
    #[serde(default)]
    pub(crate) inputs: Map<String, Value>,
    /// Outputs by step and pin, for blocks that reach outside.
    #[serde(default)]
    pub(crate) pinned: BTreeMap<String, Map<String, Value>>,
    /// Values by output. Other outputs may have any value.
    pub(crate) outputs: Map<String, Value>,
}

fn ready() -> Vec<AgentState> {
    vec![AgentState::Rehearsed, AgentState::Verified]
}

/// The tasks of a folder in the order of their names, or the one of a file.
pub(crate) fn load(path: &Path) -> anyhow::Result<Vec<EvalTask>> {
    let files = match path.is_dir() {
        true => files(path)?,
        false => vec![path.to_owned()],
    };
    anyhow::ensure!(
        !files.is_empty(),
        "{} has no tasks: files that end in .yaml, .yml or .json.",
        path.display()
    );
    anyhow::ensure!(
        files.len() <= MAX_TASKS,
        "{} has more than {MAX_TASKS} tasks.",
        path.display()
    );
    files.iter().map(|file| read(file)).collect()
}

fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let named = || format!("could not read the folder {}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(named)? {
        let file = entry.with_context(named)?.path();
        let ending = file.extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("yaml" | "yml" | "json")) {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> anyhow::Result<EvalTask> {
    let named = || format!("could not read {}", file.display());
    let bytes = std::fs::metadata(file).with_context(named)?.len();
    anyhow::ensure!(bytes <= MAX_BYTES, "{} has more than {MAX_BYTES} bytes.", file.display());
    let text = std::fs::read_to_string(file).with_context(named)?;
    let name =
        file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let task = parse(&text).with_context(|| format!("{} is no task", file.display()))?;
    Ok(EvalTask { name, ..task })
}

fn parse(text: &str) -> anyhow::Result<EvalTask> {
    // JSON is YAML, so one reader serves both.
    let task: EvalTask = serde_saphyr::from_str(text)?;
    anyhow::ensure!(!task.goal.trim().is_empty(), "the goal is empty");
    Ok(task)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_task_expects_an_agent_that_is_ready_unless_it_says_otherwise() {
        let task = parse("goal: Count words\nexpected: {}").expect("a task");
        assert_eq!(task.expected.state, [AgentState::Rehearsed, AgentState::Verified]);
        assert_eq!((task.answer, task.expected.goal, task.expected.question), (None, None, false));
        let text = "goal: Dream\nanswer: no\nexpected:\n  goal: unachievable\n";
        let task = parse(text).expect("a task");
        assert_eq!(task.expected.goal, Some(GoalType::Unachievable));
        let text = "goal: Add\nexpected:\n  state: [verified]\n  blocks: [Calculator]\n  rehearsals:\n  \
                    - {inputs: {a: 1}, outputs: {sum: 1.5}}\n";
        let task = parse(text).expect("a task");
        assert_eq!(task.expected.blocks, ["Calculator"]);
        assert_eq!(json!(task.expected.rehearsals[0].outputs), json!({"sum": 1.5}));
    }

    #[test]
    fn a_misspelled_task_is_refused() {
        for text in [
            "goal: Add",
            "goal: ''\nexpected: {}",
            "goal: Add\nexpects: {}",
            "goal: Add\nexpected: {state: [good]}",
            "goal: Add\nexpected: {rehearsals: [{input: {}}]}",
            "- a list",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
