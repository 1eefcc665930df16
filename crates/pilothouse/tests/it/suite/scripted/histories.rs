//! The history that the model gets after a turn was canceled, failed or was interrupted: always one that the strictest
//! provider accepts.

use std::time::Duration;

use testkit::model_server::{ConnectionCut, Script};

use super::{ScriptedServer, dialects};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::EventStream;
use crate::scripts::{bash, todo};
use crate::server::TEST_TIMEOUT;

/// Runs two more turns, one with a tool: they fail if the history is invalid.
async fn assert_history_is_valid(setup: &ScriptedServer, session: &str) {
    let calls: Vec<_> = ["call_x", "call_y"].map(|id| todo(id, "go on")).into();
    setup.calls(&calls);
    assert_eq!(setup.turn(session, "go on").await.1, TurnEnd::Finished("stop".to_owned()));
    setup.model.enqueue(Script::text("Fine."));
    assert_eq!(setup.turn(session, "and once more").await.1, TurnEnd::Finished("stop".to_owned()));
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn the_history_is_valid_after_a_cancel_at_any_point_of_a_step() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let waiting = [
            (Script::hang_before_headers(), "start-step"),
            (Script::default().think("hm").hang(), "reasoning-delta"),
            (Script::default().say_in("Well", 1).hang(), "text-delta"),
            (Script::default().call_in(&[todo("call_a", "one")], 4).hang(), "tool-input-delta"),
            (
                Script::default().call(&[todo("call_b", "one"), bash("call_c", "sleep 100")]),
                "tool-output-available",
            ),
            (
                Script::default().call(&[bash("call_d", "sleep 100"), bash("call_e", "sleep 100")]),
                "tool-input-available",
            ),
        ];
        // All in one session, so that every canceled turn is part of the history of the next.
        let session = setup.server.session().await;
        for (script, point) in waiting {
            setup.model.enqueue(script);
            let mut events = setup.server.say(&session, point).await;
            let mut seen = vec![];
            while seen
                .last()
                .is_none_or(|got: &crate::events::ReceivedEvent| got.chunk["type"] != point)
            {
                seen.push(events.next().await.expect("the stream continues"));
            }
            // The step event precedes the model request. A cancel in between would leave the script to the next turn.
            setup.model.wait_until_scripts_are_taken().await;
            setup.server.cancel(&session).await;
            seen.extend(events.rest().await.0);
            assert_eq!(assert_complete(&seen), TurnEnd::Aborted, "{dialect:?} {point}");
        }
        assert_history_is_valid(&setup, &session).await;
    }
}

#[tokio::test]
async fn the_history_is_valid_after_a_failure_at_any_point_of_a_step() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let pause = Duration::from_millis(30);
        for script in [
            Script::unauthorized(),
            Script::empty(),
            Script::default().think("hm").delay(pause).cut(ConnectionCut::Close),
            Script::default().say("Well").delay(pause).cut(ConnectionCut::Reset),
            Script::default()
                .call(&[todo("call_a", "one")])
                .delay(pause)
                .cut(ConnectionCut::EndOfBody),
            Script::default().say("So").then_error("overloaded_error", "Overloaded"),
        ] {
            setup.model.enqueue(script);
            let (_, end) = setup.turn(&session, "try").await;
            assert!(matches!(end, TurnEnd::Failed(_)), "{dialect:?} {end:?}");
        }
        // A failure after a complete step: its calls have their results.
        setup.model.enqueue(Script::default().call(&[todo("call_a", "one")]));
        setup.model.enqueue(Script::context_too_long());
        assert_eq!(
            setup.turn(&session, "try").await.1,
            TurnEnd::Failed("context_too_long".to_owned())
        );
        assert_history_is_valid(&setup, &session).await;
    }
}

#[tokio::test]
async fn the_history_is_valid_after_a_crash_during_a_command() {
    for dialect in dialects() {
        let mut setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        setup.model.enqueue(
            Script::default()
                .say("Let me see.")
                .call(&[bash("call_a", "touch begun; sleep 100"), todo("call_b", "x")]),
        );
        let mut events = setup.server.say(&session, "work").await;
        let turn = crate::events::turn_of(&events);
        events.until("tool-output-available").await;
        let begun = setup.server.folder().join("data");
        let waiting = async {
            while !find(&begun, "begun") {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(TEST_TIMEOUT, waiting).await.expect("the command begins");
        setup.model.enqueue(Script::text("I do not know whether it happened."));
        setup.server.restart();
        let path = format!("/chat/tasks/{turn}/stream?last_message_id=0");
        let events =
            EventStream::of(setup.server.get(&path).send().await.expect("an answer")).all().await;
        assert_eq!(crate::contract::assert_replay(&events), TurnEnd::Finished("stop".to_owned()));
        let rows = setup.messages(&session).await;
        let outcome = |id: &str| {
            rows.iter().find(|row| row["tool_call_id"] == id).expect("a result")["outcome"].clone()
        };
        assert_eq!((outcome("call_a"), outcome("call_b")), ("interrupted".into(), "ok".into()));
        assert_history_is_valid(&setup, &session).await;
    }
}

/// Whether a file of this name is anywhere below the folder.
fn find(folder: &std::path::Path, name: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        entry.file_name() == name || (entry.path().is_dir() && find(&entry.path(), name))
    })
}
