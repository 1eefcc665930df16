//! Conversations that approach the model's context window: the older part is replaced by a summary, and the user still
//! sees everything.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use testkit::model_server::{Dialect, Gate, RecordedRequest, Script, ScriptedUsage};

use super::{ScriptedServer, dialects};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{Ending, ReceivedEvent, first, kinds, text_of, turn_of};
use crate::history::history;
use crate::scripts::bash;
use crate::turn_requests::{follow_after, status_of};

/// Two responses of this many characters fill it, together with the prompt and the tools.
const WINDOW: (&str, &str) = ("CHAT_CONTEXT_TOKENS", "40000");
const LONG: usize = 60_000;
const SUMMARY_MARK: &str = "[Summary of earlier messages]";
const NOTES: &str = "Notes: the harbour has two piers and a light.";
const FIRST: &str = "Plan a harbour. Never use concrete.";

/// Whether a request asks for a summary instead of a response.
fn is_for_a_summary(request: &RecordedRequest) -> bool {
    request.tool_names().is_empty()
        && request.last_user_text().ends_with("Write the notes of all of it now.")
}

fn size(request: &RecordedRequest) -> usize {
    request.body.to_string().len()
}

fn request_contains(request: &RecordedRequest, text: &str) -> bool {
    request.body["messages"].to_string().contains(text)
}

fn compactions(events: &[ReceivedEvent]) -> Vec<&Value> {
    let compactions = events.iter().filter(|got| got.chunk["type"] == "data-compaction");
    compactions.map(|got| &got.chunk["data"]).collect()
}

fn notices(rows: &[Value]) -> Vec<&Value> {
    rows.iter()
        .filter(|row| row["role"] == "system" && row["metadata"]["kind"] == "compaction")
        .collect()
}

/// A session whose next request no longer fits.
async fn full_session(setup: &ScriptedServer) -> String {
    let session = setup.server.session().await;
    for (asked, letter) in [(FIRST, "a"), ("And the details.", "b")] {
        setup.model.enqueue(Script::text(&letter.repeat(LONG)));
        assert_eq!(setup.turn(&session, asked).await.1, TurnEnd::Finished("stop".into()));
    }
    session
}

#[tokio::test]
async fn a_conversation_that_fills_the_window_is_compacted_before_the_next_step() {
    for dialect in dialects() {
        let setup = ScriptedServer::with(dialect, &[WINDOW]).await;
        let session = full_session(&setup).await;
        let usage =
            ScriptedUsage { prompt_tokens: 100, completion_tokens: 10, cache_read_tokens: 0 };
        setup.model.enqueue(Script::default().usage(usage).say(NOTES));
        setup.model.enqueue(Script::default().usage(usage).say("It is called Port Lotse."));
        let (events, end) = setup.turn(&session, "How shall we call it?").await;
        assert_eq!(end, TurnEnd::Finished("stop".into()), "{dialect:?}");
        assert_eq!(
            text_of(&events),
            "It is called Port Lotse.",
            "the notes are no part of the answer"
        );

        let requests = setup.model.requests();
        assert_eq!(requests.len(), 4);
        let (before, summary, after) = (&requests[1], &requests[2], &requests[3]);
        assert!(is_for_a_summary(summary) && request_contains(summary, FIRST), "{dialect:?}");
        assert!(size(after) < size(before), "{} {}", size(after), size(before));
        assert!(
            request_contains(after, SUMMARY_MARK)
                && request_contains(after, NOTES)
                && request_contains(after, FIRST),
            "{dialect:?}"
        );
        assert!(
            !request_contains(after, &"a".repeat(LONG)),
            "what was folded is not sent any more"
        );
        assert!(after.last_user_text().ends_with("How shall we call it?"), "{dialect:?}");

        let [compaction] = compactions(&events)[..] else {
            panic!("one fold: {:?}", kinds(&events))
        };
        assert_eq!(compaction["summary"], NOTES);
        assert!(compaction["folded"].as_u64() >= Some(2), "{compaction}");
        assert!(
            compaction["tokensAfter"].as_u64() < compaction["tokensBefore"].as_u64(),
            "{compaction}"
        );
        let used = &first(&events, "data-usage")["data"];
        assert_eq!(used["promptTokens"], 200, "the summary is paid for as well");

        let rows = history(&setup.server, &session).await;
        assert_eq!(notices(&rows).len(), 1);
        let words: Vec<usize> = rows
            .iter()
            .filter(|row| row["role"] == "assistant")
            .map(|row| row["content"].as_str().unwrap_or_default().len())
            .collect();
        assert_eq!(words, [LONG, LONG, 24], "the user can read all of it");
        assert!(
            rows.iter().any(|row| row["id"] == compaction["through"]),
            "the last folded row is one of them"
        );

        // From here on each request only extends the previous one, so that the provider's cache stays valid.
        setup.model.enqueue(Script::text("Since 1900."));
        let (events, _) = setup.turn(&session, "Since when?").await;
        assert_eq!(compactions(&events), Vec::<&Value>::new(), "it is not folded again");
        let next = setup.model.requests().pop().expect("a request");
        let shared = after.messages().len();
        match dialect {
            Dialect::OpenAi => assert_eq!(next.messages()[..shared], *after.messages()),
            // The cache marks move.
            Dialect::Anthropic => {
                assert!(request_contains(&next, NOTES) && request_contains(&next, "Port Lotse"))
            }
        }
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn a_turn_whose_tools_fill_the_window_is_compacted_between_its_steps() {
    for dialect in dialects() {
        let setup = ScriptedServer::with(dialect, &[WINDOW]).await;
        let session = setup.server.session().await;
        let asked = Arc::new(AtomicUsize::new(0));
        let steps = asked.clone();
        setup.model.respond_with(move |request| {
            if is_for_a_summary(request) {
                return Script::text(NOTES);
            }
            let step = steps.fetch_add(1, Ordering::Relaxed);
            let print =
                |half: usize| format!("head -c 25000 /dev/zero | tr '\\0' {}", half + step % 5);
            let calls = [0, 5].map(|half| bash(&format!("call_{step}_{half}"), &print(half)));
            if step < 6 { Script::default().call(&calls) } else { Script::text("Done.") }
        });
        let (events, end) = setup.turn(&session, "Look at everything.").await;
        assert_eq!(end, TurnEnd::Finished("stop".into()), "{dialect:?}");
        assert!(
            compactions(&events).len() >= 2,
            "it was folded again and again: {:?}",
            kinds(&events)
        );
        assert_eq!(asked.load(Ordering::Relaxed), 7, "no step was made twice");
        let requests = setup.model.requests();
        let answers = requests.iter().filter(|request| !is_for_a_summary(request));
        for request in answers {
            // Four bytes count as one token.
            assert!(size(request) / 4 < 40_000, "{}", size(request));
            assert!(request_contains(request, "Look at everything."), "what was asked for stays");
        }
        let again = requests.iter().filter(|request| is_for_a_summary(request)).nth(1);
        assert!(
            request_contains(again.expect("a second summary"), NOTES),
            "earlier notes are built upon"
        );
        let rows = history(&setup.server, &session).await;
        let results = rows.iter().filter(|row| row["role"] == "tool");
        assert!(
            results.clone().all(|row| row["content"].as_str().unwrap_or_default().len() > 25_000)
        );
        assert_eq!(results.count(), 12, "all results are there to be read");
        assert_eq!(notices(&rows).len(), compactions(&events).len());
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn a_request_that_is_too_long_for_the_provider_is_compacted_and_answered() {
    for dialect in dialects() {
        // The configured window is larger than what the provider accepts.
        let setup = ScriptedServer::start(dialect).await;
        let session = full_session(&setup).await;
        setup.model.enqueue(Script::context_too_long());
        setup.model.enqueue(Script::text(NOTES));
        setup.model.enqueue(Script::text("Port Lotse."));
        let (events, end) = setup.turn(&session, "How shall we call it?").await;
        assert_eq!(end, TurnEnd::Finished("stop".into()), "{dialect:?}");
        assert_eq!(text_of(&events), "Port Lotse.");
        assert_eq!(compactions(&events).len(), 1);
        let requests = setup.model.requests();
        let (refused, answered) = (&requests[2], &requests[4]);
        assert!(size(answered) < size(refused) / 2 + size(refused) / 10, "{}", size(answered));
        assert!(
            request_contains(answered, NOTES) && request_contains(answered, FIRST),
            "{dialect:?}"
        );
        assert!(answered.last_user_text().ends_with("How shall we call it?"));
        assert_eq!(notices(&history(&setup.server, &session).await).len(), 1);
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn the_turn_fails_when_every_request_is_too_long() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = full_session(&setup).await;
        setup.model.respond_with(|request| match is_for_a_summary(request) {
            true => Script::text(NOTES),
            false => Script::context_too_long(),
        });
        let (_, end) = setup.turn(&session, "How shall we call it?").await;
        assert_eq!(end, TurnEnd::Failed("context_too_long".into()), "{dialect:?}");
        let tries = setup
            .model
            .requests()
            .iter()
            .skip(2)
            .filter(|request| !is_for_a_summary(request))
            .count();
        assert!((2..=4).contains(&tries), "{tries} tries");
        history(&setup.server, &session).await;
        setup.model.respond_with(|_| Script::text("Better now."));
        assert_eq!(setup.turn(&session, "And now?").await.1, TurnEnd::Finished("stop".into()));
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn without_a_summary_the_first_lines_of_each_message_are_used() {
    let setup = ScriptedServer::with(Dialect::OpenAi, &[WINDOW]).await;
    let session = full_session(&setup).await;
    setup.model.respond_with(|request| match is_for_a_summary(request) {
        true => Script::unauthorized(),
        false => Script::text("Port Lotse."),
    });
    let (events, end) = setup.turn(&session, "How shall we call it?").await;
    assert_eq!(end, TurnEnd::Finished("stop".into()));
    let [compaction] = compactions(&events)[..] else { panic!("one fold: {:?}", kinds(&events)) };
    assert!(
        compaction["summary"].as_str().is_some_and(|words| words.contains("aaaa")),
        "{compaction}"
    );
    let asked = setup.model.requests().pop().expect("a request");
    assert!(
        request_contains(&asked, SUMMARY_MARK)
            && request_contains(&asked, FIRST)
            && request_contains(&asked, "How shall we call it?")
    );
    assert_eq!(notices(&history(&setup.server, &session).await).len(), 1);
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_server_killed_while_it_summarizes_compacts_once_after_its_restart() {
    for dialect in dialects() {
        let mut setup = ScriptedServer::with(dialect, &[WINDOW]).await;
        let session = full_session(&setup).await;
        let gate = Gate::closed();
        setup.model.enqueue(Script::default().say("Half of the no").wait_for(&gate));
        setup.model.enqueue(Script::text(NOTES));
        setup.model.enqueue(Script::text("Port Lotse."));
        let mut events = setup.server.say(&session, "How shall we call it?").await;
        let turn = turn_of(&events);
        let mut seen = events.until_seen("start").await;
        gate.reached().await;
        setup.server.restart();
        let last = seen.last().expect("events").id;
        seen.extend(follow_after(&setup.server, &turn, last).await.all().await);
        assert_eq!(assert_complete(&seen), TurnEnd::Finished("stop".into()), "{dialect:?}");
        assert_eq!(compactions(&seen).len(), 1);
        assert_eq!(compactions(&seen)[0]["summary"], NOTES, "the partial summary is discarded");
        assert_eq!(status_of(&setup.server, &turn).await, "completed");
        let rows = history(&setup.server, &session).await;
        assert_eq!(notices(&rows).len(), 1);
        let asked: Vec<bool> = setup.model.requests()[2..].iter().map(is_for_a_summary).collect();
        assert_eq!(asked, [true, true, false], "{dialect:?}");
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn a_turn_can_be_cancelled_while_it_is_compacted() {
    let setup = ScriptedServer::with(Dialect::OpenAi, &[WINDOW]).await;
    let session = full_session(&setup).await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say("Half of the no").wait_for(&gate));
    let mut events = setup.server.say(&session, "How shall we call it?").await;
    gate.reached().await;
    assert_eq!(setup.server.cancel(&session).await["cancelled"], true);
    let (seen, ending) = events.rest().await;
    assert_eq!((assert_complete(&seen), ending), (TurnEnd::Aborted, Ending::Complete));
    assert_eq!(text_of(&seen), "", "notes are not shown as an answer");
    let rows = history(&setup.server, &session).await;
    assert_eq!(notices(&rows).len(), 0);
    assert_eq!(rows.iter().filter(|row| row["role"] == "assistant").count(), 2);
    setup.model.enqueue(Script::text(NOTES));
    setup.model.enqueue(Script::text("Port Lotse."));
    assert_eq!(setup.turn(&session, "Once more?").await.1, TurnEnd::Finished("stop".into()));
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_follow_up_during_compaction_is_delivered_after_it() {
    let setup = ScriptedServer::with(Dialect::OpenAi, &[WINDOW]).await;
    let session = full_session(&setup).await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say(NOTES).wait_for(&gate));
    setup.model.enqueue(Script::text("Port Lotse."));
    let events = setup.server.say(&session, "How shall we call it?").await;
    gate.reached().await;
    let path = format!("/chat/sessions/{session}/messages/pending");
    let sent = setup.server.post(&path, &json!({"message": "Something short."})).send().await;
    assert_eq!(sent.expect("an answer").status(), 200);
    gate.open();
    let events = events.all().await;
    assert_eq!(assert_complete(&events), TurnEnd::Finished("stop".into()));
    let asked = setup.model.requests().pop().expect("a request");
    assert!(request_contains(&asked, NOTES), "the fold holds");
    assert!(
        asked.last_user_text().ends_with("How shall we call it?\n\nSomething short."),
        "{}",
        asked.last_user_text()
    );
    setup.model.assert_no_violations();
}
