//! The contents of a model request, given rows.

use jiff::Timestamp;
use ports::model::OPERATION_MARK;
use protocol::message::{NewMessage, ToolCall, ToolOutcome};
use protocol::operation::{Operation, OperationResult, OperationState};
use serde_json::json;

use super::*;
use crate::turn::fixtures::{TestHistory, is_paired, turn, words};

const WINDOW: u64 = 128_000;

fn tools() -> ToolSelection {
    let tool = |name: &str| ToolDefinition {
        name: name.into(),
        description: "d".into(),
        parameters: json!({}),
    };
    ToolSelection { allowed: [tool("bash_exec"), tool("web_fetch")].into(), denied: Vec::new() }
}

fn messages(history: &TestHistory, id: &str) -> Vec<ModelMessage> {
    request(&history.progress(), &turn(id), tools(), ToolUse::Allowed, WINDOW).messages
}

fn fold(through: &str, kept: &[&str], handles: &[&str]) -> NewMessage {
    let mut row = NewMessage::new(MessageRole::System, "notice");
    row.metadata = Some(json!({
        "kind": "compaction", "through": through, "folded": 3, "tokens_before": 9,
        "tokens_after": 4, "summary": format!("notes through {through}"), "handles": handles, "kept": kept,
    }));
    row
}

#[test]
fn a_request_starts_with_unchanging_facts_about_the_session() {
    let mut history = TestHistory::new();
    history.user("hello");
    let mut progress = history.progress();
    let about = |progress: &TurnProgress, denied: &[&str]| {
        let denied = denied.iter().map(|name| (*name).to_owned()).collect();
        let tools = ToolSelection { denied, ..tools() };
        let asked = request(progress, &turn("t1"), tools, ToolUse::Allowed, WINDOW);
        assert_eq!(words(&asked.messages[1]), "hello", "the user's message is unchanged");
        words(&asked.messages[0]).to_owned()
    };
    let ordinary = "[About this session]\nIt began on 1970-01-01 (UTC).";
    assert_eq!(about(&progress, &[]), ordinary);
    progress.session.title = Some("Named meanwhile".into());
    progress.session.is_pinned = true;
    assert_eq!(about(&progress, &[]), ordinary, "changeable facts are not included");

    progress.session.dry_run = true;
    progress.session.depth = 1;
    progress.session.metadata.insert("system_context".into(), json!("Speak French."));
    let about = about(&progress, &["web_fetch", "bash_exec"]);
    for part in
        ["dry run", "sub-session", "Speak French.", "not be used here: web_fetch, bash_exec."]
    {
        assert!(about.contains(part), "{part} is not in {about}");
    }
}

#[test]
fn a_later_request_only_appends_to_an_earlier_one() {
    let mut history = TestHistory::new();
    let mut earlier: Option<ModelRequest> = None;
    let mut ask = |history: &TestHistory, id: &str| {
        let asked = request(&history.progress(), &turn(id), tools(), ToolUse::Allowed, WINDOW);
        if let Some(earlier) = earlier.replace(asked.clone()) {
            assert_eq!((&earlier.system, &earlier.tools), (&asked.system, &asked.tools));
            assert_eq!(earlier.messages[..], asked.messages[..earlier.messages.len()]);
        }
    };
    ask(history.user("do it"), "t1");
    ask(history.step(&["one", "two"]), "t1");
    // Too much for one step: it is cut, and always in the same way.
    ask(history.step(&[&"x".repeat(300_000), &"y".repeat(300_000)]), "t1");
    history.push(NewMessage::new(MessageRole::System, "a notice"));
    ask(history.assistant("done").turn("t2").user("and now?"), "t2");
    let last = history.rows.last().expect("rows").id.clone();
    ask(history.step(&["three"]), "t2");
    // After a compaction the requests share a new prefix and extend it again.
    let mut folded = TestHistory::new();
    folded.rows = history.rows.clone();
    folded.turn("t2").push(fold("m7", &[last.as_str()], &[]));
    let first = messages(&folded, "t2");
    folded.step(&["four"]);
    let second = messages(&folded, "t2");
    assert_eq!(first[..], second[..first.len()]);
    folded.turn("t3").user("next");
    let third = messages(&folded, "t3");
    assert_eq!(second[..], third[..second.len()], "also in the next turn");
}

#[test]
fn a_summary_replaces_the_rows_up_to_its_end() {
    let mut history = TestHistory::new();
    history.user("first").step(&["one"]).assistant("done"); // m0..m3
    history.turn("t2").user("request").step(&["two"]).step(&["three"]); // m4..m8
    history.push(fold("m6", &["m4"], &["operation op-1 is at work"])).step(&["four"]);
    let messages = messages(&history, "t2");
    assert_eq!(words(&messages[1]), "first");
    let summary = words(&messages[2]);
    assert!(summary.starts_with("[Summary of earlier messages]"), "{summary}");
    assert!(summary.contains("notes through m6"), "{summary}");
    assert!(summary.contains("[Open handles]") && summary.contains("op-1"), "{summary}");
    assert_eq!(words(&messages[3]), "request", "the current request is kept unchanged");
    assert_eq!(messages.len(), 4 + 2 + 2, "the rows after the compaction and nothing else");
    assert!(is_paired(&messages));
    assert!(matches!(&messages[5], ModelMessage::ToolResult { content, .. } if content == "three"));
}

#[test]
fn the_newest_compaction_whose_rows_still_exist_is_used() {
    let mut history = TestHistory::new();
    history.user("first").assistant("a").turn("t2").user("b").assistant("c"); // m0..m3
    history.push(fold("m1", &[], &[])).push(fold("m2", &[], &[])).push(fold("gone", &[], &[]));
    history.turn("t3").user("d");
    let newest = messages(&history, "t3");
    assert!(words(&newest[2]).contains("notes through m2"));
    assert_eq!(newest.len(), 3 + 2);
    history.rows.retain(|row| row.id.as_str() != "m2");
    let older = messages(&history, "t3");
    assert!(words(&older[2]).contains("notes through m1"));
}

#[test]
fn the_end_of_an_operation_comes_before_the_later_rows_of_its_turn() {
    let mut history = TestHistory::new();
    history.user("build it").step(&["pending"]).assistant("It is being built.");
    let mut progress = history.progress();
    progress.operation = Some(Operation {
        id: "op-1".into(),
        task_id: "t9".into(),
        session_id: "s".into(),
        asked_by: "t1".into(),
        call: ToolCall { id: "c".into(), name: "build".into(), arguments: "{}".into() },
        state: OperationState::Ended,
        result: Some(OperationResult { output: "o".repeat(9_000), outcome: ToolOutcome::Error }),
        created_at: Timestamp::UNIX_EPOCH,
    });
    let ask = |progress: &TurnProgress| {
        request(progress, &turn("t9"), tools(), ToolUse::Allowed, WINDOW).messages
    };
    let first = ask(&progress);
    let notice = words(first.last().expect("messages"));
    assert!(notice.starts_with(&format!("{OPERATION_MARK}build (op-1) has ended] It failed.")));
    assert!(notice.len() < 4_500 && notice.contains("characters cut"), "{}", notice.len());
    progress.messages = history.turn("t9").step(&["looked"]).rows.clone();
    let second = ask(&progress);
    assert_eq!(first[..], second[..first.len()]);
    assert!(is_paired(&second));
    if let Some(operation) = &mut progress.operation {
        operation.result = None;
    }
    assert_eq!(ask(&progress).len(), second.len() - 1, "no operation has ended");
}

#[test]
fn the_results_of_one_step_share_the_step_part_of_the_window() {
    let mut history = TestHistory::new();
    let (long, longer) = ("l".repeat(4_000), "m".repeat(40_000));
    history.user("go").step(&["short", &long, &longer]);
    let small_window = 1_000;
    let asked = request(&history.progress(), &turn("t1"), tools(), ToolUse::Allowed, small_window);
    let results: Vec<&str> = asked
        .messages
        .iter()
        .filter_map(|message| match message {
            ModelMessage::ToolResult { content, .. } => Some(content.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(results[0], "short");
    assert!(results.iter().map(|result| result.len()).sum::<usize>() <= 1_600 + 20, "{results:?}");
    assert!(results[2].contains("characters cut"));
}

#[test]
fn the_model_is_told_that_a_step_is_the_last() {
    let mut history = TestHistory::new();
    history.user("go").step(&["done"]);
    let asked = request(&history.progress(), &turn("t1"), tools(), ToolUse::Forbidden, WINDOW);
    assert_eq!(words(asked.messages.last().expect("messages")), WRAP_UP);
    assert_eq!(asked.tools.len(), 2, "the tools are still listed");
}
