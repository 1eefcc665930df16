//! Providers that fail: what is retried, what is shown, and what is stored.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::model_server::{ConnectionCut, Dialect, ModelServer, Script};
use tokio::net::{TcpListener, TcpStream};

use super::{ENGINE, ScriptedServer, dialects};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{Ending, ReceivedEvent, kinds, text_of};
use crate::scripts::settings_for;
use crate::server::TestServer;

fn failed(code: &str) -> TurnEnd {
    TurnEnd::Failed(code.to_owned())
}

fn statuses(events: &[ReceivedEvent]) -> usize {
    kinds(events).iter().filter(|kind| **kind == "data-status").count()
}

/// The row that reports the error to the user.
fn notice(rows: &[Value]) -> &Value {
    let last = rows.last().expect("rows");
    assert_eq!(
        (&last["role"], &last["metadata"]["kind"]),
        (&json!("system"), &json!("error")),
        "{last}"
    );
    last
}

#[tokio::test]
async fn a_failure_before_anything_was_shown_is_retried() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let table = [
            ("429", Script::rate_limited("1")),
            ("500", Script::server_error()),
            ("529", Script::overloaded()),
            ("reset", Script::default().cut(ConnectionCut::Reset)),
            ("closed", Script::default().cut(ConnectionCut::Close)),
            ("no answer in a whole body", Script::default().cut(ConnectionCut::EndOfBody)),
            (
                "an error as the first event",
                Script::default().then_error("overloaded_error", "Overloaded"),
            ),
        ];
        let turns = table.into_iter().map(async |(what, script)| {
            // One at a time: scripts are played in the order of the requests.
            let session = setup.server.session().await;
            setup.model.enqueue(script);
            setup.model.enqueue(Script::text("Here I am."));
            let (events, end) = setup.turn(&session, what).await;
            assert_eq!(
                (end, statuses(&events)),
                (TurnEnd::Finished("stop".to_owned()), 1),
                "{dialect:?} {what}"
            );
            assert_eq!(text_of(&events), "Here I am.", "{what}");
            assert_eq!(setup.messages(&session).await.len(), 2, "{what}: no trace in the history");
        });
        for turn in turns {
            turn.await;
        }
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn the_retry_delay_of_a_provider_is_respected() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::rate_limited("3"));
    setup.model.enqueue(Script::text("Here I am."));
    let (events, _) = setup.turn(&session, "slowly").await;
    let requests = setup.model.requests();
    assert!(requests[1].at - requests[0].at >= Duration::from_secs(3));
    assert!(
        crate::events::first(&events, "data-status")["data"]["message"]
            .as_str()
            .is_some_and(|words| words.contains("3 s"))
    );
}

#[tokio::test]
async fn a_provider_that_stays_away_fails_the_turn_with_a_retryable_error() {
    // A port without a listener, and a server that always responds with 500.
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    setup.model.respond_with(|_| Script::server_error());
    let free = free_address();
    let url = format!("http://{free}/v1");
    let alone = TestServer::with(ENGINE, &settings_for(Dialect::OpenAi, &url));
    let both = async |server: &TestServer| {
        let session = server.session().await;
        let events = server.say(&session, "anybody?").await.all().await;
        assert_eq!(
            (assert_complete(&events), statuses(&events)),
            (failed("transient_api_error"), 3)
        );
        let rows = server.read_session(&session).await["messages"].clone();
        let notice = notice(rows.as_array().expect("a list")).clone();
        assert_eq!(
            (&notice["metadata"]["code"], &notice["metadata"]["retryable"]),
            (&json!("transient_api_error"), &json!(true))
        );
        assert!(!format!("{events:?}").contains(&free.to_string()), "addresses are not shown");
    };
    tokio::join!(both(&setup.server), both(&alone));
    assert_eq!(setup.model.requests().len(), 4);
}

/// An address without a listener. On a loopback address of its own, because other tests use free ports of the usual
/// one.
fn free_address() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.77:0").expect("a port on loopback");
    listener.local_addr().expect("an address")
}

#[tokio::test]
async fn a_provider_that_comes_back_is_retried() {
    for dialect in dialects() {
        let model = ModelServer::start().await;
        let real = model.anthropic_url().trim_start_matches("http://").to_owned();
        let address = free_address();
        let url = model.url(dialect).replace(&real, &address.to_string());
        let server = TestServer::with(ENGINE, &settings_for(dialect, &url));
        model.enqueue(Script::text("Back again."));
        let session = server.session().await;
        let mut events = server.say(&session, "anybody?").await;
        events.until("data-status").await;
        let listener = TcpListener::bind(address).await.expect("the port is still free");
        let passing_on = async {
            let (mut ours, _) = listener.accept().await.expect("it tries again");
            let mut theirs = TcpStream::connect(&real).await.expect("the model is there");
            let _ = tokio::io::copy_bidirectional(&mut ours, &mut theirs).await;
            std::future::pending::<()>().await;
        };
        let (rest, ending) = tokio::select! {
            () = passing_on => unreachable!("it never ends"),
            rest = events.rest() => rest,
        };
        assert_eq!((ending, text_of(&rest)), (Ending::Complete, "Back again.".to_owned()));
    }
}

#[tokio::test]
async fn a_cut_after_text_was_shown_keeps_the_text_and_reports_the_error() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        for cut in [ConnectionCut::Reset, ConnectionCut::Close, ConnectionCut::EndOfBody] {
            let session = setup.server.session().await;
            let before = setup.model.requests().len();
            setup.model.enqueue(
                Script::default()
                    .think("hm")
                    .say("The answer is for")
                    .delay(Duration::from_millis(50))
                    .cut(cut),
            );
            let (events, end) = setup.turn(&session, "cut").await;
            assert_eq!(end, failed("transient_api_error"), "{dialect:?} {cut:?}");
            assert_eq!(text_of(&events), "hmThe answer is for");
            assert_eq!(
                setup.model.requests().len(),
                before + 1,
                "text that was shown is not repeated"
            );
            let rows = setup.messages(&session).await;
            assert_eq!((rows.len(), &rows[1]["content"]), (3, &json!("The answer is for")));
            assert_eq!(rows[1]["metadata"]["partial"], true);
            assert_eq!(notice(&rows)["metadata"]["code"], "transient_api_error");
            setup.model.enqueue(Script::text("Forty-two."));
            let (events, _) = setup.turn(&session, "go on").await;
            assert_eq!(text_of(&events), "Forty-two.");
        }
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn a_refusal_is_not_repeated_and_has_its_own_code() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        for (script, code) in [
            (Script::unauthorized(), "provider_auth"),
            (Script::error(403, "permission_error", "No."), "provider_auth"),
            (Script::context_too_long(), "context_too_long"),
            (Script::error(400, "invalid_request_error", "No such thing."), "provider_refused"),
            (Script::error(404, "not_found_error", "No such model."), "provider_refused"),
            (Script::status(200, "text/html", "<html>a portal</html>"), "provider_protocol"),
            (Script::status(302, "text/plain", "elsewhere"), "provider_protocol"),
            (Script::default().truncated_json(), "provider_protocol"),
            (Script::default().raw("data: \u{1}\u{2} garbage {]\n\n"), "provider_protocol"),
            (
                Script::status(
                    200,
                    "text/event-stream",
                    &b"\xff\xfe\x00garbage without an end"[..],
                ),
                "provider_protocol",
            ),
            (Script::empty(), "empty_completion"),
            (Script::text("   \n"), "empty_completion"),
        ] {
            let session = setup.server.session().await;
            let before = setup.model.requests().len();
            setup.model.enqueue(script.clone());
            let (_, end) = setup.turn(&session, "please").await;
            assert_eq!(end, failed(code), "{dialect:?} {script:?}");
            assert_eq!(setup.model.requests().len(), before + 1, "{code}: one request");
            let rows = setup.messages(&session).await;
            assert_eq!(notice(&rows)["metadata"]["code"], code);
            setup.model.enqueue(Script::text("Fine."));
            let (events, _) = setup.turn(&session, "again").await;
            assert_eq!(text_of(&events), "Fine.", "the session works after {code}");
        }
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn a_large_delta_is_accepted_and_an_excessive_one_is_refused() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        setup.model.enqueue(Script::default().huge_delta(2 << 20));
        let (events, end) = setup.turn(&session, "much").await;
        assert_eq!((end, text_of(&events).len()), (TurnEnd::Finished("stop".to_owned()), 2 << 20));
        let other = setup.server.session().await;
        setup.model.enqueue(Script::default().huge_delta(50 << 20));
        let (events, end) = setup.turn(&other, "too much").await;
        assert_eq!((end, text_of(&events).len()), (failed("provider_protocol"), 0), "{dialect:?}");
        setup.model.enqueue(Script::text("Fine."));
        assert_eq!(setup.turn(&other, "again").await.1, TurnEnd::Finished("stop".to_owned()));
    }
}

#[tokio::test]
async fn a_provider_that_hangs_times_out() {
    for dialect in dialects() {
        let impatient = [
            ("CHAT_CONNECT_TIMEOUT_SECONDS", "0.5"),
            ("CHAT_FIRST_BYTE_TIMEOUT_SECONDS", "0.5"),
            ("CHAT_IDLE_TIMEOUT_SECONDS", "0.5"),
        ];
        let setup = ScriptedServer::with(dialect, &impatient).await;
        let session = setup.server.session().await;
        setup.model.enqueue(Script::hang_before_headers());
        setup.model.enqueue(Script::default().hang());
        setup.model.enqueue(Script::text("Third time lucky."));
        let (events, end) = setup.turn(&session, "hang").await;
        assert_eq!(
            (end, statuses(&events)),
            (TurnEnd::Finished("stop".to_owned()), 2),
            "{dialect:?}"
        );
        assert_eq!(text_of(&events), "Third time lucky.");
        setup.model.enqueue(Script::default().say("I was about to").hang());
        let (events, end) = setup.turn(&session, "hang later").await;
        assert_eq!((end, text_of(&events)), (failed("idle_timeout"), "I was about to".to_owned()));
        // No connection to the provider is left open.
        setup.model.wait_until_idle().await;
        setup.model.assert_no_violations();
    }
}
