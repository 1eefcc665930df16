//! One round: everything that is measured, once, on one server.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::timeout;

use crate::load::{self, Load};
use crate::measure::{percentile, rss_bytes};
use crate::metric::{Metric, Replay};
use crate::replay;
use crate::report::Samples;
use crate::server::{Kind, Programs, Server, Setting};
use crate::subscribers;

/// No part of a round may take longer on any server.
const PART: Duration = Duration::from_secs(120);

/// How much is measured.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    /// Turns at the same time.
    pub(crate) turns: Vec<usize>,
    pub(crate) time: Duration,
    pub(crate) subscribers: usize,
    pub(crate) replays: usize,
}

pub(crate) async fn run(
    kind: Kind,
    programs: &Programs,
    plan: &Plan,
    samples: &mut Samples,
) -> Result<()> {
    // Memory is measured on a process that has done nothing yet: what a run leaves behind in the
    // allocator would be taken for free space by the subscribers.
    let server = Server::start(kind, programs, Setting::AsShipped).await?;
    samples.add(Metric::IdleMemory, kind, rss_bytes(server.pid)? / 1e6);
    server.stop().await?;

    let server = Server::start(kind, programs, Setting::ForLoad).await?;
    let part = timeout(PART, memory(&server, plan, samples)).await;
    judged(part, &server, "memory")?;
    server.stop().await?;

    let server = Server::start(kind, programs, Setting::ForLoad).await?;
    for turns in &plan.turns {
        let part = timeout(PART, throughput(&server, *turns, plan, samples)).await;
        judged(part, &server, "throughput")?;
    }
    let part = timeout(PART, replays(&server, plan, samples)).await;
    judged(part, &server, "replay")?;
    server.stop().await
}

/// A part that failed, with what the server said about it.
fn judged(
    part: Result<Result<()>, tokio::time::error::Elapsed>,
    server: &Server,
    name: &str,
) -> Result<()> {
    part.context("it takes too long")
        .and_then(|done| done)
        .with_context(|| format!("{name} of {:?}; its log:\n{}", server.kind, server.log()))
}

async fn memory(server: &Server, plan: &Plan, samples: &mut Samples) -> Result<()> {
    let bytes = subscribers::memory(server, plan.subscribers).await?;
    samples.add(Metric::SubscriberMemory, server.kind, bytes / 1e3);
    Ok(())
}

async fn throughput(
    server: &Server,
    turns: usize,
    plan: &Plan,
    samples: &mut Samples,
) -> Result<()> {
    let mut load: Load = load::run(server, turns, plan.time).await?;
    let wall = load.wall.as_secs_f64();
    let millions = load.deltas as f64 / 1e6;
    samples.generator = samples.generator.max(load.generator_cpu / wall);
    let mut add = |metric, value| samples.add(metric, server.kind, value);
    add(Metric::Throughput(turns), load.deltas as f64 / wall);
    add(Metric::CpuPerMillion(turns), load.server_cpu / millions);
    let ms = |times: &mut [Duration], share| percentile(times, share).as_secs_f64() * 1e3;
    add(Metric::FirstByteP50(turns), ms(&mut load.first_bytes, 0.5));
    add(Metric::FirstByteP99(turns), ms(&mut load.first_bytes, 0.99));
    add(Metric::FirstDeltaP50(turns), ms(&mut load.first_deltas, 0.5));
    add(Metric::FirstDeltaP99(turns), ms(&mut load.first_deltas, 0.99));
    Ok(())
}

async fn replays(server: &Server, plan: &Plan, samples: &mut Samples) -> Result<()> {
    let Some(turn) = replay::finished(server).await? else { return Ok(()) };
    for how in [Replay::Whole, Replay::FromCursor] {
        let read = replay::read(server, &turn, how, plan.replays).await?;
        samples.add(Metric::ReplayTime(how), server.kind, read.time.as_secs_f64() * 1e3);
        samples.add(Metric::ReplayBytes(how), server.kind, read.bytes as f64 / 1e3);
    }
    Ok(())
}
