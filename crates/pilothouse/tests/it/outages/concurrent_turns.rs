//! Many turns at the same time, each followed by its own client.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::outage_cluster::OutageCluster;
use super::turn_client::{ClientHandle, ClientProgress, ReceivedTurn, SentMessage, TurnClient};
use super::turn_guarantees;
use crate::server::{TEST_TIMEOUT, eventually};

pub(crate) struct ConcurrentTurns {
    clients: JoinSet<(SentMessage, ReceivedTurn)>,
    handles: Vec<ClientHandle>,
}

impl ConcurrentTurns {
    pub(crate) fn empty() -> Self {
        Self { clients: JoinSet::new(), handles: Vec::new() }
    }

    /// Sends this many messages, each in a session of its own, to the two API processes alternately.
    pub(crate) async fn ask(setup: &OutageCluster, count: usize, words: usize) -> Self {
        let mut turns = Self::empty();
        for number in 0..count {
            let api = setup.api(number % 2);
            turns.add(setup, number % 2, question(&api.session().await, number, words));
        }
        turns
    }

    /// Adds one message.
    pub(crate) fn add(&mut self, setup: &OutageCluster, api: usize, question: SentMessage) {
        let (client, handle) = TurnClient::new(setup.api(api), question.clone());
        self.handles.push(handle);
        self.clients.spawn(async move { (question, client.run().await) });
    }

    /// Waits until every stream that has not ended receives another event. Returns the longest time one of them took.
    pub(crate) async fn all_continue(&mut self, within: Duration) -> Duration {
        let began = Instant::now();
        let mut longest = Duration::ZERO;
        let now: Vec<ClientProgress> =
            self.handles.iter().map(|one| *one.progress.borrow()).collect();
        for (one, before) in self.handles.iter_mut().zip(now) {
            if before == ClientProgress::Over {
                continue;
            }
            let left = within.saturating_sub(began.elapsed());
            let moved = one.progress.wait_for(|now| *now != before);
            let moved = tokio::time::timeout(left, moved).await;
            moved
                .unwrap_or_else(|_| panic!("a stream that was at {before:?} does not go on"))
                .expect("its client runs");
            longest = longest.max(began.elapsed());
        }
        longest
    }

    /// Waits until every turn has started to respond.
    pub(crate) async fn all_begin(&mut self) {
        for one in &mut self.handles {
            let begun = |now: &ClientProgress| {
                *now == ClientProgress::Over || matches!(now, ClientProgress::At(4..))
            };
            let begun = tokio::time::timeout(TEST_TIMEOUT, one.progress.wait_for(begun)).await;
            begun.expect("it starts in time").expect("its client runs");
        }
    }

    /// The turns of the messages accepted so far.
    pub(crate) fn accepted_turns(&self) -> Vec<String> {
        self.handles.iter().filter_map(|one| one.turn.get().cloned()).collect()
    }

    /// Waits until every message was accepted.
    pub(crate) async fn all_accepted(&mut self) {
        let count = self.handles.len();
        eventually("every turn", async || (self.accepted_turns().len() == count).then_some(()))
            .await;
    }

    /// Waits for all turns.
    pub(crate) async fn wait(self) -> Vec<(SentMessage, ReceivedTurn)> {
        self.clients.join_all().await
    }

    /// Waits for all turns and checks their guarantees.
    pub(crate) async fn finish(self, setup: &OutageCluster) -> Vec<ReceivedTurn> {
        let all = self.wait().await;
        for (question, seen) in &all {
            turn_guarantees::assert_kept(setup, question, seen).await;
        }
        setup.model.assert_no_violations();
        all.into_iter().map(|(_, seen)| seen).collect()
    }
}

pub(crate) fn question(session: &str, number: usize, words: usize) -> SentMessage {
    SentMessage {
        session: session.to_owned(),
        message: format!("message-{number:03}"),
        text: format!("question {number:03} words={words} please"),
    }
}
