//! Input and output blocks.

use serde_json::json;

use super::Bench;

#[tokio::test]
async fn typed_inputs_reject_invalid_values() {
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
async fn an_invalid_template_does_not_lose_the_output() {
    let bench = Bench::new();
    let input = json!({ "name": "sum", "value": 42, "format": "{{ sum" });
    let outputs = bench.run("AgentOutputBlock", input).await.expect("an output");
    let text = outputs[0].1.as_str().expect("text");
    assert!(text.starts_with("Error: ") && text.ends_with("42"), "{text}");
    let html = json!({ "name": "x", "value": "<b>", "format": "{{ x }}", "escape_html": true });
    let outputs = bench.run("AgentOutputBlock", html).await.expect("an output");
    assert_eq!(outputs[0].1, json!("&lt;b&gt;"));
}
