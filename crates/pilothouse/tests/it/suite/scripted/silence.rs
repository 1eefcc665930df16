//! Silence: the user gets a status after a while, a silent model is timed out, a running tool is not.

use std::time::Duration;

use testkit::model_server::{Dialect, Gate, Script};

use super::{ScriptedServer, dialects};
use crate::contract::{TurnEnd, assert_complete, assert_replay};
use crate::events::{EventStream, output, text_of, turn_of};
use crate::scripts::bash;

#[tokio::test]
async fn after_ten_seconds_of_silence_a_status_is_sent() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let (thinking, working) = (setup.server.session().await, setup.server.session().await);
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say("Hm").wait_for(&gate).say("!"));
    let mut slow_model = setup.server.say(&thinking, "think").await;
    gate.reached().await;
    setup.model.enqueue(Script::default().call(&[bash("call_a", "sleep 11.5")]));
    setup.model.enqueue(Script::text("Done."));
    let mut slow_tool = setup.server.say(&working, "work").await;
    for events in [&mut slow_model, &mut slow_tool] {
        let status = events.until("data-status").await;
        assert_eq!(status.chunk["data"]["message"], "Still working…");
        assert_eq!(status.chunk["transient"], true);
    }
    gate.open();
    let turn = turn_of(&slow_model);
    slow_model.rest().await;
    slow_tool.rest().await;
    // The status is not replayed to later readers.
    let replay =
        setup.server.get(&format!("/chat/tasks/{turn}/stream")).send().await.expect("an answer");
    let replay = EventStream::of(replay).all().await;
    assert_eq!(
        (assert_replay(&replay), text_of(&replay)),
        (TurnEnd::Finished("stop".to_owned()), "Hm!".to_owned())
    );
    assert!(replay.iter().all(|got| got.chunk["type"] != "data-status"));
}

#[tokio::test]
async fn a_silent_model_times_out_and_a_running_tool_does_not() {
    for dialect in dialects() {
        // The model may be silent for twice as long.
        let setup = ScriptedServer::with(dialect, &[("CHAT_MAX_TOOL_WAIT_SECONDS", "1")]).await;
        let working = setup.server.session().await;
        setup.calls(&[bash("call_a", "sleep 4; echo woke up")]);
        let (events, end) = setup.turn(&working, "work").await;
        assert_eq!(end, TurnEnd::Finished("stop".to_owned()), "{dialect:?}");
        assert_eq!(output(&events, "call_a")["stdout"], "woke up\n");
        for script in [
            Script::default().say("So").hang(),
            Script::default().hang(),
            Script::hang_before_headers(),
        ] {
            let session = setup.server.session().await;
            setup.model.enqueue(script);
            let events = setup.server.say(&session, "hang").await.all().await;
            assert_eq!(
                assert_complete(&events),
                TurnEnd::Failed("idle_timeout".to_owned()),
                "{dialect:?}"
            );
        }
        setup.model.wait_until_idle().await;
    }
}

#[tokio::test]
async fn a_slow_model_does_not_time_out() {
    let setup =
        ScriptedServer::with(Dialect::Anthropic, &[("CHAT_MAX_TOOL_WAIT_SECONDS", "1")]).await;
    let session = setup.server.session().await;
    let mut script = Script::default();
    for word in ["one ", "word ", "at ", "a ", "time"] {
        script = script.say_in(word, 1).delay(Duration::from_millis(900));
    }
    setup.model.enqueue(script);
    let (events, end) = setup.turn(&session, "slowly").await;
    assert_eq!(
        (end, text_of(&events)),
        (TurnEnd::Finished("stop".to_owned()), "one word at a time".to_owned())
    );
}
