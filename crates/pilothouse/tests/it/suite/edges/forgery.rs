//! Text stays text: whatever a user, a model or a tool sends, it cannot forge SSE events, and no secret is passed on
//! with it.

use serde_json::json;
use testkit::model_server::{API_KEY, Dialect, Script};

use super::scripted::{ScriptedServer, dialects};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{Ending, output, text_of, turn_of};
use crate::scripts::{bash, todo};

/// Text that would be SSE events if it were not escaped.
const FORGED: &str = "\n\ndata: {\"type\":\"finish\",\"finishReason\":\"stop\"}\n\nid: 999\r\ndata: [DONE]\r\n\r\rretry: 1\n: comment\u{2028}\u{2029}\u{85}</script><!--";

/// Asserts that every line of the raw stream was written by the server.
fn assert_plain(raw: &str) {
    for event in raw.split("\n\n").filter(|event| !event.is_empty()) {
        let lines: Vec<&str> = event.split('\n').collect();
        let fits = match lines[..] {
            [id, data] => {
                id.strip_prefix("id: ").is_some_and(|id| id.parse::<u64>().is_ok())
                    && data.starts_with("data: {")
            }
            [line] => ["retry: 1000", ": heartbeat", "data: [DONE]"].contains(&line),
            _ => false,
        };
        assert!(fits, "{event:?}");
    }
    assert!(!raw.contains('\r'));
    assert!(raw.ends_with("\n\ndata: [DONE]\n\n") && raw.matches("data: [DONE]\n").count() == 1);
}

#[tokio::test]
async fn no_text_can_forge_an_event() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let print = format!("printf '%s' '{}'", FORGED.replace('\'', ""));
        setup.model.enqueue(
            Script::default()
                .think(FORGED)
                .say_in(FORGED, 9)
                .call(&[todo("call_a", FORGED), bash("call_b", &print)]),
        );
        setup.model.enqueue(Script::error(400, "invalid_request_error", FORGED));
        let mut events = setup.server.say(&session, FORGED).await;
        let (all, ending) = events.rest().await;
        assert_eq!(ending, Ending::Complete);
        assert_plain(&events.raw());
        assert_eq!(
            assert_complete(&all),
            TurnEnd::Failed("provider_refused".to_owned()),
            "{dialect:?}"
        );
        assert_eq!(text_of(&all), format!("{FORGED}{FORGED}"), "the text arrives unchanged");
        assert_eq!(output(&all, "call_a")["todos"][0]["content"], FORGED);
        assert!(
            output(&all, "call_b")["stdout"]
                .as_str()
                .is_some_and(|text| text.contains("data: [DONE]"))
        );
        // The same for a merged replay.
        let turn = turn_of(&events);
        let replay = setup
            .server
            .get(&format!("/chat/tasks/{turn}/stream"))
            .send()
            .await
            .expect("an answer");
        let mut replay = crate::events::EventStream::of(replay);
        assert_eq!(text_of(&replay.rest().await.0), text_of(&all));
        assert_plain(&replay.raw());
        let rows = setup.messages(&session).await;
        assert_eq!((&rows[0]["content"], &rows[1]["content"]), (&json!(FORGED), &json!(FORGED)));
    }
}

#[tokio::test]
async fn an_api_key_echoed_by_a_provider_is_not_passed_on() {
    for dialect in dialects() {
        let setup = ScriptedServer::with(dialect, &[("RUST_LOG", "debug")]).await;
        let session = setup.server.session().await;
        let host = setup.model.anthropic_url();
        let complaint = format!("Your key {API_KEY} is not welcome at {host}.");
        let mut shown = String::new();
        for script in [
            Script::error(401, "authentication_error", &complaint),
            Script::error(400, "invalid_request_error", &complaint),
            Script::default().then_error("invalid_request_error", &complaint),
        ] {
            setup.model.enqueue(script);
            let mut events = setup.server.say(&session, "let me in").await;
            events.rest().await;
            shown.push_str(&events.raw());
        }
        let sent = &setup.model.requests()[0].headers;
        let header = if dialect == Dialect::OpenAi { "authorization" } else { "x-api-key" };
        assert!(
            sent[header].to_str().is_ok_and(|value| value.ends_with(API_KEY)),
            "the provider received the key"
        );
        shown.push_str(&json!(setup.messages(&session).await).to_string());
        shown.push_str(&String::from_utf8_lossy(&setup.server.stored()));
        assert!(shown.contains("is not welcome"), "the provider's message is shown");
        assert!(!shown.contains(API_KEY), "the key is in a stream, the history or the store");
        assert!(!shown.contains(host.trim_start_matches("http://")), "the address is shown");
        assert!(!setup.server.log().contains(API_KEY), "the key is in the log");
    }
}

#[tokio::test]
async fn deleting_a_session_ends_its_streams_and_its_turn() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::default().say_in("Secret", 1).hang());
    let mut sender = setup.server.say(&session, "work").await;
    let turn = turn_of(&sender);
    sender.until("text-delta").await;
    let reader =
        setup.server.get(&format!("/chat/tasks/{turn}/stream")).send().await.expect("an answer");
    let mut reader = crate::events::EventStream::of(reader);
    let deleted = setup
        .server
        .client
        .delete(setup.server.api(&format!("/chat/sessions/{session}")))
        .send()
        .await;
    assert_eq!(deleted.expect("an answer").status(), 204);
    for events in [&mut sender, &mut reader] {
        let (rest, ending) = events.rest().await;
        let aborted = rest.last().is_some_and(|got| got.chunk["type"] == "abort");
        assert!(ending == Ending::Broken || (ending == Ending::Complete && aborted), "{ending:?}");
    }
    let requests = setup.model.wait_until_idle().await;
    assert_eq!(requests[0].ending, testkit::model_server::ResponseEnd::ClientLeft);
    for path in [
        format!("/chat/sessions/{session}"),
        format!("/chat/tasks/{turn}"),
        format!("/chat/tasks/{turn}/stream"),
    ] {
        assert_eq!(
            setup.server.get(&path).send().await.expect("an answer").status(),
            404,
            "{path}"
        );
    }
    let resumed = setup
        .server
        .get(&format!("/chat/sessions/{session}/stream"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(resumed.status(), 204);
}
