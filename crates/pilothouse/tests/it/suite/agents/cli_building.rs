//! The commands of the terminal that build agents: new, validate, fix, diff and rehearse.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use super::building::TIDES;
use super::cli::{pilothouse, said};
use crate::agent_fixtures::{ApiUser, UNKNOWN_ID, adder, path_of, text};
use crate::server::TestServer;

/// Writes a file into the folder of the server and returns its path.
fn file(server: &TestServer, name: &str, content: &str) -> String {
    let path: PathBuf = server.folder().join(name);
    std::fs::write(&path, content).expect("written");
    path.to_str().expect("text").to_owned()
}

#[tokio::test]
async fn a_spec_is_validated_saved_and_rehearsed_from_the_terminal() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let spec = file(&server, "tides.yaml", TIDES);
    let valid = pilothouse(&server, &["agents", "validate", &spec]).await;
    assert_eq!((valid.code, valid.out.trim()), (Some(0), "No errors. State: valid"));

    let saved = pilothouse(&server, &["agents", "new", &spec]).await;
    assert_eq!(saved.code, Some(0), "{}", saved.err);
    let agent = user.get("/library/agents").await["agents"][0].clone();
    let expected = format!("Saved “Morning tides” as {}, version 1.", text(&agent["graph_id"]));
    assert_eq!(saved.out.trim(), expected);

    for agent in [&spec, "Morning tides", "morning tides@1", text(&agent["graph_id"])] {
        let ready = ["agents", "rehearse", agent, "--input", "height=4"];
        let ready = pilothouse(&server, &ready).await;
        assert_eq!(ready.code, Some(0), "{}{}", ready.out, ready.err);
        assert!(ready.out.starts_with("state: verified\n"), "{}", ready.out);
        assert!(ready.out.contains("output: report = Vlissingen: 5 m\n"), "{}", ready.out);
    }
    let low = ["agents", "rehearse", &spec, "--input", "height=1", "--seed", "3"];
    let low = pilothouse(&server, &low).await;
    assert_eq!(low.code, Some(0), "{}", low.out);
    assert!(low.out.contains("another run, with height = 4: fills alarm\n"), "{}", low.out);
    let never = TIDES.replace("value1: high.result", "value1: 1");
    let never = file(&server, "never.yaml", &never);
    let never = pilothouse(&server, &["agents", "rehearse", &never]).await;
    assert_eq!(never.code, Some(1), "an output stays empty");
    assert!(never.out.contains("output without a value: alarm"), "{}", never.out);

    let body = json!({"graph_id": agent["graph_id"], "inputs": {"height": 8}});
    let recorded = user.post("/agents/rehearse", &body).await;
    let recording =
        ["agents", "rehearse", "Morning tides", "--recording", text(&recorded["execution_id"])];
    let recording = pilothouse(&server, &recording).await;
    assert!(recording.out.contains("output: report = Vlissingen: 9 m\n"), "{}", recording.out);
    let unknown = ["agents", "rehearse", "Morning tides", "--recording", UNKNOWN_ID];
    assert_eq!(pilothouse(&server, &unknown).await.code, Some(1));

    let outside = "name: A\nsteps:\n  page: {block: Send Web Request, url: \"https://example.com\"}\n\
                   outputs: {page: page.response}";
    let outside = file(&server, "outside.yml", outside);
    let failing = pilothouse(&server, &["agents", "rehearse", &outside, "--fail-each"]).await;
    assert_eq!(failing.code, Some(0), "{}", failing.err);
    assert!(failing.out.contains("step: page (not run; data: sample)"), "{}", failing.out);
    assert!(failing.out.contains("if page fails: no page"), "{}", failing.out);
}

#[tokio::test]
async fn problems_are_listed_with_their_places() {
    let server = TestServer::start(ENGINE);
    let mistaken = TIDES.replace("block: Calculator", "block: Calculater");
    let mistaken = file(&server, "mistaken.yaml", &mistaken);
    let complaint = "steps.high.block: ";
    let invalid = pilothouse(&server, &["agents", "validate", &mistaken]).await;
    assert_eq!(invalid.code, Some(1), "{}", invalid.out);
    assert!(invalid.out.starts_with(complaint), "{}", invalid.out);
    assert!(invalid.out.contains("(unknown_block)\n  expected: "), "{}", invalid.out);
    for command in ["new", "fix", "rehearse"] {
        let refused = pilothouse(&server, &["agents", command, &mistaken]).await;
        assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{command}");
        assert!(refused.err.starts_with(complaint), "{command}: {}", refused.err);
    }
    let faulty = path_of("../agents-faulty/ten-faults.json");
    let faulty = faulty.to_str().expect("text");
    let ten = pilothouse(&server, &["agents", "validate", faulty]).await;
    assert_eq!(ten.code, Some(1));
    assert!(ten.out.contains("steps.sum.b: ") && ten.out.contains("10 errors. State: blocked"));
    assert_eq!(pilothouse(&server, &["agents", "new", faulty]).await.code, Some(1));

    let incomplete = "name: Unfinished\nsteps: {sum: {block: Calculator, operation: Add, a: 1}}";
    let incomplete = file(&server, "unfinished.yaml", incomplete);
    assert_eq!(pilothouse(&server, &["agents", "new", &incomplete]).await.code, Some(1));
    let draft = pilothouse(&server, &["agents", "new", &incomplete, "--draft"]).await;
    assert_eq!(draft.code, Some(0), "{}", draft.err);

    let broken = file(&server, "broken.json", "{");
    for (arguments, complaint) in [
        (&["agents", "validate", "no-such-file.yaml"][..], "could not read no-such-file.yaml"),
        (&["agents", "new", &broken], "not valid JSON"),
        (&["agents", "validate", "Nothing"], "No agent named “Nothing”"),
        (&["agents", "rehearse", "Unfinished@7"], "Agent or version not found"),
        (&["agents", "fix", "-", "--write"], "--write needs a file"),
    ] {
        let refused = pilothouse(&server, arguments).await;
        assert_eq!(refused.code, Some(1), "{arguments:?}");
        assert!(refused.err.contains(complaint), "{arguments:?}: {}", refused.err);
    }
}

#[tokio::test]
async fn a_file_is_fixed_in_its_own_format() {
    let server = TestServer::start(ENGINE);
    let mut broken = adder("Adder", 10);
    broken["links"][1]["source_name"] = json!("reslt");
    let graph = file(&server, "adder.json", &broken.to_string());
    let printed = pilothouse(&server, &["agents", "fix", &graph]).await;
    assert_eq!(printed.code, Some(0), "{}", printed.err);
    assert!(printed.err.contains("(unknown_output)"), "{}", printed.err);
    let fixed: Value = serde_json::from_str(&printed.out).expect("a graph stays a graph");
    assert_eq!(fixed["links"][1]["source_name"], "result");
    let before = std::fs::read_to_string(&graph).expect("the file");
    assert_eq!(before, broken.to_string(), "only --write changes the file");

    assert_eq!(pilothouse(&server, &["agents", "fix", &graph, "--write"]).await.code, Some(0));
    let written = std::fs::read_to_string(&graph).expect("the file");
    let written: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!((&written["nodes"], &written["links"]), (&fixed["nodes"], &fixed["links"]));

    // The pin is misspelled. A repaired spec stays YAML or JSON.
    let spec = "# A comment\nname: A\nsteps: {sum: {block: Calculator, operation: Add, a: 1, b: 2}}\n\
                outputs: {sum: sum.reslt}\n";
    let as_json = json!({
        "name": "A", "steps": {"sum": {"block": "Calculator", "operation": "Add", "a": 1, "b": 2}},
        "outputs": {"sum": "sum.reslt"},
    });
    let yaml = file(&server, "a.yaml", spec);
    let as_json = file(&server, "a.json", &as_json.to_string());
    for path in [&yaml, &as_json] {
        let fixed = pilothouse(&server, &["agents", "fix", path, "--write"]).await;
        assert_eq!((fixed.code, fixed.out.as_str()), (Some(0), ""), "{}", fixed.err);
        assert!(fixed.err.contains("Wrote "), "{}", fixed.err);
        let valid = pilothouse(&server, &["agents", "validate", path]).await;
        assert_eq!(valid.code, Some(0), "{}", valid.out);
    }
    let written = std::fs::read_to_string(&as_json).expect("the file");
    let written: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(written["outputs"]["sum"], "sum.result");

    // Nothing to repair: the file stays as its author wrote it.
    let good = spec.replace("reslt", "result");
    let path = file(&server, "good.yaml", &good);
    let nothing = pilothouse(&server, &["agents", "fix", &path, "--write"]).await;
    assert_eq!(nothing.code, Some(0), "{}", nothing.err);
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), good);
}

#[tokio::test]
async fn files_and_versions_are_compared() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let id = user.make(&json!({"spec": TIDES})).await;
    let changed = TIDES.replace("b: 1,", "b: 2,");
    user.done(Method::PUT, &format!("/graphs/{id}"), &json!({"spec": changed})).await;
    let spec = file(&server, "tides.yaml", TIDES);
    for from in [&spec, "Morning tides@1", &format!("{id}@1")] {
        let diff = pilothouse(&server, &["agents", "diff", from, "Morning tides"]).await;
        assert_eq!((diff.code, diff.out.trim()), (Some(0), "~ high.b: 1 → 2"), "{}", diff.err);
    }
    let same = pilothouse(&server, &["agents", "diff", &spec, &format!("{id}@1")]).await;
    assert_eq!((same.code, same.out.trim()), (Some(0), "No changes."));

    let mistaken = file(&server, "mistaken.yaml", &TIDES.replace("Calculator", "Calculater"));
    let refused = pilothouse(&server, &["agents", "diff", &spec, &mistaken]).await;
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.starts_with(&format!("{mistaken}:\n")), "{}", refused.err);

    let step = format!("{{agent: {id}@1, height: 1}}");
    let outer = format!("name: Outer\nsteps: {{tide: {step}}}\noutputs: {{tide: tide.report}}");
    user.make(&json!({"spec": outer})).await;
    let used = pilothouse(&server, &["agents", "diff", "Morning tides@1", "Morning tides"]).await;
    let expected = "~ high.b: 1 → 2\n  used by agent \"Outer\" (version 1)";
    assert_eq!(used.out.trim(), expected, "{}", used.err);

    let arguments = ["agents", "diff", "-", "Morning tides", "--url", server.base()];
    let mut command = server.command(&arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut reading = command.spawn().expect("it runs");
    let mut input = reading.stdin.take().expect("piped");
    input.write_all(changed.as_bytes()).expect("written");
    drop(input);
    let ended = tokio::task::spawn_blocking(move || reading.wait_with_output()).await;
    let ended = said(&ended.expect("no panic").expect("it ends"));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.out.starts_with("No changes.\n"), "{}", ended.out);
}
