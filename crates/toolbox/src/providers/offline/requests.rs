//! What the page's cards say for a person ("Run the agent …", "I have approved …"), so that its buttons and forms work
//! without a model too. The page's wording is in `web/src/tools/messages.ts`.

use serde_json::{Map, Value, json};

use super::command::Command;

/// The call that the message asks for, if it is one of these.
pub(super) fn read(message: &str) -> Option<Command> {
    let message = message.trim();
    if let Some(rest) = message.strip_prefix("Run the agent ") {
        let asked = Asked::read(rest)?;
        let id = if asked.id.contains('/') { "username_agent_slug" } else { "library_agent_id" };
        let mut arguments = Map::from_iter([(id.to_owned(), json!(asked.id))]);
        if let Some(inputs) = asked.inputs {
            let waits = json!({"inputs": inputs, "use_defaults": true, "wait_for_result": 30});
            arguments.extend(waits.as_object().cloned().unwrap_or_default());
        }
        return Some(call("run_agent", arguments));
    }
    if let Some(rest) = message.strip_prefix("Run the block ") {
        let asked = Asked::read(rest)?;
        let mut arguments = Map::from_iter([("block_id".to_owned(), json!(asked.id))]);
        arguments.extend(asked.inputs.map(|inputs| ("input_data".to_owned(), json!(inputs))));
        return Some(call("run_block", arguments));
    }
    let approved = message.strip_prefix("I have approved ")?.strip_suffix("). Continue.")?;
    let (_, review) = approved.rsplit_once("(review ")?;
    let arguments = Map::from_iter([("review_id".to_owned(), json!(review))]);
    Some(call("continue_run_block", arguments))
}

/// What is to be run, and with what. Without inputs the tool says which it takes.
struct Asked<'a> {
    id: &'a str,
    inputs: Option<Map<String, Value>>,
}

impl<'a> Asked<'a> {
    fn read(rest: &'a str) -> Option<Self> {
        let (named, inputs) = match rest.split_once(" with these inputs:") {
            Some((named, inputs)) => (named, Some(fenced(inputs)?)),
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

fn fenced(text: &str) -> Option<Map<String, Value>> {
    let inner = text.trim().strip_prefix("```json")?.strip_suffix("```")?;
    serde_json::from_str(inner).ok()
}

fn call(name: &str, arguments: Map<String, Value>) -> Command {
    Command::Tool { name: name.to_owned(), arguments: Value::Object(arguments).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(message: &str) -> Option<(String, Value)> {
        match read(message)? {
            Command::Tool { name, arguments } => {
                Some((name, serde_json::from_str(&arguments).expect("JSON")))
            }
            _ => None,
        }
    }

    #[test]
    fn what_a_card_says_is_the_call_it_means() {
        let table = [
            (
                "Run the agent “Invoice calculator” (pilothouse/invoice-calculator).",
                "run_agent",
                json!({"username_agent_slug": "pilothouse/invoice-calculator"}),
            ),
            (
                "Run the agent “A (draft)” (0199) with its defaults.",
                "run_agent",
                json!({"library_agent_id": "0199", "inputs": {}, "use_defaults": true, "wait_for_result": 30}),
            ),
            (
                "Run the block “Sum” (b1ab) with these inputs:\n\n```json\n{\n  \"a\": 1\n}\n```",
                "run_block",
                json!({"block_id": "b1ab", "input_data": {"a": 1}}),
            ),
            ("Run the block b1ab.", "run_block", json!({"block_id": "b1ab"})),
            (
                "I have approved Send a letter (review r-1). Continue.",
                "continue_run_block",
                json!({"review_id": "r-1"}),
            ),
        ];
        for (message, name, arguments) in table {
            assert_eq!(called(message), Some((name.to_owned(), arguments)), "{message}");
        }
    }

    #[test]
    fn anything_else_is_no_request() {
        for message in [
            "Run the agent",
            "Run the agent of my choice.",
            "Run the agent “A” (x) with these inputs:\n\n```json\n{broken\n```",
            "I have approved it.",
            "",
        ] {
            assert!(read(message).is_none(), "{message}");
        }
    }
}
