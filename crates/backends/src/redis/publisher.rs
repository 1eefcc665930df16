//! Tells Redis what the store has committed: all that waits in one pipeline, one pipeline after the other, so that the
//! news of a task stay in order. What cannot be told is dropped; the next news of the task then find a gap.

use std::sync::Arc;

use redis::{Pipeline, Value};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::backlog::{Backlog, Batch, count_dropped};
use super::link::Link;
use super::refill::Refills;
use super::script::{Outcome, Publish, Voice};
use super::server::PATIENCE;
use super::{hints, keys, news};

pub(super) struct Publisher {
    pub(super) backlog: Arc<Backlog>,
    pub(super) link: Arc<Link>,
    pub(super) script: Arc<Publish>,
    pub(super) refills: Arc<Refills>,
    /// Marks what this process says, so that it does not listen to itself.
    pub(super) origin: String,
    pub(super) mood: Mood,
}

/// What the server said last, so that a change of it is logged once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mood {
    #[default]
    Takes,
    Refuses,
}

impl Publisher {
    pub(super) async fn run(mut self, end: CancellationToken) {
        loop {
            tokio::select! {
                () = self.backlog.arrived() => self.send_all().await,
                () = end.cancelled() => break,
            }
        }
        // The last words of turns that have just ended.
        let _ = timeout(PATIENCE, self.send_all()).await;
    }

    async fn send_all(&mut self) {
        while let Some(batch) = self.backlog.take() {
            self.send(batch).await;
        }
    }

    async fn send(&mut self, batch: Batch) {
        let pipeline = self.pipeline(&batch);
        let Ok(mut answers) = self.link.ask(&pipeline, PATIENCE).await else {
            return count_dropped(batch.len());
        };
        if answers.iter().any(|answer| Outcome::of(answer) == Outcome::Forgotten) {
            // Somebody flushed the scripts. Adding the same segment a second time changes nothing.
            let mut again = Pipeline::new();
            again.add_command(self.script.load());
            pipeline.cmd_iter().for_each(|command| {
                again.add_command(command.clone());
            });
            match self.link.ask(&again, PATIENCE).await {
                Ok(all) => answers = all.into_iter().skip(1).collect(),
                Err(_) => return count_dropped(batch.len()),
            }
        }
        self.look_at(&batch, &answers);
    }

    fn look_at(&mut self, batch: &Batch, answers: &[Value]) {
        let mut refusal = None;
        for (entry, answer) in batch.entries.iter().zip(answers) {
            match Outcome::of(answer) {
                Outcome::StandsAt(last) if last >= entry.segment.last => {}
                Outcome::StandsAt(last) => self.refills.start(&entry.task, entry.fence, last),
                Outcome::Fenced => {
                    tracing::debug!(task.id = %entry.task, "news of a writer that was superseded");
                }
                Outcome::Forgotten => count_dropped(1),
                Outcome::Refused(code) => {
                    count_dropped(1);
                    refusal = Some(code);
                }
            }
        }
        self.note(refusal);
    }

    /// A server that is out of memory, or only a replica, refuses for a long time.
    fn note(&mut self, refusal: Option<String>) {
        match (self.mood, refusal) {
            (Mood::Takes, Some(code)) => {
                tracing::warn!(code, "Redis takes no news; readers go to the store");
                self.mood = Mood::Refuses;
            }
            (Mood::Refuses, None) => {
                tracing::info!("Redis takes news again");
                self.mood = Mood::Takes;
            }
            _ => {}
        }
    }

    fn pipeline(&self, batch: &Batch) -> Pipeline {
        let mut pipeline = Pipeline::with_capacity(batch.len());
        for entry in &batch.entries {
            pipeline.add_command(self.script.command(entry, Voice::Aloud));
        }
        for task in &batch.gone {
            pipeline.cmd("DEL").arg(keys::stream(task)).arg(keys::meta(task));
            pipeline.cmd("PUBLISH").arg(keys::news(task)).arg(&news::gone()[..]);
        }
        for job in &batch.ended {
            pipeline.cmd("PUBLISH").arg(keys::ENDED).arg(hints::word(&self.origin, job));
        }
        for run in &batch.moved {
            pipeline.cmd("PUBLISH").arg(keys::MOVED).arg(hints::word(&self.origin, run));
        }
        pipeline
    }
}
