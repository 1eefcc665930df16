//! Resuming a stream: from the start, from a cursor, late, too late, and while no event comes.

use std::time::Duration;

use serde_json::Value;

use super::ENGINE;
use crate::events::{Ending, EventStream, ReceivedEvent, kinds, text_of};
use crate::server::{TestServer, refusal};

async fn resume(server: &TestServer, path: &str, cursor: Option<&str>) -> EventStream {
    let mut request = server.get(path);
    if let Some(cursor) = cursor {
        request = request.header("last-event-id", cursor);
    }
    EventStream::of(request.send().await.expect("an answer"))
}

async fn finished(server: &TestServer) -> (String, String, Vec<ReceivedEvent>) {
    let session = server.session().await;
    let events = server.say(&session, "/stream count=40 size=5").await;
    let turn = events.headers["x-turn-id"].to_str().expect("text").to_owned();
    let all = events.all().await;
    (session, turn, all)
}

#[tokio::test]
async fn a_replay_has_the_complete_turn_in_few_events() {
    let server = TestServer::start(ENGINE);
    let (session, turn, all) = finished(&server).await;
    for path in [format!("/chat/sessions/{session}/stream"), format!("/chat/tasks/{turn}/stream")] {
        for cursor in [None, Some("0"), Some("0-0"), Some("nonsense"), Some("99999")] {
            let replay = resume(&server, &path, cursor).await.all().await;
            assert!(replay.len() < all.len() / 2, "deltas are merged");
            assert_eq!(text_of(&replay), text_of(&all));
            assert_eq!(replay[0], all[0], "the same start with the same message id");
            assert_eq!(replay.last(), all.last());
        }
    }
}

#[tokio::test]
async fn a_cursor_gets_exactly_what_follows_it() {
    let server = TestServer::start(ENGINE);
    let (session, turn, all) = finished(&server).await;
    for cursor in [1, 7, all.len() - 1, all.len()] {
        for (path, header) in [
            (format!("/chat/sessions/{session}/stream"), Some(cursor.to_string())),
            (format!("/chat/sessions/{session}/stream?last_message_id={cursor}-0"), None),
            (format!("/chat/tasks/{turn}/stream?last_message_id={cursor}"), None),
        ] {
            let rest = resume(&server, &path, header.as_deref()).await.all().await;
            assert_eq!(rest, all[cursor..], "{path}");
        }
    }
}

#[tokio::test]
async fn a_reader_that_resumes_during_a_turn_misses_nothing() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let mut first = server.say(&session, "/stream count=60 size=5 delay_ms=10").await;
    let path = format!("/chat/sessions/{session}/stream");
    let mut got = Vec::new();
    for _ in 0..20 {
        got.push(first.next().await.expect("the stream continues"));
    }
    drop(first);
    let cursor = got.last().expect("some").id.to_string();
    let (whole, rest) =
        tokio::join!(async { resume(&server, &path, None).await.all().await }, async {
            resume(&server, &path, Some(&cursor)).await.all().await
        },);
    got.extend(rest);
    let ids: Vec<u64> = got.iter().map(|got| got.id).collect();
    assert_eq!(ids, (1..=got.len() as u64).collect::<Vec<_>>());
    assert_eq!(text_of(&got), text_of(&whole));
    assert_eq!(kinds(&whole).iter().filter(|kind| **kind == "start").count(), 1);
}

#[tokio::test]
async fn nothing_to_resume_is_204() {
    let server = TestServer::with(ENGINE, &[("CHAT_REPLAY_WINDOW_SECONDS", "0")]);
    let (session, turn, all) = finished(&server).await;
    let status =
        async |path: String| server.get(&path).send().await.expect("an answer").status().as_u16();
    assert_eq!(status(format!("/chat/sessions/{session}/stream")).await, 204, "the window is off");
    assert_eq!(status(format!("/chat/sessions/{}/stream", server.session().await)).await, 204);
    assert_eq!(status("/chat/sessions/unknown/stream".to_owned()).await, 204);
    let replay = resume(&server, &format!("/chat/tasks/{turn}/stream"), None).await.all().await;
    assert_eq!(text_of(&replay), text_of(&all), "by its task a turn stays readable");
}

#[tokio::test]
async fn the_replay_window_closes() {
    let server = TestServer::with(ENGINE, &[("CHAT_REPLAY_WINDOW_SECONDS", "1")]);
    let (session, _, _) = finished(&server).await;
    let path = format!("/chat/sessions/{session}/stream");
    assert_eq!(server.get(&path).send().await.expect("an answer").status(), 200);
    let closed = async {
        while server.get(&path).send().await.expect("an answer").status() != 204 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), closed).await.expect("it closes");
}

#[tokio::test]
async fn unknown_tasks_are_refused_in_the_format_of_tasks() {
    let server = TestServer::start(ENGINE);
    for path in ["/chat/tasks/unknown", "/chat/tasks/unknown/stream"] {
        let response = server.get(path).send().await.expect("an answer");
        assert_eq!(response.status(), 404);
        let body: Value = response.json().await.expect("JSON");
        assert_eq!(body["detail"]["code"], "TASK_NOT_FOUND");
    }
    let (_, turn, _) = finished(&server).await;
    let task: Value = server
        .get(&format!("/chat/tasks/{turn}"))
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    assert_eq!(
        (&task["task_id"], &task["status"]),
        (&Value::from(turn), &Value::from("completed"))
    );
}

#[tokio::test]
async fn heartbeats_during_silence_are_no_events() {
    let server = TestServer::with(ENGINE, &[("CHAT_HEARTBEAT_SECONDS", "0.2")]);
    let session = server.session().await;
    let mut events = server.say(&session, "/stream count=2 size=5 delay_ms=1500").await;
    events.until_raw(": heartbeat\n\n", Duration::from_secs(10)).await;
    let (all, ending) = events.rest().await;
    assert_eq!((text_of(&all).len(), ending), (10, Ending::Complete));
}

#[tokio::test]
async fn streams_are_capped_per_user() {
    let server = TestServer::with(ENGINE, &[("MAX_STREAMS_PER_USER", "1")]);
    let session = server.session().await;
    let mut first = server.say(&session, "/stream count=100000 size=5 delay_ms=20").await;
    first.until("text-delta").await;
    let path = format!("/chat/sessions/{session}/stream");
    let second = server.get(&path).send().await.expect("an answer");
    assert!(second.headers().contains_key("retry-after"));
    assert_eq!(refusal(second).await, (429, "TOO_MANY_STREAMS".into()));
    drop(first);
    let free = async {
        while server.get(&path).send().await.expect("an answer").status() != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), free).await.expect("the stream is released");
}

#[tokio::test]
async fn a_deleted_session_breaks_its_streams() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let mut events = server.say(&session, "/stream count=100000 size=5 delay_ms=20").await;
    events.until("text-delta").await;
    let deleted =
        server.client.delete(server.api(&format!("/chat/sessions/{session}"))).send().await;
    assert_eq!(deleted.expect("an answer").status(), 204);
    let (rest, ending) = events.rest().await;
    let aborted = kinds(&rest).last() == Some(&"abort");
    assert!(ending == Ending::Broken || (ending == Ending::Complete && aborted), "{ending:?}");
    let gone = server.get(&format!("/chat/sessions/{session}")).send().await.expect("an answer");
    assert_eq!(refusal(gone).await, (404, "SESSION_NOT_FOUND".into()));
}
