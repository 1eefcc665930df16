//! A provider that fails on the first request of every turn, in one of several ways, and answers the second.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use testkit::model_server::{ConnectionCut, Script};

use super::concurrent_turns::ConcurrentTurns;
use super::outage_cluster::{OutageCluster, answer, answer_to, slowly};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{kinds, text_of};

const FAILURES: usize = 5;
const SHORT_TIMEOUTS: [(&str, &str); 2] =
    [("CHAT_CONNECT_TIMEOUT_SECONDS", "1"), ("CHAT_FIRST_BYTE_TIMEOUT_SECONDS", "1")];

/// The response that fails in the given way.
fn failure(way: usize) -> Script {
    match way {
        0 => Script::server_error(),
        1 => Script::hang_before_headers(),
        2 => Script::default().cut(ConnectionCut::Reset),
        3 => Script::overloaded(),
        _ => Script::rate_limited("1"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_fails_before_any_text_is_retried_by_the_same_executor() {
    let setup = OutageCluster::start(&SHORT_TIMEOUTS).await;
    let failed = Mutex::new(HashSet::new());
    setup.model.respond_with(move |request| {
        let question = request.last_user_text();
        let mut failed = failed.lock().expect("no thread panicked with the lock");
        let way = failed.len() % FAILURES;
        match failed.insert(question) {
            true => failure(way),
            false => slowly(&answer_to(request), Duration::from_millis(20)),
        }
    });
    let seen = ConcurrentTurns::ask(&setup, 3 * FAILURES, 10).await.wait().await;
    for (question, seen) in &seen {
        assert_eq!(assert_complete(&seen.events), TurnEnd::Finished("stop".to_owned()));
        assert_eq!(text_of(&seen.events), answer(&question.text));
        assert!(!kinds(&seen.events).contains(&"data-attempt"), "no executor took the turn over");
    }
    assert_eq!(setup.model.requests().len(), 2 * seen.len(), "each was asked twice");
    setup.model.assert_no_violations();
}
