//! The agent commands of the command line: real processes of the program against a real server.

use std::process::{Output, Stdio};

use serde_json::{Value, json};

use super::ENGINE;
use super::auth::jwt_server;
use crate::agent_fixtures::{
    ApiUser, COUNTDOWN, HUMAN, INPUT, JSON_DECODER, OUTPUT, graph, path_of, text,
};
use crate::server::{OutputLog, TEST_TIMEOUT, TestServer, wait};
use crate::tokens::token;

/// Exit code and output of a command.
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a command against the server.
pub(crate) async fn pilothouse(server: &TestServer, arguments: &[&str]) -> CommandOutput {
    let mut all = arguments.to_vec();
    all.extend(["--url", server.base()]);
    let mut command = server.command(&all);
    let ran = tokio::task::spawn_blocking(move || command.output());
    said(&ran.await.expect("no panic").expect("it runs"))
}

pub(crate) fn said(output: &Output) -> CommandOutput {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    CommandOutput {
        code: output.status.code(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

#[tokio::test]
async fn an_agent_is_imported_listed_run_shown_and_exported_from_the_terminal() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let empty = pilothouse(&server, &["agents", "list"]).await;
    assert_eq!(empty.code, Some(0), "{}", empty.err);

    let (good, bad) = (path_of("calculator.json"), path_of("berth-price-watch.json"));
    let (good, bad) = (good.to_str().expect("text"), bad.to_str().expect("text"));
    let imported = pilothouse(&server, &["import", good, bad]).await;
    assert_eq!(imported.code, Some(1), "one of the two was not imported");
    assert!(imported.out.contains("imported “Fuel surcharge”"), "{}", imported.out);
    let missing = "Blocks missing on this server:\n  \
                   4335878a-394e-4e67-adf2-919877ff49ae, in one node\n  \
                   436c3984-57fd-4b85-8e9a-459b356883bd, in one node";
    assert!(imported.out.contains(missing), "{}", imported.out);
    assert_eq!(pilothouse(&server, &["import", good]).await.code, Some(0));
    let nothing = pilothouse(&server, &["import", "no-such-file.json"]).await;
    assert_eq!(nothing.code, Some(1));
    assert!(nothing.out.contains("could not be read"), "{}", nothing.out);

    let id = "6b9bb2f6-535a-4e07-b6df-fce8112d9d11";
    let list = pilothouse(&server, &["agents", "list", "--search", "fuel"]).await;
    assert!(list.out.contains(id) && list.out.contains("Fuel surcharge"), "{}", list.out);

    let two = pilothouse(&server, &["agents", "run", "Fuel surcharge", "--wait"]).await;
    assert!(two.code == Some(1) && two.err.contains("Several agents"), "{}", two.err);
    let run = ["agents", "run", id, "--input", "Price=10", "--wait"];
    let run = pilothouse(&server, &run).await;
    assert_eq!((run.code, run.out.trim()), (Some(0), "Price with surcharge: 44.5"), "{}", run.err);
    assert!(run.err.contains("COMPLETED"), "{}", run.err);
    let execution = user.get("/executions").await[0].clone();
    let shown = pilothouse(&server, &["agents", "show", text(&execution["id"])]).await;
    assert_eq!(shown.code, Some(0));
    assert!(shown.out.contains("CalculatorBlock") && shown.out.contains("44.5"), "{}", shown.out);

    let begun = pilothouse(&server, &["agents", "run", id, "--input", "Price=1"]).await;
    assert!(begun.code == Some(0) && begun.out.contains("agents show"), "{}", begun.out);
    for (arguments, complaint) in [
        (&["agents", "run", id, "--wait"][..], "Missing inputs: Price."),
        (&["agents", "run", "Fuel surplus"], "Did you mean: Fuel surcharge"),
        (&["agents", "show", "nothing"], "Run not found."),
        (&["export", "01900000-0000-7000-8000-000000000000"], "Agent or version not found"),
    ] {
        let refused = pilothouse(&server, arguments).await;
        assert_eq!(refused.code, Some(1), "{arguments:?}");
        assert!(refused.err.contains(complaint), "{arguments:?}: {}", refused.err);
    }

    let file = server.folder().join("exported.json");
    let path = file.to_str().expect("text");
    assert_eq!(pilothouse(&server, &["export", id, "-o", path]).await.code, Some(0));
    let written = std::fs::read_to_string(&file).expect("written");
    let written: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(written, user.get(&format!("/graphs/{id}?for_export=true")).await);
    let printed = pilothouse(&server, &["export", id]).await;
    assert_eq!(serde_json::from_str::<Value>(&printed.out).expect("JSON"), written);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exit_code_reports_how_an_execution_ended() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let asks = graph(
        "Asks",
        &[
            ("text", INPUT, json!({"name": "text", "value": "hello"})),
            ("ask", HUMAN, json!({"name": "Good?"})),
            ("out", OUTPUT, json!({"name": "out"})),
        ],
        &["text.result -> ask.data", "ask.approved_data -> out.value"],
    );
    user.make(&asks).await;
    let asked = pilothouse(&server, &["agents", "run", "asks", "--wait"]).await;
    assert_eq!(asked.code, Some(3), "{}", asked.err);
    assert!(asked.err.contains("needs your approval"), "{}", asked.err);

    // A failed node does not end the execution; it is reported.
    let fails = graph("Fails", &[("read", JSON_DECODER, json!({"json_str": "{"}))], &[]);
    user.make(&fails).await;
    let failed = pilothouse(&server, &["agents", "run", "fails", "--wait"]).await;
    assert_eq!(failed.code, Some(0), "{}", failed.err);
    assert!(failed.out.contains("failed: JSONDecoderBlock"), "{}", failed.out);

    let long = json!({"input_message": "late", "hours": 1});
    user.make(&graph("Waits", &[("wait", COUNTDOWN, long)], &[])).await;
    let arguments = ["agents", "run", "waits", "--wait", "--url", server.base()];
    let mut watching = server.command(&arguments).stderr(Stdio::piped()).spawn().expect("it runs");
    let shown = OutputLog::default();
    shown.follow(watching.stderr.take().expect("piped"));
    shown.wait_for("RUNNING");
    let run = user.get("/executions").await[0].clone();
    let (graph, id) = (text(&run["graph_id"]), text(&run["id"]));
    user.post(&format!("/graphs/{graph}/executions/{id}/stop"), &Value::Null).await;
    let ended = wait(&mut watching, TEST_TIMEOUT).expect("it ends with the run");
    assert_eq!(ended.code(), Some(1), "{}", shown.text());
    shown.wait_for("TERMINATED");

    let mut gone = server.command(&["agents", "list", "--url", "http://127.0.0.1:9"]);
    let gone = said(&gone.output().expect("it runs"));
    assert_eq!(gone.code, Some(1));
    assert!(gone.err.contains("reach a Pilothouse server"), "{}", gone.err);
}

#[tokio::test]
async fn the_terminal_sends_its_token() {
    let server = jwt_server(&[]);
    let without = pilothouse(&server, &["agents", "list"]).await;
    assert_eq!(without.code, Some(1));
    assert!(without.err.contains("PILOTHOUSE_TOKEN"), "{}", without.err);
    let arguments = ["agents", "list", "--url", server.base()];
    let mut with = server.command(&arguments);
    let with = said(&with.env("PILOTHOUSE_TOKEN", token("anna")).output().expect("it runs"));
    assert_eq!(with.code, Some(0), "{}", with.err);
}
