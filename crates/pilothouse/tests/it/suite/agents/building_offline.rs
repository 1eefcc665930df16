//! Agents from plain sentences without a key: the whole way from a wish to a changed agent, and every kind of agent that
//! the offline pilot can build, run for real.

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use super::execution_fixtures::{StartedExecution, decide, pending};
use crate::agent_fixtures::{ApiUser, text};
use crate::events::{EventStream, ReceivedEvent, text_of};
use crate::server::TestServer;

/// No request can be sent to it: it is not public.
const NOWHERE: &str = "http://127.0.0.1:9/invoices";

/// A chat with the offline pilot.
struct Chat<'a> {
    server: &'a TestServer,
    session: String,
}

/// The end of an operation.
struct Work {
    result: Value,
    /// The stages that were shown.
    stages: Vec<String>,
    /// What the pilot said about it.
    said: String,
}

impl<'a> Chat<'a> {
    async fn start(server: &'a TestServer) -> Self {
        Self { server, session: server.session().await }
    }

    async fn say(&self, message: &str) -> Vec<ReceivedEvent> {
        self.server.say(&self.session, message).await.all().await
    }

    /// Says something that starts an operation, and follows it to its end.
    async fn work(&self, message: &str) -> Work {
        let turn = self.say(message).await;
        let started =
            outputs(&turn).into_iter().find(|output| output["type"] == "operation_started");
        let started = started.unwrap_or_else(|| panic!("{message}: {turn:?}"));
        let path = format!("/chat/tasks/{}/stream", text(&started["task_id"]));
        let stream = EventStream::of(self.server.get(&path).send().await.expect("an answer"));
        let events = stream.all().await;
        let shown = outputs(&events);
        let stages = shown.iter().filter(|output| output["type"] == "agent_progress");
        let stages = stages.map(|output| text(&output["stage"]).to_owned()).collect();
        let result = shown.last().copied().cloned().unwrap_or_default();
        Work { result, stages, said: text_of(&events) }
    }
}

fn outputs(events: &[ReceivedEvent]) -> Vec<&Value> {
    let shown = events.iter().filter(|got| got.chunk["type"] == "tool-output-available");
    shown.map(|got| &got.chunk["output"]).collect()
}

fn calls(events: &[ReceivedEvent]) -> Vec<&str> {
    let made = events.iter().filter(|got| got.chunk["type"] == "tool-input-available");
    made.map(|got| text(&got.chunk["toolName"])).collect()
}

#[tokio::test]
async fn a_sentence_becomes_an_agent_that_is_rehearsed_changed_run_and_changed_again() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let chat = Chat::start(&server).await;

    // One sentence, one question.
    let asked =
        chat.work("Build an agent that totals an invoice and asks me before sending it").await;
    assert_eq!(asked.result["type"], "clarification_needed", "{}", asked.result);
    let questions = asked.result["questions"].as_array().expect("questions");
    assert_eq!(questions.len(), 1, "{questions:?}");
    assert!(text(&questions[0]["question"]).contains("invoice"), "{questions:?}");
    assert!(asked.said.starts_with("One question first: To which web address"), "{}", asked.said);

    let built = chat.work(NOWHERE).await;
    assert_eq!(built.result["type"], "agent_saved", "{}", built.result);
    assert_eq!(
        (&built.result["agent_name"], &built.result["state"]),
        (&json!("Invoice total"), &json!("rehearsed")),
        "{}",
        built.result
    );
    assert_eq!(built.result.get("warnings"), None);
    for stage in ["understanding", "planning", "writing", "checking", "rehearsing", "saving"] {
        assert!(built.stages.iter().any(|shown| shown == stage), "{stage} in {:?}", built.stages);
    }
    for part in ["I've built **Invoice total**", "ready to use", "Rehearse the agent"] {
        assert!(built.said.contains(part), "{part} in {}", built.said);
    }
    let id = text(&built.result["agent_id"]);
    let graph = user.get(&format!("/graphs/{id}")).await;
    assert!(graph["nodes"].as_array().expect("nodes").len() > 8, "there is something to draw");

    // The rehearsal sends nothing.
    let rehearsed = chat.say("Rehearse the agent").await;
    assert_eq!(calls(&rehearsed), ["run_agent"]);
    let said = text_of(&rehearsed);
    assert!(said.contains("Dry run") && said.contains("Total: 124.00"), "{said}");
    assert!(pending(&server).await.is_empty(), "a rehearsal asks nobody");

    // A changed step is version 2.
    let edits = json!({"base_version": 1, "edits": [
        {"op": "set", "step": "inputs.tax_percent", "pin": "default", "value": 21},
    ]});
    let edited = user.post(&format!("/graphs/{id}/edits"), &edits).await;
    assert_eq!(edited["graph"]["version"], 2, "{edited}");
    assert!(edited["diff"].to_string().contains("tax_percent"), "{edited}");

    // It runs, waits for the approval, and says that it could not be sent.
    let ran = chat.say("Run the agent").await;
    let started = outputs(&ran).last().copied().cloned().unwrap_or_default();
    assert_eq!(started["status"], "REVIEW", "{started}");
    assert!(text_of(&ran).contains("needs approval"), "{}", text_of(&ran));
    let execution =
        StartedExecution { graph: id.to_owned(), id: text(&started["execution_id"]).to_owned() };
    let reviews = pending(&server).await;
    let [review] = &reviews[..] else { panic!("{reviews:?}") };
    assert_eq!(review["instructions"], "Send this invoice?");
    assert!(text(&review["payload"]).contains("Total: 150.04"), "{review:?}");
    let approval = json!([{"node_exec_id": review["node_exec_id"], "approved": true}]);
    assert_eq!(decide(&server, approval).await.status(), 200);
    let ended = execution.completed(&server).await;
    assert_eq!(ended["graph_version"], 2, "{ended}");
    assert_eq!(ended["outputs"]["total"], json!([150.04]));
    let result = text(&ended["outputs"]["result"][0]);
    assert!(
        result.starts_with(&format!("The invoice could not be sent to {NOWHERE}: ")),
        "{result}"
    );

    // Another change in words, on the newest version.
    let changed = chat.work("Set the tax to 19 % and rename it to Harbor dues").await;
    assert_eq!(
        (&changed.result["type"], &changed.result["graph_version"]),
        (&json!("agent_saved"), &json!(3)),
        "{}",
        changed.result
    );
    assert_eq!(changed.result["agent_name"], "Harbor dues");
    assert!(text(&changed.result["diff"]).contains("tax_percent"), "{}", changed.result);
    for part in ["saved it as version 3", "```diff", "tax_percent"] {
        assert!(changed.said.contains(part), "{part} in {}", changed.said);
    }
    let written = user.post("/agents/decompile", &json!({"graph_id": id})).await;
    assert!(text(&written["spec"]).contains("default: 19"), "{written}");

    // By name and id, in another chat.
    let other = Chat::start(&server).await;
    let changed = other.work(&format!("Change the agent “Harbor dues” ({id}): don't ask me")).await;
    assert_eq!(changed.result["graph_version"], 4, "{}", changed.result);
    assert!(text(&changed.result["diff"]).contains("review"), "{}", changed.result);
}

#[tokio::test]
async fn a_rejected_invoice_is_not_sent() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let chat = Chat::start(&server).await;
    let goal =
        format!("Create an agent that totals an invoice, asks me first and posts it to {NOWHERE}");
    let built = chat.work(&goal).await;
    let id = text(&built.result["agent_id"]);
    let run =
        user.done(Method::POST, &format!("/graphs/{id}/execute"), &json!({"inputs": {}})).await;
    let run = StartedExecution { graph: id.to_owned(), id: text(&run["id"]).to_owned() };
    assert_eq!(run.settled(&server).await["status"], "REVIEW");
    let reviews = pending(&server).await;
    let rejection = json!([{"node_exec_id": reviews[0]["node_exec_id"], "approved": false}]);
    assert_eq!(decide(&server, rejection).await.status(), 200);
    let outputs = &run.completed(&server).await["outputs"];
    assert!(text(&outputs["result"][0]).starts_with("The invoice was rejected:"), "{outputs}");
}

#[tokio::test]
async fn a_suggestion_is_accepted_and_built() {
    let server = TestServer::start(ENGINE);
    let chat = Chat::start(&server).await;
    let vague = chat.work("make me an agent").await;
    assert_eq!(
        (&vague.result["type"], &vague.result["goal_type"]),
        (&json!("suggested_goal"), &json!("vague")),
        "{}",
        vague.result
    );
    let impossible = chat.work("I need an agent that predicts the lottery numbers").await;
    assert_eq!(impossible.result["goal_type"], "unachievable", "{}", impossible.result);
    assert!(impossible.said.contains("random"), "{}", impossible.said);
    let accepted = format!("Use this goal instead: {}", text(&impossible.result["suggested_goal"]));
    let built = chat.work(&accepted).await;
    assert_eq!(built.result["type"], "agent_saved", "{}", built.result);
    // A change that is not understood says what is.
    let unclear = chat.work("Change the agent so that it sings").await;
    assert_eq!(unclear.result["type"], "suggested_goal", "{}", unclear.result);
    assert!(unclear.said.contains("not understood"), "{}", unclear.said);
}

/// An agent, inputs, and what its outputs must be.
struct Kind {
    goal: &'static str,
    state: &'static str,
    inputs: Value,
    outputs: Value,
}

fn kinds() -> Vec<Kind> {
    let kind = |goal, state, inputs, outputs| Kind { goal, state, inputs, outputs };
    vec![
        kind(
            "Build an agent that totals an invoice with 21 % tax",
            "verified",
            json!({"lines": [{"item": "Rope", "quantity": "3", "price": "9.99"}, {"item": "Oil", "quantity": 1, "price": 0.1}]}),
            json!({"total": [36.38]}),
        ),
        kind(
            "Build an agent that summarizes a text in numbers",
            "verified",
            json!({"text": "Ahoy! The lighthouse is 3.5 miles away. Is it?"}),
            json!({"words": [9], "sentences": [3], "longest_word": ["lighthouse"]}),
        ),
        kind(
            "Build an agent that totals the price column of a CSV where kind is boat",
            "verified",
            json!({"table": "kind,price\nboat,\"1,200.50\"\ncar,5\nboat,99.5"}),
            json!({"total": [1300.0], "row_count": [2]}),
        ),
        kind(
            "Build an agent that totals the column amount of a CSV for rows with amount over 50",
            "verified",
            json!({"table": "amount\n60\n12.5\n64.5"}),
            json!({"total": [124.5], "rows": [[{"amount": "60"}, {"amount": "64.5"}]]}),
        ),
        kind(
            "Build an agent that writes a payment reminder for each row of a table",
            "verified",
            json!({"rows": [{"name": "Ida", "amount": "5", "due": "May 1"}, {"name": "Noor", "amount": "7", "due": "May 2"}]}),
            json!({"reminder": [
                "Dear Ida,\n\nthis is a friendly reminder that 5 is due on May 1.\n\nKind regards",
                "Dear Noor,\n\nthis is a friendly reminder that 7 is due on May 2.\n\nKind regards",
            ]}),
        ),
        kind(
            "Build an agent that warns me when the water level is above 3.5",
            "verified",
            json!({"value": 3.6}),
            json!({"report": ["Alarm: Water level is 3.6, above the limit of 3.5."], "alarm": [true]}),
        ),
        kind(
            "Build an agent that alerts me when my balance falls below 100",
            "verified",
            json!({"value": 250}),
            json!({"report": ["Balance is 250, not below the limit of 100."], "alarm": [false]}),
        ),
        kind(
            "Build an agent that removes HTML tags and extra spaces and converts a text to upper case",
            "verified",
            json!({"text": "<p>Good   <b>morning</b></p>"}),
            json!({"text": ["GOOD MORNING"]}),
        ),
        kind(
            "Build an agent that sorts lines and removes duplicates",
            "verified",
            json!({"text": "b\na\nb"}),
            json!({"text": ["a\nb"]}),
        ),
        kind(
            "Build an agent that replaces “colour” with “color”",
            "verified",
            json!({"text": "A colour."}),
            json!({"text": ["A color."]}),
        ),
    ]
}

#[tokio::test]
async fn every_kind_of_agent_is_built_rehearsed_and_runs() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let chat = Chat::start(&server).await;
    for Kind { goal, state, inputs, outputs } in kinds() {
        let built = chat.work(goal).await;
        assert_eq!(built.result["type"], "agent_saved", "{goal}: {}", built.result);
        assert_eq!(built.result["state"], state, "{goal}: {}", built.result);
        assert_eq!(built.result.get("warnings"), None, "{goal}: {}", built.result);
        let id = text(&built.result["agent_id"]);
        let ran = user.outputs(id, &inputs).await;
        for (name, expected) in outputs.as_object().expect("outputs") {
            assert_eq!(&ran[name], expected, "{goal}: {name} in {ran}");
        }
        // It runs with its defaults, too.
        let ran = user.outputs(id, &json!({})).await;
        assert!(!ran.as_object().expect("outputs").is_empty(), "{goal}");
    }
}

#[tokio::test]
async fn a_page_is_watched_for_a_word() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let chat = Chat::start(&server).await;
    let goal =
        "Build an agent that reads a web page and raises an alarm if it contains the word storm";
    let built = chat.work(goal).await;
    assert_eq!(
        (&built.result["state"], built.result.get("warnings")),
        (&json!("rehearsed"), None),
        "{}",
        built.result
    );
    let id = text(&built.result["agent_id"]);
    let page = "https://example.com/";
    for (content, report) in [
        (json!("<p>A Storm is coming</p>"), format!("Alarm: {page} contains “storm”.")),
        (json!({"weather": "fine"}), format!("{page} does not contain “storm”.")),
    ] {
        let body = json!({"graph_id": id, "pinned": {"fetch": {"response": content}}});
        let rehearsed = user.post("/agents/rehearse", &body).await;
        assert_eq!(rehearsed["outputs"]["report"], json!([report]), "{rehearsed}");
    }
    // A page that cannot be read is reported.
    let ran = user.run(id, &json!({"page": "http://127.0.0.1/"})).await;
    assert_eq!(ran["status"], "COMPLETED", "{ran}");
    let report = text(&ran["outputs"]["report"][0]);
    assert!(report.starts_with("http://127.0.0.1/ could not be read: "), "{report}");
}
