//! Strict check of a session's history, page by page: the invariants that exports and model calls rely on.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::server::{Api, json_of};

const OUTCOMES: [&str; 5] = ["ok", "error", "denied", "cancelled", "interrupted"];

/// All rows of an idle session, read in small pages and checked.
pub(crate) async fn history(server: &Api, session: &str) -> Vec<Value> {
    let mut rows: Vec<Value> = Vec::new();
    let mut before = String::new();
    loop {
        let path = format!("/chat/sessions/{session}?limit=2{before}");
        let page = json_of(server.get(&path).send().await.expect("an answer")).await;
        let found = page["messages"].as_array().expect("a list").clone();
        assert_ne!(
            found.first().map(|row| &row["role"]),
            Some(&Value::from("tool")),
            "a page starts inside an exchange"
        );
        rows.splice(0..0, found);
        if page["has_more_messages"] != true {
            break;
        }
        before = format!("&before_sequence={}", page["oldest_sequence"]);
    }
    let whole = json_of(
        server.get(&format!("/chat/sessions/{session}?limit=200")).send().await.expect("an answer"),
    );
    assert_eq!(
        whole.await["messages"],
        Value::from(rows.clone()),
        "small pages and a large one agree"
    );
    assert_well_formed(&rows);
    rows
}

/// Rows of one role.
pub(crate) fn rows<'a>(history: &'a [Value], role: &str) -> Vec<&'a Value> {
    history.iter().filter(|row| row["role"] == role).collect()
}

fn assert_well_formed(rows: &[Value]) {
    let sequences: Vec<i64> = rows.iter().filter_map(|row| row["sequence"].as_i64()).collect();
    assert_eq!(sequences.len(), rows.len(), "every row has a sequence");
    assert!(
        sequences.windows(2).all(|two| two[0] + 1 == two[1]),
        "a gap or a repetition in {sequences:?}"
    );
    let ids: HashSet<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
    assert_eq!(ids.len(), rows.len(), "every row has its own id");
    // Calls without a result, by turn: a waiting message may be stored between the rows of another turn.
    let mut open: HashMap<&str, HashSet<&str>> = HashMap::new();
    for row in rows {
        let text = |name: &str| row[name].as_str().unwrap_or_default();
        let open = open.entry(text("turn_id")).or_default();
        match text("role") {
            "tool" => {
                assert!(open.remove(text("tool_call_id")), "a result for no open call: {row}");
                assert!(OUTCOMES.contains(&text("outcome")), "a result without an outcome: {row}");
                assert!(!text("content").is_empty(), "a result without content: {row}");
            }
            "assistant" => {
                assert!(open.is_empty(), "{open:?} had no result before {row}");
                let calls = row["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
                assert!(!calls.is_empty() || !text("content").is_empty(), "an empty answer: {row}");
                for call in calls {
                    let id = call["id"].as_str().expect("a call has an id");
                    assert!(open.insert(id), "two calls with the id {id}");
                }
            }
            "user" | "system" => assert!(!text("content").is_empty(), "an empty row: {row}"),
            other => panic!("{other} is no role"),
        }
    }
    open.retain(|_, calls| !calls.is_empty());
    assert!(open.is_empty(), "calls without a result: {open:?}");
}
