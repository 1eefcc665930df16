//! `ReadRSSFeedBlock`: reads a news feed once, or polls it for new entries.

use std::collections::HashSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use ports::Clock;

use super::feed::{self, FeedEntry};
use crate::blocks::failures;
use crate::blocks::prelude::*;
use crate::egress::{self, FetchLimits};
use crate::page_text;

const LIMITS: FetchLimits = FetchLimits {
    bytes: 4 * 1024 * 1024,
    total: Duration::from_secs(60),
    idle: Duration::from_secs(30),
    accepts: |_| true,
};
/// Limit on the polling interval, in seconds.
const MAX_INTERVAL_SECONDS: u64 = 24 * 3600;
/// Consecutive failed polls before the run fails; feeds may be unavailable for a while.
const MAX_FAILED_POLLS: u32 = 5;
/// How many emitted entries a run remembers.
const MAX_REMEMBERED: usize = 10_000;

#[derive(Deserialize, JsonSchema)]
struct ReadRssFeedInput {
    /// The URL of the feed.
    rss_url: String,
    /// The maximum age of entries when the run starts, in minutes.
    #[serde(default = "a_day")]
    time_period: u32,
    /// Seconds between checks of the feed.
    #[serde(default = "five_minutes")]
    polling_rate: u64,
    /// Keep checking until the run is stopped. Otherwise check once.
    #[serde(default = "yes")]
    run_continuously: bool,
}

fn a_day() -> u32 {
    1440
}

fn five_minutes() -> u64 {
    300
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "5ebe6768-8e5d-41e3-9134-1c7bd89a8d52",
        "ReadRSSFeedBlock",
        "Reads a news feed (RSS or Atom) and outputs each recent entry once. Optionally keeps \
         checking for new entries.",
    )
    .categories(&[BlockCategory::Input])
    .outputs([
        pin::object(
            "entry",
            "Each entry, emitted one at a time: title, link, description, date and more.",
        ),
        pin::list("entries", "All new entries of one check."),
    ])
    .coordinates()
    .outside();
    // No examples: no feed is reachable from every installation.
    vec![block(
        spec,
        Vec::new(),
        ReadRssFeed { egress: dependencies.egress.clone(), clock: dependencies.clock.clone() },
    )]
}

struct ReadRssFeed {
    egress: egress::EgressClient,
    clock: Arc<dyn Clock>,
}

impl ReadRssFeed {
    async fn fetch_entries(&self, url: &str) -> Result<Vec<FeedEntry>, BlockError> {
        let response = self.egress.get(url, LIMITS).await.map_err(failures::network)?;
        if !(200..300).contains(&response.status) {
            return Err(BlockError::failed(format!(
                "The feed's server returned status {}.",
                response.status
            )));
        }
        let text = page_text::decode(&response.body, &response.content_type);
        feed::read(&text)
            .ok_or_else(|| BlockError::failed("No RSS or Atom feed was found at this URL."))
    }
}

#[async_trait]
impl TypedBlock for ReadRssFeed {
    type Input = ReadRssFeedInput;

    async fn run(
        &self,
        input: ReadRssFeedInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let age = SignedDuration::from_mins(i64::from(input.time_period));
        let mut new_entries =
            NewEntries::since(self.clock.now().checked_sub(age).unwrap_or(Timestamp::MIN));
        let interval = Duration::from_secs(input.polling_rate.clamp(1, MAX_INTERVAL_SECONDS));
        let mut failed = 0;
        loop {
            match failures::unless_stopped(&context, self.fetch_entries(&input.rss_url)).await? {
                Ok(entries) => {
                    failed = 0;
                    new_entries.emit(entries, out).await?;
                }
                Err(error) if !input.run_continuously => return Err(error),
                Err(error) => {
                    failed += 1;
                    if failed == MAX_FAILED_POLLS {
                        return Err(error);
                    }
                }
            }
            if !input.run_continuously {
                return Ok(());
            }
            failures::unless_stopped(&context, tokio::time::sleep(interval)).await?;
        }
    }
}

/// Emits entries that are recent enough and were not emitted before.
struct NewEntries {
    since: Timestamp,
    emitted: HashSet<(String, String)>,
}

impl NewEntries {
    fn since(since: Timestamp) -> Self {
        Self { since, emitted: HashSet::new() }
    }

    async fn emit(
        &mut self,
        entries: Vec<FeedEntry>,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        if self.emitted.len() > MAX_REMEMBERED {
            self.emitted.clear();
        }
        let new: Vec<Value> = entries
            .into_iter()
            .filter(|entry| entry.published.is_none_or(|at| at > self.since))
            .filter(|entry| self.emitted.insert((entry.link.clone(), entry.title.clone())))
            .map(|entry| entry.to_json())
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
