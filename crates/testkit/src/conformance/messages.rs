//! Laws of `Messages`.

use ports::Fenced;
use ports::store::{JournalEntry, JournalRecord};
use protocol::message::{MessageRole, NewMessage, ToolCall, ToolOutcome};
use protocol::text::without_nul;
use protocol::turn::TurnStatus;
use serde_json::json;

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! messages_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, messages:
            pages_of_history_have_no_gap_or_overlap,
            a_page_never_starts_inside_a_tool_exchange,
            history_omits_the_running_turn,
            every_field_of_a_message_survives_a_restart,
            odd_text_survives,
        );
    };
}

pub async fn pages_of_history_have_no_gap_or_overlap(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let id = session(ports, &ann).await.id;
    for n in 0..5 {
        whole_turn(ports, &ann, &id, &format!("question {n}")).await;
    }
    let whole = history(ports, &ann, &id).await;
    assert_eq!(whole.len(), 10);
    let sequences: Vec<i64> = whole.iter().map(|message| message.sequence).collect();
    assert_eq!(sequences, (1..=10).collect::<Vec<_>>());
    for limit in 1..=11 {
        let mut collected = Vec::new();
        let mut before = None;
        loop {
            let page = ports.messages.page(&ann, &id, limit, before).await.expect("page");
            let mut page = page.expect("the session exists");
            assert_eq!(page.oldest_sequence, page.messages.first().map(|m| m.sequence));
            before = page.oldest_sequence;
            page.messages.append(&mut collected);
            collected = page.messages;
            if !page.has_more {
                break;
            }
        }
        assert_eq!(collected, whole, "with pages of {limit}");
    }
    let none = ports.messages.page(&ann, &id, 10, Some(1)).await.expect("page").expect("it exists");
    assert_eq!((none.messages.len(), none.has_more, none.oldest_sequence), (0, false, None));
}

pub async fn a_page_never_starts_inside_a_tool_exchange(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    let claim = claim(ports, &first.id).await;
    let record = |entries| ports.turns.record(&claim, JournalRecord::new(entries));
    // 1 user, 2 calls a and b, 3 result a, 4 another user message, 5 result b, 6 calls c, 7 result c, 8 answer.
    let entries =
        vec![JournalEntry::Message(calls(&["a", "b"])), JournalEntry::Result(result("a"))];
    assert_eq!(record(entries).await.expect("record"), Fenced::Done(()));
    turn(ports, &ann, &mine.id, "meanwhile").await;
    let entries = vec![
        JournalEntry::Result(result("b")),
        JournalEntry::Message(calls(&["c"])),
        JournalEntry::Result(result("c")),
    ];
    assert_eq!(record(entries).await.expect("record"), Fenced::Done(()));
    finish(ports, &claim, "the answer").await;
    assert_eq!(history(ports, &ann, &mine.id).await.len(), 8);

    for (limit, starts_at) in [(1, 8), (2, 6), (3, 6), (4, 2), (5, 2), (6, 2), (7, 2), (8, 1)] {
        let page = ports.messages.page(&ann, &mine.id, limit, None).await.expect("page");
        let page = page.expect("it exists");
        assert_eq!(page.oldest_sequence, Some(starts_at), "with a page of {limit}");
        assert_eq!(page.has_more, starts_at > 1);
    }
}

pub async fn history_omits_the_running_turn(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    let claim = claim(ports, &first.id).await;
    let entries = vec![JournalEntry::Message(calls(&["a"])), JournalEntry::Result(result("a"))];
    ports.turns.record(&claim, JournalRecord::new(entries)).await.expect("record");
    assert_eq!(texts(&history(ports, &ann, &mine.id).await), ["hello"]);
    let progress = ports.turns.progress(&claim).await.expect("progress");
    let Fenced::Done(progress) = progress else { panic!("the claim is current") };
    assert_eq!(progress.messages.len(), 3, "the turn sees its own messages");
    let notice = NewMessage::new(MessageRole::System, "stopped");
    let ending = ending(TurnStatus::Cancelled, 0, vec![notice]);
    ports.turns.finish(&claim, ending).await.expect("finish");
    let rows = history(ports, &ann, &mine.id).await;
    assert_eq!(texts(&rows), ["hello", "", "result of a", "stopped"]);
}

pub async fn every_field_of_a_message_survives_a_restart(fixture: &mut impl BackendFixture) {
    let (ann, mine, turn) = first_turn(fixture.ports()).await;
    let claim = claim(fixture.ports(), &turn.id).await;
    let mut answer = NewMessage::new(MessageRole::Assistant, "see");
    answer.reasoning = Some("because".into());
    answer.model = Some("a-model".into());
    answer.tool_calls =
        vec![ToolCall { id: "c".into(), name: "look".into(), arguments: "{not json".into() }];
    answer.metadata = Some(json!({"kind": "x", "deep": [1.5, {"a": null}]}));
    answer.provider_state = Some(json!([{"signature": "abc="}]));
    let mut tool = result("c");
    tool.outcome = Some(ToolOutcome::Interrupted);
    let entries = vec![JournalEntry::Message(answer.clone()), JournalEntry::Result(tool.clone())];
    fixture.ports().turns.record(&claim, JournalRecord::new(entries)).await.expect("record");
    finish(fixture.ports(), &claim, "done").await;
    fixture.restart().await;

    let rows = history(fixture.ports(), &ann, &mine.id).await;
    let [_, row, outcome, last] = rows.as_slice() else { panic!("four rows, not {rows:?}") };
    assert_eq!((&row.id, &row.content, &row.model), (&answer.id, &answer.content, &answer.model));
    assert_eq!((&row.reasoning, &row.tool_calls), (&answer.reasoning, &answer.tool_calls));
    assert_eq!((&row.metadata, &row.provider_state), (&answer.metadata, &answer.provider_state));
    assert_eq!((row.role, &row.turn_id), (MessageRole::Assistant, &turn.id));
    assert_eq!((&outcome.tool_call_id, &outcome.name), (&tool.tool_call_id, &tool.name));
    assert_eq!((outcome.role, outcome.outcome), (MessageRole::Tool, tool.outcome));
    assert!(last.duration_ms.is_some(), "the last response has the duration of the turn");
    assert_eq!(row.duration_ms, None);
}

pub async fn odd_text_survives(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let id = session(ports, &ann).await.id;
    let odd = [
        "",
        "'; DROP TABLE turn; --",
        "\u{FEFF}\u{202E}\u{2028}\u{FFFF}",
        "👩\u{200D}👩\u{200D}👧\u{200D}👦 \u{1F1E9}\u{1F1EA}",
        "a\0b",
        "line\r\nline\ttab\u{7}",
        "%s ?1 $1 :name @name {}",
    ];
    let long = "ä".repeat(200_000);
    for text in odd.iter().copied().chain([long.as_str()]) {
        whole_turn(ports, &ann, &id, text).await;
    }
    // A store that cannot hold NUL may replace it with U+FFFD; nothing else may change.
    let rows = history(ports, &ann, &id).await;
    let questions: Vec<String> = rows.iter().step_by(2).map(|m| without_nul(&m.content)).collect();
    let expected: Vec<String> =
        odd.iter().copied().chain([long.as_str()]).map(without_nul).collect();
    assert_eq!(questions, expected);
}
