//! Agents of the user's library that a new agent may use as steps.

use ports::agent_generator::{AgentGoal, UsableAgent};
use ports::tool::{ToolContext, ToolError};
use protocol::UserId;
use protocol::library::LibraryAgent;
use protocol::limits::SEARCH_CHARS;
use protocol::text::cut_end;
use serde_json::Value;

use crate::tools::agent_lookup::AgentLookup;

/// Agents that a generator is told of.
const MAX_AGENTS: usize = 15;
/// Steps of a plan by which agents are searched, and agents that each may add.
const SEARCHED_STEPS: usize = 3;
const FOUND_PER_STEP: usize = 3;

impl AgentLookup {
    /// The agents with these graph ids or library ids. Unknown ones are skipped.
    pub(crate) async fn usable(
        &self,
        context: &ToolContext,
        user: &UserId,
        ids: &[String],
    ) -> Result<Vec<UsableAgent>, ToolError> {
        let mut found = Vec::new();
        for id in ids.iter().map(|id| id.trim()).filter(|id| !id.is_empty()) {
            if let Some(entry) = self.entry(user, id).await? {
                add(context, &entry, &mut found).await?;
            }
        }
        Ok(found)
    }

    /// Adds the agents that fit the first steps of a plan.
    pub(crate) async fn add_usable(
        &self,
        context: &ToolContext,
        user: &UserId,
        steps: &[String],
        goal: &mut AgentGoal,
    ) -> Result<(), ToolError> {
        for step in steps.iter().take(SEARCHED_STEPS) {
            let words = cut_end(step, SEARCH_CHARS - 1);
            let entries = self.entries(user, &words).await?;
            for (_, entry) in entries.into_iter().take(FOUND_PER_STEP) {
                add(context, &entry, &mut goal.library_agents).await?;
            }
        }
        Ok(())
    }
}

async fn add(
    context: &ToolContext,
    entry: &LibraryAgent,
    found: &mut Vec<UsableAgent>,
) -> Result<(), ToolError> {
    let is_known = found.iter().any(|agent| agent.graph_id == entry.graph_id);
    if is_known || found.len() == MAX_AGENTS {
        return Ok(());
    }
    let version = Some(entry.graph_version);
    let described = context.services.agents.describe(&entry.graph_id, version).await?;
    // The graph of an entry may be gone.
    found.extend(described.map(|agent| UsableAgent {
        graph_id: entry.graph_id.clone(),
        graph_version: entry.graph_version,
        name: entry.name.clone(),
        description: entry.description.clone(),
        input_schema: agent.input_schema,
        output_schema: agent.output_schema,
    }));
    Ok(())
}

/// What the steps of a plan do, in words.
pub(crate) fn step_texts(instructions: &Value) -> Vec<String> {
    let steps = instructions.get("steps").and_then(Value::as_array);
    let text = |step: &Value| {
        let named = ["description", "action", "name"].iter().filter_map(|name| step.get(name));
        let text = step.as_str().or_else(|| named.filter_map(Value::as_str).next())?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    steps.into_iter().flatten().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_texts_of_a_plan_are_those_of_its_steps() {
        let plan = json!({"steps": [
            {"description": " Read the page ", "action": "add_block"}, "Count the words",
            {"action": "Send it"}, {"description": ""}, 5,
        ]});
        assert_eq!(step_texts(&plan), ["Read the page", "Count the words", "Send it"]);
        assert!(step_texts(&json!({})).is_empty() && step_texts(&json!({"steps": "a"})).is_empty());
    }
}
