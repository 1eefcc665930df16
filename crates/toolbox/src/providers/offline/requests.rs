//! Parses the messages that the page's cards send for the user ("Run the agent …", "I have approved …"), so that buttons
//! and forms work without a model. The page builds them in `web/src/tools/messages.ts`; `fixtures/requests.json` tests
//! both sides with the same sentences. Answers to questions have no fixed wording: `plan` recognizes them by the question
//! before them.

use serde_json::{Map, Value, json};

use super::command::PilotCommand;
use super::replies;

/// The command for the message of a card; `None` for any other message.
pub(crate) fn read(message: &str) -> Option<PilotCommand> {
    let message = message.trim();
    if let Some(rest) = message.strip_prefix("Run the ") {
        return run(rest);
    }
    let goal = message.strip_prefix("Use this goal instead: ");
    if let Some(goal) = goal.or_else(|| message.strip_prefix("Keep my goal as it is: ")) {
        let arguments = Map::from_iter([("description".to_owned(), json!(goal.trim()))]);
        return Some(call("create_agent", arguments));
    }
    if message.starts_with("Keep my goal as it is") {
        return Some(PilotCommand::Say(replies::GOAL));
    }
    if let Some(rest) = message.strip_prefix("Rehearse the agent ") {
        return rehearse(rest);
    }
    if let Some(rest) = message.strip_prefix("I have rejected ") {
        review(rest.strip_suffix("). Continue without it.")?)?;
        return Some(PilotCommand::Say(replies::REJECTED));
    }
    let review = review(message.strip_prefix("I have approved ")?.strip_suffix("). Continue.")?)?;
    let arguments = Map::from_iter([("review_id".to_owned(), json!(review))]);
    Some(call("continue_run_block", arguments))
}

fn run(rest: &str) -> Option<PilotCommand> {
    if let Some(rest) = rest.strip_prefix("agent ") {
        let request = RunRequest::read(rest)?;
        let mut arguments = request.agent();
        if let Some(inputs) = request.inputs {
            let waits = json!({"inputs": inputs, "use_defaults": true, "wait_for_result": 30});
            arguments.extend(waits.as_object().cloned().unwrap_or_default());
        }
        return Some(call("run_agent", arguments));
    }
    let request = RunRequest::read(rest.strip_prefix("block ")?)?;
    let mut arguments = Map::from_iter([("block_id".to_owned(), json!(request.id))]);
    arguments.extend(request.inputs.map(|inputs| ("input_data".to_owned(), json!(inputs))));
    Some(call("run_block", arguments))
}

fn rehearse(rest: &str) -> Option<PilotCommand> {
    let request = RunRequest::read(rest)?;
    let mut arguments = request.agent();
    let rehearses = json!({
        "inputs": request.inputs.unwrap_or_default(), "use_defaults": true, "dry_run": true,
        "wait_for_result": 30,
    });
    arguments.extend(rehearses.as_object().cloned().unwrap_or_default());
    Some(call("run_agent", arguments))
}

/// The id in "Send mail (review r-1".
fn review(decided: &str) -> Option<&str> {
    decided.rsplit_once("(review ").map(|(_, id)| id)
}

/// The agent or block to run, and its inputs. Without inputs the tool returns which ones it has.
struct RunRequest<'a> {
    id: &'a str,
    inputs: Option<Map<String, Value>>,
}

impl<'a> RunRequest<'a> {
    /// The argument that names the agent.
    fn agent(&self) -> Map<String, Value> {
        let id = if self.id.contains('/') { "username_agent_slug" } else { "library_agent_id" };
        Map::from_iter([(id.to_owned(), json!(self.id))])
    }

    fn read(rest: &'a str) -> Option<Self> {
        let (named, inputs) = match rest.split_once(" with these inputs:\n") {
            Some((named, lines)) => (named, Some(inputs(lines)?)),
            None => match rest.strip_suffix(" with its defaults.") {
                Some(named) => (named, Some(Map::new())),
                None => (rest.strip_suffix('.')?, None),
            },
        };
        let id = match named.strip_suffix(')') {
            Some(named) => named.rsplit_once('(')?.1,
            None => named,
        };
        (!id.is_empty() && !id.contains(char::is_whitespace)).then_some(Self { id, inputs })
    }
}

/// Parses lines of `name: value`. A value is JSON where it parses as such, otherwise plain text.
fn inputs(lines: &str) -> Option<Map<String, Value>> {
    let input = |line: &str| {
        let (name, value) = line.split_once(": ")?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        Some((name.to_owned(), value))
    };
    lines.lines().map(input).collect()
}

fn call(name: &str, arguments: Map<String, Value>) -> PilotCommand {
    PilotCommand::Tool { name: name.to_owned(), arguments: Value::Object(arguments).to_string() }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// A sentence of the page and the tool call it causes; none if it gets a text reply.
    #[derive(Deserialize)]
    struct CardRequest {
        message: String,
        call: Option<ExpectedCall>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct ExpectedCall {
        name: String,
        arguments: Value,
    }

    #[test]
    fn the_messages_of_the_cards_cause_their_calls() {
        let file = include_str!("../../../../../fixtures/requests.json");
        let requests: Vec<CardRequest> = serde_json::from_str(file).expect("requests");
        for CardRequest { message, call } in requests {
            let meant = match read(&message) {
                Some(PilotCommand::Tool { name, arguments }) => {
                    let arguments = serde_json::from_str(&arguments).expect("JSON");
                    Some(ExpectedCall { name, arguments })
                }
                Some(PilotCommand::Say(_)) => None,
                other => panic!("{message}: {other:?}"),
            };
            assert_eq!(meant, call, "{message}");
        }
    }

    #[test]
    fn a_rehearsal_names_its_agent() {
        for (message, id) in [
            (
                "Rehearse the agent “Tides” (0199).",
                json!({"library_agent_id": "0199", "inputs": {}}),
            ),
            (
                "Rehearse the agent harbor/tides with these inputs:\ndays: 3",
                json!({"username_agent_slug": "harbor/tides", "inputs": {"days": 3}}),
            ),
        ] {
            let Some(PilotCommand::Tool { name, arguments }) = read(message) else {
                panic!("{message}")
            };
            let mut expected = id;
            expected["use_defaults"] = json!(true);
            expected["dry_run"] = json!(true);
            expected["wait_for_result"] = json!(30);
            let arguments: Value = serde_json::from_str(&arguments).expect("JSON");
            assert_eq!((name.as_str(), arguments), ("run_agent", expected), "{message}");
        }
    }

    #[test]
    fn other_messages_are_not_requests() {
        for message in [
            "Run the agent",
            "Run the agent of my choice.",
            "Run the ship x.",
            "Run the agent “A” (x) with these inputs:\nnothing that is named",
            "I have approved it.",
            "I have rejected it.",
            "",
        ] {
            assert!(read(message).is_none(), "{message}");
        }
    }
}
