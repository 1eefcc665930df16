//! Readers that disconnect and resume get exactly the events of an uninterrupted reader, also after a restart.

use std::collections::BTreeMap;

use testkit::model_server::Script;

use super::ENGINE;
use super::scripted::{ScriptedServer, dialects};
use crate::contract::{TurnEnd, assert_complete, assert_replay};
use crate::events::{EventStream, ReceivedEvent, text_of, turn_of};
use crate::scripts::todo;
use crate::server::TestServer;

const CHUNKS: usize = 5000;

async fn follow(server: &TestServer, path: &str, cursor: Option<u64>) -> EventStream {
    let mut request = server.get(path);
    if let Some(cursor) = cursor {
        request = request.header("last-event-id", cursor.to_string());
    }
    EventStream::of(request.send().await.expect("an answer"))
}

/// A pseudorandom number generator with a fixed seed, so that every test run is the same.
struct PseudoRandom(u64);

impl PseudoRandom {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Reads a few events, drops the connection and resumes after the last id, until the end.
async fn read_in_pieces(server: &TestServer, path: &str, seed: u64) -> Vec<ReceivedEvent> {
    let mut random = PseudoRandom(seed);
    let mut got: Vec<ReceivedEvent> = Vec::new();
    loop {
        let cursor = got.last().map(|last| last.id);
        let mut events = follow(server, path, cursor).await;
        // The replay without a cursor may be merged, so only its first event equals the raw one.
        let pieces = if cursor.is_none() { 1 } else { 1 + random.below(400) };
        for _ in 0..pieces {
            match events.next().await {
                Ok(event) => got.push(event),
                Err(ending) => {
                    assert_eq!(ending, crate::events::Ending::Complete);
                    return got;
                }
            }
        }
    }
}

/// Reconnects without a cursor several times and returns the last replay.
async fn read_from_the_beginning(server: &TestServer, path: &str) -> Vec<ReceivedEvent> {
    let mut random = PseudoRandom(77);
    loop {
        let mut events = follow(server, path, None).await;
        let mut got = Vec::new();
        for _ in 0..20 + random.below(1500) {
            match events.next().await {
                Ok(event) => got.push(event),
                Err(_) => return got,
            }
        }
    }
}

#[tokio::test]
async fn twenty_readers_that_disconnect_and_resume_get_the_same_events() {
    let mut server = TestServer::start(ENGINE);
    let session = server.session().await;
    let first = server.say(&session, &format!("/stream count={CHUNKS} size=12 delay_ms=1")).await;
    let turn = turn_of(&first);
    let (by_session, by_task) =
        (format!("/chat/sessions/{session}/stream"), format!("/chat/tasks/{turn}/stream"));
    let (whole, droppers, restarter) = tokio::join!(
        first.all(),
        futures::future::join_all((0..20).map(|seed| {
            let path = if seed % 2 == 0 { &by_session } else { &by_task };
            read_in_pieces(&server, path, seed)
        })),
        read_from_the_beginning(&server, &by_session),
    );
    assert_eq!(assert_complete(&whole), TurnEnd::Finished("stop".to_owned()));
    assert!(whole.len() > CHUNKS);
    for (seed, got) in droppers.iter().enumerate() {
        assert!(*got == whole, "reader {seed} saw something else");
    }
    assert_replay(&restarter);
    assert_eq!(text_of(&restarter), text_of(&whole));
    assert_eq!(restarter.last(), whole.last());

    // Later, and after a crash: the same events with a cursor, the same content without one.
    for round in ["later", "after a restart"] {
        if round == "after a restart" {
            server.restart();
        }
        let raw = follow(&server, &by_task, Some(1)).await.all().await;
        assert!(raw == whole[1..], "{round}: the raw stream is another");
        for cursor in [None, Some(0), Some(9_999_999)] {
            let merged = follow(&server, &by_task, cursor).await.all().await;
            assert!(merged.len() < 100, "{round}: few events, not {}", merged.len());
            assert_eq!(assert_replay(&merged), TurnEnd::Finished("stop".to_owned()));
            assert_eq!(text_of(&merged), text_of(&whole));
            assert_eq!(
                (&merged[0], merged.last()),
                (&whole[0], whole.last()),
                "the same start, the same end"
            );
        }
    }
    let history = server.read_session(&session).await;
    assert_eq!(history["messages"][1]["content"], text_of(&whole), "the history has the same text");
}

/// The parts that a client has at the end: each with its text, or its input and output.
fn parts(events: &[ReceivedEvent]) -> BTreeMap<String, String> {
    let mut parts: BTreeMap<String, String> = BTreeMap::new();
    for ReceivedEvent { chunk, .. } in events {
        let id = chunk["id"].as_str().or(chunk["toolCallId"].as_str());
        let Some(id) = id else { continue };
        let part = parts.entry(id.to_owned()).or_default();
        match chunk["type"].as_str() {
            Some("text-delta" | "reasoning-delta") => {
                part.push_str(chunk["delta"].as_str().expect("words"))
            }
            Some("tool-input-delta") => {
                part.push_str(chunk["inputTextDelta"].as_str().expect("input"))
            }
            _ => part.push_str(&chunk.to_string()),
        }
    }
    parts
}

#[tokio::test]
async fn every_cursor_of_a_turn_gets_exactly_the_events_after_it() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let calls = [todo("call_a", "one"), todo("call_b", "two")];
        setup.model.enqueue(
            Script::default()
                .think("Let me think about it.")
                .say_in("I will do two things.", 6)
                .call_in(&calls, 5),
        );
        setup
            .model
            .enqueue(Script::default().think("Nearly done.").say_in("They are done now.", 6));
        let first = setup.server.say(&session, "everything").await;
        let path = format!("/chat/tasks/{}/stream", turn_of(&first));
        let whole = first.all().await;
        assert_eq!(assert_complete(&whole), TurnEnd::Finished("stop".to_owned()));
        for cursor in 1..=whole.len() {
            let rest = follow(&setup.server, &path, Some(cursor as u64)).await.all().await;
            assert_eq!(rest, whole[cursor..], "{dialect:?}: after {cursor}");
        }
        let merged = follow(&setup.server, &path, None).await.all().await;
        assert_eq!(assert_replay(&merged), TurnEnd::Finished("stop".to_owned()));
        assert!(merged.len() < whole.len());
        assert_eq!(parts(&merged), parts(&whole), "{dialect:?}: the same parts in the end");
    }
}
