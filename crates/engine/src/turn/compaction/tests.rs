//! What a compaction removes and keeps, given rows.

use std::sync::Arc;

use ports::model::{ModelMessage, ToolDefinition};
use ports::store::{BackgroundRecord, JournaledCall};
use proptest::prelude::*;
use protocol::message::{Message, MessageRole};
use protocol::tool::ToolEffect;
use serde_json::json;

use super::draft::draft;
use super::*;
use crate::turn::context::{self, ToolSelection};
use crate::turn::fixtures::{TestHistory, is_paired, turn, words};

const WINDOW: u64 = 20_000;

fn tools() -> ToolSelection {
    let allowed: Arc<[ToolDefinition]> = [].into();
    ToolSelection { allowed, denied: Vec::new() }
}

fn asked(progress: &TurnProgress, id: &str) -> ModelRequest {
    context::request(progress, &turn(id), tools(), ToolUse::Allowed, WINDOW)
}

fn target() -> CompactionTarget {
    CompactionTarget {
        tokens_left: measure::compaction_target(WINDOW),
        min_gain: measure::percent(WINDOW, MIN_GAIN_PERCENT),
    }
}

/// Compacts as the engine does, with this summary.
fn fold(history: &mut TestHistory, id: &str, summary: &str) -> Option<record::CompactionRecord> {
    let progress = history.progress();
    let request = asked(&progress, id);
    let folded =
        draft(&progress, &request, &turn(id), WINDOW, target())?.record(summary.to_owned());
    history.push(folded.row());
    Some(folded)
}

fn text(tokens: usize) -> String {
    "word".repeat(tokens)
}

fn background(call_id: &str, taken: bool) -> JournaledCall {
    let background = Some(BackgroundRecord { id: "bg-1".into(), end: None, taken });
    JournaledCall { call_id: call_id.into(), effect: ToolEffect::None, starts: 1, background }
}

#[test]
fn a_compaction_keeps_the_first_message_the_current_request_and_the_newest_steps() {
    let mut history = TestHistory::new();
    history.user("Always answer in French.").step(&[&text(6_000)]).assistant("done");
    history.turn("t2").user("Compare the three.").step(&[&text(4_000)]).step(&[&text(4_000)]);
    history.user("And be brief.").step(&[&text(2_000)]).step(&["newest"]);
    let folded = fold(&mut history, "t2", "NOTES").expect("a compaction");
    let request = asked(&history.progress(), "t2");
    assert_eq!(
        measure::request_tokens(&request),
        folded.tokens_after,
        "the record says how much is left"
    );
    assert!(
        folded.tokens_after <= measure::compaction_target(WINDOW) && folded.tokens_before > 16_000
    );
    assert!(is_paired(&request.messages));
    let sent: Vec<&str> = request.messages[1..4].iter().map(words).collect();
    assert_eq!(sent[0], "Always answer in French.");
    assert!(sent[1].contains("NOTES"));
    assert_eq!(sent[2], "Compare the three.");
    let last = request.messages.last().expect("messages");
    assert!(matches!(last, ModelMessage::ToolResult { content, .. } if content == "newest"));
    assert_eq!(
        folded.folded,
        history.rows.iter().position(|row| row.id == folded.through).expect("there") + 1
    );
}

#[test]
fn a_second_compaction_includes_the_first_and_the_requests_it_kept() {
    let mut history = TestHistory::new();
    history.user("first").assistant("hello").turn("t2").user("second request");
    history.step(&[&text(7_000)]).step(&[&text(7_000)]).step(&[&text(3_000)]);
    let one = fold(&mut history, "t2", "FIRST NOTES").expect("a compaction");
    assert_eq!(one.kept, ["m2".into()], "the request of the running turn");
    history.assistant("done").turn("t3").user("third request");
    history.step(&[&text(7_000)]).step(&[&text(6_000)]).step(&["end"]);

    let progress = history.progress();
    let request = asked(&progress, "t3");
    let again = draft(&progress, &request, &turn("t3"), WINDOW, target()).expect("a compaction");
    assert_eq!(again.earlier.as_deref(), Some("FIRST NOTES"));
    assert_eq!(again.rows[0].content, "second request", "it is summarized now");
    let two = fold(&mut history, "t3", "SECOND NOTES").expect("a compaction");
    assert_eq!(two.kept, ["m11".into()]);
    assert!(two.folded > one.folded);
    let request = asked(&history.progress(), "t3");
    assert_eq!(measure::request_tokens(&request), two.tokens_after);
    let all = format!("{:?}", request.messages);
    assert!(all.contains("third request") && all.contains("SECOND NOTES"));
    assert!(!all.contains("second request") && !all.contains("FIRST NOTES"));
}

#[test]
fn a_compaction_that_would_gain_little_is_not_made() {
    let mut history = TestHistory::new();
    history.user(&text(15_000)).step(&["small"]).step(&[&text(3_000)]);
    assert!(fold(&mut history, "t1", "NOTES").is_none());
    let mut only = TestHistory::new();
    only.user(&text(19_000));
    assert!(fold(&mut only, "t1", "NOTES").is_none(), "there is nothing to summarize");
}

#[test]
fn a_turn_without_its_own_message_keeps_the_last_request() {
    let mut history = TestHistory::new();
    history.user("first").assistant("a").turn("t2").user("build it").step(&[&text(7_000)]);
    history.assistant("it is being built").turn("t9").step(&[&text(7_000)]).step(&[&text(4_000)]);
    let folded = fold(&mut history, "t9", "NOTES").expect("a compaction");
    assert_eq!(folded.kept, ["m2".into()]);
}

#[test]
fn the_newest_follow_ups_are_kept_while_they_fit() {
    let mut history = TestHistory::new();
    history.user("first").assistant("a").turn("t2").user(&text(3_000));
    history.step(&[&text(6_000)]).user(&text(2_000)).step(&[&text(6_000)]).user("last");
    history.step(&["x"]).step(&["y"]).step(&[&text(5_000)]);
    let progress = history.progress();
    let request = asked(&progress, "t2");
    let folded = draft(
        &progress,
        &request,
        &turn("t2"),
        WINDOW,
        CompactionTarget { tokens_left: 0, min_gain: 1 },
    );
    let kept = folded.expect("a compaction").record(String::new()).kept;
    assert_eq!(kept, ["m5".into(), "m8".into()], "the oldest is summarized");
}

#[test]
fn open_items_are_listed_until_they_are_closed() {
    let pending = json!({"type": "operation_pending", "message": "m", "operation_id": "op-7", "tool_name": "build"});
    let status = |id: &str, status: &str| {
        json!({"type": "sub_session_status", "message": "m", "status": status, "sub_session_id": id,
            "sub_autopilot_session_id": id, "sub_autopilot_session_link": "/", "tool_calls": [], "elapsed_seconds": 1})
        .to_string()
    };
    let question = json!({"type": "clarification_needed", "message": "m",
        "questions": [{"question": "Which city?", "keyword": "city"}]});
    let mut history = TestHistory::new();
    history.user("go").step(&[
        &pending.to_string(),
        &status("s-1", "running"),
        &status("s-2", "queued"),
    ]);
    history.step(&[
        &status("s-1", "completed"),
        &question.to_string(),
        "operation_pending in words",
    ]);
    let mut progress = history.progress();
    progress.calls = vec![background("c1-0", false), background("c5-0", true)];
    let all = history.rows.len() - 1;
    let lines = open_items::open_items(&progress, all);
    assert_eq!(lines.len(), 4, "{lines:?}");
    for (line, part) in
        lines.iter().zip(["bg-1 of bash_exec", "op-7 of build", "s-2", "Which city?"])
    {
        assert!(line.contains(part), "{part} is not in {line}");
    }
    let before_the_second_step = open_items::open_items(&progress, 4);
    assert!(
        !before_the_second_step.iter().any(|line| line.contains("s-1")),
        "the later rows show it"
    );
    progress.messages = history.user("Paris").rows.clone();
    assert!(
        !open_items::open_items(&progress, all).iter().any(|line| line.contains("city")),
        "answered"
    );
}

#[test]
fn without_a_model_the_first_lines_are_used() {
    let mut history = TestHistory::new();
    history
        .user("Find it.\nAnd more.")
        .step(&[r#"{"type":"bash_exec","message":"Found 3 files."}"#]);
    history.push(protocol::message::NewMessage::new(MessageRole::System, "a notice"));
    let rows: Vec<&Message> = history.rows.iter().collect();
    assert_eq!(
        transcript::digest(Some("EARLIER"), &rows, 1_000),
        "EARLIER\n\n- Person: Find it.\n- Call of bash_exec: {}\n- bash_exec answered: Found 3 files."
    );
    assert!(transcript::digest(None, &rows.repeat(500), 1_000).chars().count() <= 1_000);
    let long = text(10_000);
    history.user(&long);
    let whole = transcript::whole(&history.rows.iter().collect::<Vec<_>>(), 2_000);
    assert!(whole.len() <= 2_100 && whole.contains("Found 3 files."), "{}", whole.len());
}

/// Turns with steps and follow-ups of all sizes. The last row is one that the model answers.
fn histories() -> impl Strategy<Value = TestHistory> {
    let step = (0..3usize, prop::collection::vec(1..3_000usize, 0..4));
    prop::collection::vec(step, 1..30).prop_map(|steps| {
        let mut history = TestHistory::new();
        history.user("the first words");
        for (kind, sizes) in steps {
            match kind {
                0 => history.user(&text(sizes.first().copied().unwrap_or(1).min(1_000))),
                1 if sizes.is_empty() => history.assistant("words"),
                _ => history.step(
                    &sizes
                        .iter()
                        .map(|size| text(*size))
                        .collect::<Vec<_>>()
                        .iter()
                        .map(String::as_str)
                        .collect::<Vec<_>>(),
                ),
            };
        }
        history.user("the newest words").step(&["the newest result"]);
        history
    })
}

proptest! {
    #[test]
    fn after_any_compaction_the_model_gets_a_complete_conversation(mut history in histories()) {
        // Repeated, because each compaction must be as valid as the first.
        for _ in 0..3 {
            let before = measure::request_tokens(&asked(&history.progress(), "t1"));
            let Some(folded) = fold(&mut history, "t1", "NOTES") else { break };
            let request = asked(&history.progress(), "t1");
            prop_assert!(is_paired(&request.messages));
            prop_assert_eq!(measure::request_tokens(&request), folded.tokens_after);
            prop_assert!(folded.tokens_after < before);
            let sent = format!("{:?}", request.messages);
            for part in ["the first words", "the newest words", "the newest result", "NOTES"] {
                prop_assert!(sent.contains(part), "{part}");
            }
            history.step(&[&text(4_000)]).user("the newest words").step(&["the newest result"]);
        }
    }
}
