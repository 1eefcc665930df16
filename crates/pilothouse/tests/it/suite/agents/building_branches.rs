//! The further runs of a rehearsal: they reach both sides of conditions and approvals, and what only an error fills.

use serde_json::{Value, json};

use super::ENGINE;
use crate::agent_fixtures::ApiUser;
use crate::server::TestServer;

/// Small agents, what a rehearsal makes of them, and in how many runs.
const BRANCHING: &[(&str, &str, &str, usize)] = &[
    (
        "a condition on a number",
        r#"
inputs: {height: {type: number, default: 9}}
steps:
  check: {block: Condition, value1: inputs.height, operator: ">", value2: 3}
outputs: {high: check.yes_output, low: check.no_output}
"#,
        "verified",
        2,
    ),
    (
        "a condition behind a calculation",
        r#"
inputs: {height: {type: number, default: 9}}
steps:
  twice: {block: Calculator, operation: Multiply, a: inputs.height, b: 2}
  check: {block: Condition, value1: twice.result, operator: ">=", value2: 3}
outputs: {high: check.yes_output, low: check.no_output}
"#,
        "verified",
        3,
    ),
    (
        "a condition on a text",
        r#"
inputs: {color: string}
steps:
  check: {block: Condition, value1: inputs.color, operator: "==", value2: red}
outputs: {red: check.yes_output, other: check.no_output}
"#,
        "verified",
        2,
    ),
    (
        "one condition behind another",
        r#"
inputs: {height: {type: number, default: 7}}
steps:
  some: {block: Condition, value1: inputs.height, operator: ">", value2: 5}
  much: {block: Condition, value1: some.yes_output, operator: ">", value2: 10}
outputs: {none: some.no_output, some: much.no_output, much: much.yes_output}
"#,
        "verified",
        3,
    ),
    (
        "a choice",
        r#"
inputs: {size: {type: choice, options: [small, large]}}
steps:
  check: {block: If Input Matches, input: inputs.size, value: large, yes_value: 1, no_value: 2}
outputs: {large: check.yes_output, small: check.no_output}
"#,
        "verified",
        2,
    ),
    (
        "an approval",
        r#"
inputs: {sum: {type: number, default: 3}}
steps:
  ask: {block: Human In The Loop, data: inputs.sum, name: The sum}
outputs: {approved: ask.approved_data, rejected: ask.rejected_data}
"#,
        "rehearsed",
        2,
    ),
    (
        "two approvals in a row",
        r#"
inputs: {sum: {type: number, default: 3}}
steps:
  first: {block: Human In The Loop, data: inputs.sum, name: The sum}
  second: {block: Human In The Loop, data: first.approved_data, name: The sum}
outputs: {approved: second.approved_data, rejected: second.rejected_data, early: first.rejected_data}
"#,
        "rehearsed",
        3,
    ),
    (
        "an answer that is compared",
        r#"
steps:
  high: {block: AI Text Generator, prompt: "How high is the tide?"}
  check: {block: Condition, value1: high.response, operator: ">", value2: 3.5}
outputs: {high: check.yes_output, low: check.no_output}
"#,
        "rehearsed",
        2,
    ),
    (
        "a part of a response",
        r#"
steps:
  page: {block: Send Web Request, url: "https://example.com/tides"}
  check: {block: Condition, value1: "page.response.rows[0].height", operator: ">", value2: 3}
outputs: {high: check.yes_output, low: check.no_output}
"#,
        "rehearsed",
        2,
    ),
    (
        "a model that decides",
        r#"
inputs: {letter: {type: string, default: Dear crew}}
steps:
  check: {block: AI Condition, input_value: inputs.letter, condition: It is friendly}
outputs: {friendly: check.yes_output, rude: check.no_output}
"#,
        "rehearsed",
        2,
    ),
    (
        "an output for errors only",
        r#"
steps:
  page: {block: Send Web Request, url: "https://example.com/tides"}
  found: {block: Store Value, input: {$any: [page.client_error, page.server_error]}}
outputs: {page: page.response, problem: page.error, wrong: found.output}
"#,
        "rehearsed",
        4,
    ),
    (
        "an error of a step that only computes",
        r#"
inputs: {height: {type: number, default: 9}}
steps:
  half: {block: Calculator, operation: Divide, a: inputs.height, b: 2}
outputs: {half: half.result, problem: half.error}
"#,
        "rehearsed",
        2,
    ),
    (
        "an output that nothing can fill",
        r#"
inputs: {height: {type: number, default: 9}}
steps:
  check: {block: Condition, value1: 1, operator: ">", value2: 3, no_value: inputs.height}
outputs: {high: check.yes_output, low: check.no_output}
"#,
        "valid",
        1,
    ),
    (
        "a branch whose step fails",
        r#"
inputs: {height: {type: number, default: 9}}
steps:
  check: {block: Condition, value1: inputs.height, operator: ">", value2: 3, no_value: none}
  date: {block: Get List Item, list: check.no_output, index: 7}
outputs: {high: check.yes_output}
"#,
        "valid",
        2,
    ),
];

#[tokio::test]
async fn further_runs_reach_what_the_first_one_does_not() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    for (what, spec, state, runs) in BRANCHING {
        let spec = format!("name: Agent\n{spec}");
        let report = user.post("/agents/rehearse", &json!({"spec": spec})).await;
        assert_eq!(report["state"], *state, "{what}: {report}");
        assert_eq!(report["runs"].as_array().map(Vec::len), Some(*runs), "{what}: {report}");
        assert_eq!(report["failed"], json!([]), "{what}: {report}");
        if *state != "valid" {
            assert_eq!(report["not_fired"], json!([]), "{what}: {report}");
        }
        let executions: Vec<&Value> = report["runs"].as_array().expect("runs").iter().collect();
        for branch in report["branches"].as_array().expect("branches") {
            let known = executions.iter().any(|run| run["execution_id"] == branch["taken_in"]);
            assert_eq!(branch["taken"].as_bool(), Some(known), "{what}: {branch}");
        }
        let again = user.post("/agents/rehearse", &json!({"spec": spec})).await;
        for (run, same) in executions.iter().zip(again["runs"].as_array().expect("runs")) {
            assert_eq!(run["varied"], same["varied"], "{what}: the same each time");
        }
        assert!(
            !user.get("/executions").await.to_string().contains("REVIEW"),
            "{what}: nobody is asked"
        );
    }
}

#[tokio::test]
async fn the_branches_of_an_agent_inside_another_are_reached_too() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let inner = "name: Inner\ninputs: {height: number}\nsteps:\n  check: {block: Condition, value1: inputs.height, operator: \">\", value2: 3}\n  ask: {block: Human In The Loop, data: check.yes_output, name: High}\noutputs: {ok: ask.approved_data, no: ask.rejected_data, low: check.no_output}\n";
    let id = user.make(&json!({"spec": inner})).await;
    let outer = format!(
        "name: Outer\ninputs: {{tide: {{type: number, default: 9}}}}\nsteps:\n  sub: {{agent: {id}@1, height: inputs.tide}}\noutputs: {{ok: sub.ok, no: sub.no, low: sub.low}}\n"
    );
    let report = user.post("/agents/rehearse", &json!({"spec": outer})).await;
    assert_eq!(
        (&report["state"], &report["unfilled"]),
        (&json!("rehearsed"), &json!([])),
        "{report}"
    );
    assert_eq!(report["answered"], json!([{"step": "sub/ask", "by": "decision"}]));
    let rejected = json!([{"kind": "rejection", "name": "sub/ask"}]);
    let lower = json!([{"kind": "input", "name": "tide", "value": 2}]);
    let varied: Vec<&Value> =
        report["runs"].as_array().expect("runs").iter().map(|run| &run["varied"]).collect();
    assert!(varied.contains(&&rejected) && varied.contains(&&lower), "{report}");
}
