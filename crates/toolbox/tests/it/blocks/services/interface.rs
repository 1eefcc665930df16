//! What an agent is given and what it gives.

use serde_json::json;

use super::Bench;

#[tokio::test]
async fn typed_inputs_refuse_what_is_not_of_their_type() {
    let bench = Bench::new();
    for (name, input) in [
        ("AgentDateInputBlock", json!({ "name": "day", "value": "tomorrow" })),
        ("AgentTimeInputBlock", json!({ "name": "hour", "value": "25:00" })),
        (
            "AgentDropdownInputBlock",
            json!({ "name": "color", "value": "red", "options": ["blue"] }),
        ),
        (
            "AgentDropdownInputBlock",
            json!({ "name": "color", "value": "red", "placeholder_values": ["blue"] }),
        ),
    ] {
        bench.failure(name, input).await;
    }
}

#[tokio::test]
async fn a_broken_template_does_not_lose_the_output() {
    let bench = Bench::new();
    let input = json!({ "name": "sum", "value": 42, "format": "{{ sum" });
    let given = bench.run("AgentOutputBlock", input).await.expect("an output");
    let said = given[0].1.as_str().expect("text");
    assert!(said.starts_with("Error: ") && said.ends_with("42"), "{said}");
    let html = json!({ "name": "x", "value": "<b>", "format": "{{ x }}", "escape_html": true });
    let given = bench.run("AgentOutputBlock", html).await.expect("an output");
    assert_eq!(given[0].1, json!("&lt;b&gt;"));
}
