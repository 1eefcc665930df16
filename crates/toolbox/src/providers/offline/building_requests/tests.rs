use ports::model::ModelMessage;
use protocol::CallId;
use protocol::message::ToolCall;

use super::*;

fn user(text: &str) -> ModelMessage {
    ModelMessage::User { text: text.to_owned() }
}

/// A call and its result.
fn called(tool: &str, arguments: &Value, response: &Value) -> [ModelMessage; 2] {
    let id = CallId(format!("call of {tool}"));
    let call = ToolCall { id: id.clone(), name: tool.to_owned(), arguments: arguments.to_string() };
    [
        ModelMessage::Assistant {
            text: String::new(),
            tool_calls: vec![call],
            provider_state: None,
        },
        ModelMessage::ToolResult {
            call_id: id,
            name: tool.to_owned(),
            content: response.to_string(),
            is_error: false,
        },
    ]
}

fn saved() -> Value {
    json!({"type": "agent_saved", "agent_id": "g-1", "library_agent_id": "l-1", "agent_name": "Dues", "graph_version": 1})
}

/// The calls for a message after this conversation.
fn calls(mut history: Vec<ModelMessage>, message: &str) -> Vec<(String, Value)> {
    history.push(user(message));
    let history = BuildingHistory::of(&history);
    let commands = read(message, &history).unwrap_or_default();
    let commands = with_guide(commands, || history);
    let call = |command: PilotCommand| match command {
        PilotCommand::Tool { name, arguments } => {
            Some((name, serde_json::from_str(&arguments).expect("JSON")))
        }
        _ => None,
    };
    commands.into_iter().filter_map(call).collect()
}

fn one_call(history: Vec<ModelMessage>, message: &str) -> (String, Value) {
    let mut made = calls(history, message);
    made.retain(|(name, _)| name != GUIDE);
    assert_eq!(made.len(), 1, "{message}: {made:?}");
    made.remove(0)
}

#[test]
fn a_wish_for_an_agent_creates_one_after_the_guide() {
    for message in [
        "Build an agent that totals an invoice and asks me before sending it",
        "Create me a new agent which counts words",
        "Please make an agent for letters",
        "I need an agent that watches a page",
        "I'd like to have an agent that cleans texts",
        "Can you build me a simple agent that totals a CSV?",
        "make me an agent",
        "We want another agent to write reminders",
        "Build an agent for this goal: total an invoice",
    ] {
        let made = calls(Vec::new(), message);
        let [(guide, _), (create, arguments)] = &made[..] else { panic!("{message}: {made:?}") };
        assert_eq!((guide.as_str(), create.as_str()), (GUIDE, CREATE), "{message}");
        assert_eq!(arguments, &json!({ "description": message }));
    }
    let mut history = vec![user("hi")];
    history.extend(called(GUIDE, &json!({}), &json!({"type": "agent_builder_guide"})));
    assert_eq!(calls(history, "Build an agent that counts words").len(), 1, "the guide was read");
    for message in [
        "Run the agent of my choice",
        "What is an agent?",
        "The agent is good",
        "Find an agent for invoices",
        "Which agents did you build?",
        "Set the tax to 19 %",
        "Brest",
        "",
    ] {
        assert_eq!(calls(Vec::new(), message), [], "{message}");
    }
}

#[test]
fn an_agent_is_changed_by_its_id_or_as_the_last_one() {
    let named = "Change the agent “Harbor dues” (g-7): set the tax to 19 %";
    let expected = json!({"agent_id": "g-7", "changes": "set the tax to 19 %"});
    assert_eq!(one_call(Vec::new(), named), (EDIT.to_owned(), expected));

    let history = || called(CREATE, &json!({"description": "dues"}), &saved()).to_vec();
    for (message, changes) in [
        ("Change the agent so that it asks me before sending", "asks me before sending"),
        ("Edit my agent: rename it to Dues", "rename it to Dues"),
        ("Please update this agent so that the tax is now 9", "the tax is now 9"),
        ("Set the tax to 19 %", "Set the tax to 19 %"),
        ("Rename it to Harbor dues", "Rename it to Harbor dues"),
        ("Use 19 instead of 21", "Use 19 instead of 21"),
        ("Don't ask me", "Don't ask me"),
        ("The limit should be 30", "The limit should be 30"),
    ] {
        let expected = json!({"agent_id": "g-1", "changes": changes});
        assert_eq!(one_call(history(), message), (EDIT.to_owned(), expected), "{message}");
    }
    let unknown = BuildingHistory::default();
    for message in
        ["Change the agent so that it sings", "Change the agent", "Rehearse it", "Run the agent"]
    {
        let said = read(message, &unknown);
        assert_eq!(said, Some(vec![PilotCommand::Say(replies::WHICH_AGENT)]), "{message}");
    }
}

#[test]
fn an_answer_continues_the_call_that_asked() {
    let arguments = json!({"description": "totals an invoice and sends it"});
    let asked = json!({"type": "clarification_needed", "questions": [{"question": "Where to?", "keyword": "address"}]});
    let history = called(CREATE, &arguments, &asked).to_vec();
    let expected = json!({"description": "totals an invoice and sends it", "context": "Where to?: https://a.example"});
    assert_eq!(
        one_call(history.clone(), "https://a.example"),
        (CREATE.to_owned(), expected.clone())
    );

    // A second question is answered in addition.
    let again = called(CREATE, &expected, &asked).to_vec();
    let (_, arguments) = one_call(again, "nowhere");
    assert_eq!(arguments["context"], "Where to?: https://a.example\nWhere to?: nowhere");

    // A new wish is no answer, and only the next message is one.
    let (_, other) = one_call(history.clone(), "Build an agent that counts words");
    assert_eq!(other, json!({"description": "Build an agent that counts words"}));
    let mut later = history;
    later.push(user("Hello"));
    assert_eq!(calls(later, "https://a.example"), []);
}

#[test]
fn a_suggestion_is_accepted_or_declined() {
    let suggested = json!({"type": "suggested_goal", "suggested_goal": "Count words", "original_goal": "sing", "goal_type": "vague"});
    let created =
        || called(CREATE, &json!({"description": "sing", "context": "x"}), &suggested).to_vec();
    let edited =
        || called(EDIT, &json!({"agent_id": "g-1", "changes": "sing"}), &suggested).to_vec();
    for (history, message, expected) in [
        (created(), "Use this goal instead: Count words", json!({"description": "Count words"})),
        (created(), "Keep my goal as it is: sing", json!({"description": "sing", "context": "x"})),
        (
            created(),
            "Keep my goal as it is, and do what you can.",
            json!({"description": "sing", "context": "x"}),
        ),
        (created(), "Try again: sing", json!({"description": "sing", "context": "x"})),
        (
            edited(),
            "Use this goal instead: Call it Ann",
            json!({"agent_id": "g-1", "changes": "Call it Ann"}),
        ),
        (edited(), "Try again.", json!({"agent_id": "g-1", "changes": "sing"})),
    ] {
        assert_eq!(one_call(history, message).1, expected, "{message}");
    }
    let preview = json!({"type": "agent_preview", "agent_name": "Dues"});
    let history = called(CREATE, &json!({"description": "dues", "save": false}), &preview).to_vec();
    let expected = (CREATE.to_owned(), json!({"description": "dues"}));
    assert_eq!(one_call(history, "Save the agent “Dues”."), expected);
}

#[test]
fn the_last_agent_is_rehearsed_and_run() {
    let history = || called(CREATE, &json!({"description": "dues"}), &saved()).to_vec();
    let expected = json!({"library_agent_id": "l-1", "dry_run": true, "use_defaults": true, "wait_for_result": 30});
    for message in
        ["Rehearse the agent", "rehearse it.", "Test the agent!", "Please rehearse this agent"]
    {
        assert_eq!(one_call(history(), message), ("run_agent".to_owned(), expected.clone()));
    }
    let expected = json!({"library_agent_id": "l-1", "use_defaults": true, "wait_for_result": 30});
    for message in ["Run the agent", "run it", "Start my agent"] {
        assert_eq!(one_call(history(), message), ("run_agent".to_owned(), expected.clone()));
    }
}
