//! An accepted message is never lost: the server is killed while messages are sent to it.

use std::time::{Duration, Instant};

use futures::future::join_all;
use testkit::scale::scaled;

use super::ENGINE;
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{text_of, turn_of};
use crate::history::{history, rows};
use crate::server::TestServer;
use crate::turn_requests::{send, send_and_follow, status_of};

/// Times `TEST_SCALE`.
const KILLS: usize = 10;
/// The longest time between sending and killing; more on a slower machine.
const LATEST: Duration = Duration::from_millis(60);
const SENT_AT_ONCE: usize = 4;
const TEXT: &str = "/stream count=3 size=4";

#[tokio::test(flavor = "multi_thread")]
async fn an_accepted_message_survives_a_kill_and_others_can_be_sent_again() {
    let mut server = TestServer::start(ENGINE);
    let latest = LATEST.max(time_to_accept(&server).await * 3);
    let (mut accepted, mut unanswered) = (0, 0);
    let kills = scaled(KILLS) as u32;
    for kill in 0..kills {
        let mut sessions = Vec::new();
        for _ in 0..SENT_AT_ONCE {
            sessions.push(server.session().await);
        }
        let requests: Vec<_> =
            sessions.iter().map(|session| send(&server, session, "m1", TEXT).send()).collect();
        let killing = async {
            tokio::time::sleep(latest * kill / kills).await;
            server.kill9();
        };
        let (answers, ()) = tokio::join!(join_all(requests), killing);
        server.restart();
        for (session, answer) in sessions.iter().zip(answers) {
            let before = match answer {
                Ok(response) => {
                    assert_eq!(response.status(), 200);
                    accepted += 1;
                    let users = server.read_session(session).await["messages"].clone();
                    assert_eq!(users[0]["content"], TEXT, "an accepted message is in the history");
                    Some(response.headers()["x-turn-id"].to_str().expect("text").to_owned())
                }
                Err(_) => {
                    unanswered += 1;
                    None
                }
            };
            let again = send_and_follow(&server, session, "m1", TEXT).await;
            let turn = turn_of(&again);
            assert!(
                before.is_none_or(|before| before == turn),
                "sending again joins the same turn"
            );
            let events = again.all().await;
            assert_eq!(assert_complete(&events), TurnEnd::Finished("stop".into()));
            assert!(text_of(&events).len() >= 12);
            assert_eq!(status_of(&server, &turn).await, "completed");
            let history = history(&server, session).await;
            assert_eq!(rows(&history, "user").len(), 1, "one message, however often it was sent");
            assert_eq!(rows(&history, "assistant").len(), 1, "answered once");
        }
    }
    assert!(
        accepted > 0 && unanswered > 0,
        "all kills hit the same stage: {accepted} accepted, {unanswered} not"
    );
}

async fn time_to_accept(server: &TestServer) -> Duration {
    let session = server.session().await;
    let started = Instant::now();
    send(server, &session, "m1", TEXT).send().await.expect("an answer");
    started.elapsed()
}
