//! `ReadRSSFeedBlock`: the entries of a news feed, once or again and again as they come.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use ports::Clock;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::super::typed::{self, Typed, TypedBlock};
use super::super::{Parts, failures};
use super::feed::{self, Entry};
use crate::egress::{self, FetchLimits};
use crate::tools::page_text;

const LIMITS: FetchLimits = FetchLimits {
    bytes: 4 * 1024 * 1024,
    total: Duration::from_secs(60),
    idle: Duration::from_secs(30),
    accepts: |_| true,
};
/// The longest pause between two looks.
const LONGEST_PAUSE: u64 = 24 * 3600;
/// Looks in a row that may fail before the run does. A feed that is away for a moment comes back.
const FAILED_LOOKS: u32 = 5;
/// Entries that a run remembers to have given.
const REMEMBERED: usize = 10_000;

pub(super) struct ReadRssFeed {
    spec: BlockSpec,
    egress: egress::EgressClient,
    clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// The address of the feed.
    rss_url: String,
    /// How old an entry may be when the run starts, in minutes.
    #[serde(default = "a_day")]
    time_period: u32,
    /// Seconds between two looks at the feed.
    #[serde(default = "five_minutes")]
    polling_rate: u64,
    /// Go on looking until the run is stopped. Otherwise look once.
    #[serde(default = "yes")]
    run_continuously: bool,
}

fn a_day() -> u32 {
    1440
}

fn five_minutes() -> u64 {
    300
}

fn yes() -> bool {
    true
}

impl ReadRssFeed {
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "5ebe6768-8e5d-41e3-9134-1c7bd89a8d52",
            name: "ReadRSSFeedBlock",
            description: "Reads a news feed (RSS or Atom) and gives its recent entries, each of them once; on demand \
                it goes on looking for new ones.",
            categories: &[BlockCategory::Input],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::object(
                    "entry",
                    "One entry after the other: title, link, description, date and more.",
                ),
                typed::list("entries", "All new entries of one look."),
            ]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: true,
        };
        Typed(Self { spec, egress: parts.egress.clone(), clock: parts.clock.clone() })
    }

    async fn look(&self, url: &str) -> Result<Vec<Entry>, BlockError> {
        let answer = self.egress.get(url, LIMITS).await.map_err(failures::network)?;
        if !(200..300).contains(&answer.status) {
            return Err(BlockError::failed(format!(
                "The feed's server answered {}.",
                answer.status
            )));
        }
        let text = page_text::decode(&answer.body, &answer.content_type);
        feed::read(&text).ok_or_else(|| BlockError::failed("There is no feed at this address."))
    }
}

#[async_trait]
impl TypedBlock for ReadRssFeed {
    type Input = Given;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        given: Given,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let age = SignedDuration::from_mins(i64::from(given.time_period));
        let mut news = News::since(self.clock.now().checked_sub(age).unwrap_or(Timestamp::MIN));
        let pause = Duration::from_secs(given.polling_rate.clamp(1, LONGEST_PAUSE));
        let mut failed = 0;
        loop {
            match failures::unless_stopped(&context, self.look(&given.rss_url)).await? {
                Ok(entries) => {
                    failed = 0;
                    news.give(entries, out).await?;
                }
                Err(error) if !given.run_continuously => return Err(error),
                Err(error) => {
                    failed += 1;
                    if failed == FAILED_LOOKS {
                        return Err(error);
                    }
                }
            }
            if !given.run_continuously {
                return Ok(());
            }
            failures::unless_stopped(&context, tokio::time::sleep(pause)).await?;
        }
    }

    fn examples(&self) -> Vec<BlockExample> {
        // There is no feed that every installation reaches.
        Vec::new()
    }
}

/// What is new: young enough, and not given before.
struct News {
    since: Timestamp,
    given: HashSet<(String, String)>,
}

impl News {
    fn since(since: Timestamp) -> Self {
        Self { since, given: HashSet::new() }
    }

    async fn give(&mut self, entries: Vec<Entry>, out: &dyn OutputSink) -> Result<(), BlockError> {
        if self.given.len() > REMEMBERED {
            self.given.clear();
        }
        let new: Vec<Value> = entries
            .into_iter()
            .filter(|entry| entry.published.is_none_or(|at| at > self.since))
            .filter(|entry| self.given.insert((entry.link.clone(), entry.title.clone())))
            .map(|entry| entry.shown())
            .collect();
        for entry in &new {
            out.emit("entry", entry.clone()).await?;
        }
        if !new.is_empty() {
            out.emit("entries", Value::Array(new)).await?;
        }
        Ok(())
    }
}
