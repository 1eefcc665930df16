//! `decompose_goal`: shows the user the plan for an agent.

use async_trait::async_trait;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{PlannedStep, ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::{ToolDefinition, TypedTool};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|_| Some(DecomposeGoal))
}

struct DecomposeGoal;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DecomposeGoalArguments {
    /// What the agent should do, in the user's words.
    #[schemars(length(max = 2000))]
    goal: String,
    /// The steps of the plan, in order.
    #[schemars(length(max = 50))]
    steps: Vec<StepArgument>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StepArgument {
    /// What this step does, in a short sentence.
    #[schemars(length(max = 500))]
    description: String,
    /// What it adds to the agent.
    action: PlannedAction,
    /// The block that it uses, if one.
    #[schemars(length(max = 200))]
    block_name: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PlannedAction {
    AddBlock,
    ConnectBlocks,
    Configure,
    AddInput,
    AddOutput,
}

impl PlannedAction {
    fn as_str(self) -> &'static str {
        match self {
            Self::AddBlock => "add_block",
            Self::ConnectBlocks => "connect_blocks",
            Self::Configure => "configure",
            Self::AddInput => "add_input",
            Self::AddOutput => "add_output",
        }
    }
}

#[async_trait]
impl TypedTool for DecomposeGoal {
    type Arguments = DecomposeGoalArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "decompose_goal",
            "Show the user the plan for an agent before you build it. It is only shown.",
        )
        .summary("shows the plan for an agent")
        .effect(ToolEffect::None)
        .labels(ToolLabels::new("Plan", ToolIcon::ListTodo, "Planning", "Planned"))
    }

    async fn call(
        &self,
        DecomposeGoalArguments { goal, steps }: DecomposeGoalArguments,
        _: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        if goal.trim().is_empty() {
            return Err(ToolError::tell("missing_goal", "The goal is empty."));
        }
        if steps.is_empty() {
            return Err(ToolError::tell("missing_steps", "The plan has no steps."));
        }
        if let Some(at) = steps.iter().position(|step| step.description.trim().is_empty()) {
            let message = format!("steps[{at}] has no description.");
            return Err(ToolError::tell("empty_description", message));
        }
        let planned = |(index, step): (usize, StepArgument)| PlannedStep {
            step_id: format!("step_{}", index + 1),
            description: step.description,
            action: step.action.as_str().to_owned(),
            block_name: step.block_name,
            status: "pending".to_owned(),
        };
        let steps: Vec<PlannedStep> = steps.into_iter().enumerate().map(planned).collect();
        let step_count = steps.len();
        let body = ResponseBody::TaskDecomposition { goal, steps, step_count };
        Ok(ToolResponse::new("The plan is shown to the user.", body))
    }

    fn examples() -> Vec<ToolExample> {
        let step = json!({"description": "Ask for the text", "action": "add_input"});
        vec![
            ToolExample {
                arguments: json!({"goal": "Count words", "steps": [step]}),
                response: "task_decomposition",
            },
            ToolExample {
                arguments: json!({"goal": "Count words", "steps": []}),
                response: "error",
            },
        ]
    }
}
