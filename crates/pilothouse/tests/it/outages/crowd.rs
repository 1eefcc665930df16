//! Many turns at the same time, each followed by its own client.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::listener::{Listener, Progress, Question, Seen, Watched};
use super::stage::Stage;
use super::verdict;
use crate::distributed::guarantees::eventually;
use crate::server::PATIENCE;

pub(super) struct Crowd {
    listening: JoinSet<(Question, Seen)>,
    listeners: Vec<Watched>,
}

impl Crowd {
    pub(super) fn empty() -> Self {
        Self { listening: JoinSet::new(), listeners: Vec::new() }
    }

    /// Sends this many messages, each in a session of its own, to the two API processes alternately.
    pub(super) async fn ask(stage: &Stage, count: usize, words: usize) -> Self {
        let mut crowd = Self::empty();
        for number in 0..count {
            let api = stage.api(number % 2);
            crowd.add(stage, number % 2, question(&api.session().await, number, words));
        }
        crowd
    }

    /// Adds one message.
    pub(super) fn add(&mut self, stage: &Stage, api: usize, question: Question) {
        let (listener, watched) = Listener::new(stage.api(api), question.clone());
        self.listeners.push(watched);
        self.listening.spawn(async move { (question, listener.run().await) });
    }

    /// Waits until every stream that has not ended receives another event. Returns the longest time one of them took.
    pub(super) async fn all_go_on(&mut self, within: Duration) -> Duration {
        let began = Instant::now();
        let mut longest = Duration::ZERO;
        let now: Vec<Progress> = self.listeners.iter().map(|one| *one.progress.borrow()).collect();
        for (one, before) in self.listeners.iter_mut().zip(now) {
            if before == Progress::Over {
                continue;
            }
            let left = within.saturating_sub(began.elapsed());
            let moved = one.progress.wait_for(|now| *now != before);
            let moved = tokio::time::timeout(left, moved).await;
            moved
                .unwrap_or_else(|_| panic!("a stream that was at {before:?} does not go on"))
                .expect("its listener is well");
            longest = longest.max(began.elapsed());
        }
        longest
    }

    /// Waits until every turn has started to respond.
    pub(super) async fn all_begin(&mut self) {
        for one in &mut self.listeners {
            let begun = |now: &Progress| *now == Progress::Over || matches!(now, Progress::At(4..));
            let begun = tokio::time::timeout(PATIENCE, one.progress.wait_for(begun)).await;
            begun.expect("it begins in time").expect("its listener is well");
        }
    }

    /// The turns of the messages accepted so far.
    pub(super) fn turns(&self) -> Vec<String> {
        self.listeners.iter().filter_map(|one| one.turn.get().cloned()).collect()
    }

    /// Waits until every message was accepted.
    pub(super) async fn all_accepted(&mut self) {
        let count = self.listeners.len();
        eventually("every turn", async || (self.turns().len() == count).then_some(())).await;
    }

    /// Waits for all turns.
    pub(super) async fn wait(self) -> Vec<(Question, Seen)> {
        self.listening.join_all().await
    }

    /// Waits for all turns and checks their guarantees.
    pub(super) async fn finish(self, stage: &Stage) -> Vec<Seen> {
        let all = self.wait().await;
        for (question, seen) in &all {
            verdict::assert_kept(stage, question, seen).await;
        }
        stage.model.assert_no_violations();
        all.into_iter().map(|(_, seen)| seen).collect()
    }
}

pub(super) fn question(session: &str, number: usize, words: usize) -> Question {
    Question {
        session: session.to_owned(),
        message: format!("message-{number:03}"),
        text: format!("question {number:03} words={words} please"),
    }
}
