//! Agents that another service reports as the result of an operation: the stages run, the agent is saved, and what is
//! stored as the result is what the tool itself would have answered.

use std::sync::Arc;

use ports::call_services::{AgentBuilt, BuildAgent, BuildTarget, GivenAgent};
use ports::store::OperationKey;
use ports::{PortError, PortResult};
use protocol::message::ToolOutcome;
use protocol::operation::{Operation, OperationCompletion, OperationResult};
use protocol::redact;
use protocol::response::ToolResponse;
use protocol::session::Owner;
use protocol::text::scrub;
use protocol::tool::ReportedResult;
use protocol::{FolderId, GraphId, UserId};
use serde_json::{Value, json};

use crate::graph::AgentStages;
use crate::operations::operation_key;
use crate::turn::output::cut_output;
use crate::turn::tool_list::arguments;
use crate::{Engine, EngineInner};

/// What the result is stored as, if the completion reports an agent. `None`: it is stored as it was reported.
///
/// A completion that is delivered again, or after a crash before it was stored, saves nothing twice: the id of a new agent
/// follows from the operation, and a version that means the same as the newest one is not added.
pub(crate) async fn result_of_agent(
    inner: &Arc<EngineInner>,
    which: &OperationKey,
    completion: &OperationCompletion,
) -> PortResult<Option<OperationResult>> {
    let Some(agent) = reported_agent(completion) else { return Ok(None) };
    let Some((Owner::User(user), operation)) = inner.ports.operations.find(which).await? else {
        return Ok(None);
    };
    if operation.result.is_some() {
        return Ok(None);
    }
    let arguments = arguments(&operation.call).unwrap_or_default();
    let reported = inner.tools.reported_result(&operation.call.name);
    let Some(target) = target(reported, &arguments) else { return Ok(None) };
    let save = arguments.get("save").and_then(Value::as_bool).unwrap_or(true);
    let build = BuildAgent { agent: GivenAgent::Graph(agent.clone()), target, save };
    let response = match stages(inner, user, &operation).build(build).await {
        Ok(built) => answer(built, agent),
        // The completion is not acknowledged and comes again.
        Err(error @ (PortError::Full | PortError::Unavailable(_) | PortError::Closed)) => {
            return Err(error);
        }
        Err(error @ PortError::Broken(_)) => {
            tracing::error!(%error, operation.id = %operation.id, "could not build a reported agent");
            let words = "The agent could not be saved. The server's log has the reason.";
            (with_agent(ToolResponse::error("save_failed", words), agent), ToolOutcome::Error)
        }
    };
    let (mut output, outcome) = response;
    if let Value::Object(members) = &mut output {
        members.insert("session_id".to_owned(), json!(operation.session_id));
    }
    let output = cut_output(scrub(output), "The result was cut to fit.").to_string();
    Ok(Some(OperationResult { output, outcome }))
}

/// The `agent_json` of a successful completion, as an object or as its text.
fn reported_agent(completion: &OperationCompletion) -> Option<Value> {
    let result = completion.result.as_ref().filter(|_| completion.success)?;
    match result.get("agent_json")? {
        Value::Null => None,
        Value::String(text) => Some(serde_json::from_str(text).unwrap_or_else(|_| json!(text))),
        agent => Some(agent.clone()),
    }
}

fn target(reported: ReportedResult, arguments: &Value) -> Option<BuildTarget> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    match reported {
        ReportedResult::Kept => None,
        ReportedResult::NewAgent => {
            let folder = text("folder_id").filter(|folder| !folder.is_empty()).map(FolderId::from);
            Some(BuildTarget::NewAgent { folder, template: None })
        }
        ReportedResult::NewVersion(argument) => {
            let of = GraphId::from(text(argument)?);
            Some(BuildTarget::NewVersion { of, base_version: None })
        }
    }
}

fn stages(inner: &Arc<EngineInner>, user: UserId, operation: &Operation) -> AgentStages {
    AgentStages {
        engine: Engine { inner: inner.clone() },
        user,
        key: operation_key(&operation.id),
        reports: None,
    }
}

/// The work of the service is kept in the answer when it could not be saved.
fn answer(built: AgentBuilt, agent: Value) -> (Value, ToolOutcome) {
    match &built {
        AgentBuilt::Saved(_) | AgentBuilt::Preview(_) => {
            (json!(ToolResponse::from(built)), ToolOutcome::Ok)
        }
        _ => (with_agent(ToolResponse::from(built), agent), ToolOutcome::Error),
    }
}

fn with_agent(response: ToolResponse, mut agent: Value) -> Value {
    redact::hide_secrets(&mut agent);
    let mut output = json!(response);
    if let Value::Object(members) = &mut output {
        members.insert("agent_json".to_owned(), agent);
    }
    output
}

#[cfg(test)]
mod tests {
    use protocol::graph::GraphProblem;

    use super::*;

    fn completion(result: Value) -> OperationCompletion {
        OperationCompletion { success: true, result: Some(result), error: None }
    }

    #[test]
    fn only_a_successful_completion_with_an_agent_reports_one() {
        let agent = json!({"nodes": []});
        for (result, expected) in [
            (json!({"agent_json": agent}), Some(agent.clone())),
            (json!({"agent_json": agent.to_string()}), Some(agent.clone())),
            (json!({"agent_json": "no JSON"}), Some(json!("no JSON"))),
            (json!({"agent_json": null}), None),
            (json!({"file": "film.mp4"}), None),
            (json!("agent_json"), None),
        ] {
            assert_eq!(reported_agent(&completion(result.clone())), expected, "{result}");
        }
        let failed =
            OperationCompletion { success: false, ..completion(json!({"agent_json": agent})) };
        assert_eq!(reported_agent(&failed), None);
    }

    #[test]
    fn the_target_follows_from_the_tool_and_its_arguments() {
        let arguments = json!({"agent_id": "a", "folder_id": "f"});
        let new = BuildTarget::NewAgent { folder: Some("f".into()), template: None };
        let version = BuildTarget::NewVersion { of: "a".into(), base_version: None };
        for (reported, arguments, expected) in [
            (ReportedResult::Kept, &arguments, None),
            (ReportedResult::NewAgent, &arguments, Some(new)),
            (ReportedResult::NewAgent, &json!({"folder_id": ""}), Some(BuildTarget::NEW)),
            (ReportedResult::NewVersion("agent_id"), &arguments, Some(version)),
            (ReportedResult::NewVersion("agent_id"), &json!({}), None),
        ] {
            assert_eq!(target(reported, arguments), expected, "{reported:?}");
        }
    }

    #[test]
    fn an_agent_that_is_not_saved_is_kept_without_its_secrets() {
        let agent = json!({"nodes": [{"input_default": {"api_key": "sk-1", "url": "https://a"}}]});
        let problem = GraphProblem { code: "unknown_block".into(), ..GraphProblem::default() };
        let (output, outcome) = answer(AgentBuilt::Invalid(vec![problem]), agent);
        assert_eq!(
            (&output["type"], &output["error"]),
            (&json!("error"), &json!("validation_failed"))
        );
        assert_eq!(outcome, ToolOutcome::Error);
        assert_eq!(
            output["agent_json"]["nodes"][0]["input_default"],
            json!({"api_key": "[REDACTED]", "url": "https://a"})
        );
    }
}
