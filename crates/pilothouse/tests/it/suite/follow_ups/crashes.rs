//! Follow-ups when the server is killed: none is lost, none is delivered twice.

use std::time::Duration;

use testkit::model_server::{Dialect, Gate, RecordedRequest, Script};

use super::scripted::dialects;
use super::{ScriptedServer, drained, push, request_contains, role_and_content, states};
use crate::contract::{TurnEnd, assert_complete, assert_replay};
use crate::events::{EventStream, kinds, turn_of};
use crate::history::history;
use crate::scripts::todo;
use crate::server::eventually;
use crate::turn_requests::{follow_after, status_of};

const DELIVERED: fn(&str) -> (String, String) = |id| (id.to_owned(), "delivered".to_owned());

#[tokio::test]
async fn follow_ups_waiting_at_a_kill_are_delivered_after_the_restart() {
    for dialect in dialects() {
        let mut setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        setup.model.enqueue(Script::default().say_in("Work", 1).hang());
        setup.model.enqueue(Script::text("All of it."));
        let mut events = setup.server.say(&session, "work").await;
        let turn = turn_of(&events);
        let mut seen = events.until_seen("text-delta").await;
        push(&setup.server, &session, "m1", "also this").await;
        push(&setup.server, &session, "m2", "and that").await;
        // The response to the sender is the guarantee, so the test kills the server without waiting.
        setup.server.restart();
        let last = seen.last().expect("events").id;
        seen.extend(follow_after(&setup.server, &turn, last).await.all().await);
        assert_eq!(assert_complete(&seen), TurnEnd::Finished("stop".into()), "{dialect:?}");
        assert_eq!(drained(&seen), [["also this", "and that"]]);
        assert_eq!(
            setup.model.requests()[1].last_user_text(),
            "work\n\nalso this\n\nand that",
            "{dialect:?}"
        );
        let rows = history(&setup.server, &session).await;
        assert_eq!(
            role_and_content(&rows),
            [
                ("user", "work"),
                ("user", "also this"),
                ("user", "and that"),
                ("assistant", "All of it.")
            ]
        );
        assert_eq!(states(&setup.server, &session).await, [DELIVERED("m1"), DELIVERED("m2")]);
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn a_follow_up_delivered_before_a_kill_is_not_delivered_again() {
    for dialect in dialects() {
        let mut setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let gate = Gate::closed();
        setup.model.enqueue(Script::default().wait_for(&gate).call(&[todo("call_a", "x")]));
        setup.model.enqueue(Script::hang_before_headers());
        setup.model.enqueue(Script::text("Done."));
        let mut events = setup.server.say(&session, "work").await;
        let turn = turn_of(&events);
        gate.reached().await;
        push(&setup.server, &session, "m1", "also this").await;
        gate.open();
        let mut seen = events.until_seen("data-pending-drained").await;
        setup.model.wait_for_requests(2).await;
        setup.server.restart();
        let last = seen.last().expect("events").id;
        seen.extend(follow_after(&setup.server, &turn, last).await.all().await);
        assert_eq!(assert_complete(&seen), TurnEnd::Finished("stop".into()), "{dialect:?}");
        assert_eq!(drained(&seen), [["also this"]], "reported once");
        let asked: Vec<usize> = setup.model.requests().iter().map(count_follow_up).collect();
        assert_eq!(asked, [0, 1, 1], "{dialect:?}");
        let rows = history(&setup.server, &session).await;
        let roles: Vec<&str> = role_and_content(&rows).iter().map(|(role, _)| *role).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "user", "assistant"]);
        assert_eq!(states(&setup.server, &session).await, [DELIVERED("m1")]);
        setup.model.assert_no_violations();
    }
}

/// How often one request contains the follow-up.
fn count_follow_up(request: &RecordedRequest) -> usize {
    request.body["messages"].to_string().matches("also this").count()
}

/// The server is killed a little later in each round, so that every part of the delivery is covered.
#[tokio::test]
async fn a_server_killed_around_a_delivery_delivers_once() {
    let mut setup = ScriptedServer::start(Dialect::OpenAi).await;
    for round in 0..10 {
        let session = setup.server.session().await;
        let gate = Gate::closed();
        setup.model.enqueue(Script::default().say("First.").wait_for(&gate));
        setup.model.respond_with(|request| {
            let answered = request_contains(request, "also this");
            Script::default().delay(Duration::from_millis(5)).say(match answered {
                true => "Second.",
                false => "First.",
            })
        });
        let events = setup.server.say(&session, "work").await;
        let turn = turn_of(&events);
        gate.reached().await;
        push(&setup.server, &session, "m1", "also this").await;
        gate.open();
        tokio::time::sleep(Duration::from_millis(2 * round)).await;
        setup.server.restart();
        let ended = async || (status_of(&setup.server, &turn).await == "completed").then_some(());
        eventually("the end of the turn", ended).await;
        let path = format!("/chat/tasks/{turn}/stream");
        let replayed = EventStream::of(setup.server.get(&path).send().await.expect("an answer"));
        let replayed = replayed.all().await;
        assert_eq!(assert_replay(&replayed), TurnEnd::Finished("stop".into()), "round {round}");
        assert!(drained(&replayed).len() <= 1, "{:?}", kinds(&replayed));
        assert_eq!(states(&setup.server, &session).await, [DELIVERED("m1")], "round {round}");
        let rows = history(&setup.server, &session).await;
        let told = role_and_content(&rows);
        assert_eq!(told.iter().filter(|row| **row == ("user", "also this")).count(), 1, "{told:?}");
        assert_eq!(told.last(), Some(&("assistant", "Second.")), "round {round}: {told:?}");
    }
    let twice = setup.model.requests().iter().map(count_follow_up).max();
    assert_eq!(twice, Some(1), "no request contains it twice");
    setup.model.assert_no_violations();
}
