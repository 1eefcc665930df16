//! One round: every measurement once on one server; the recovery has its own server.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::timeout;

use crate::agents::Amounts;
use crate::load::{self, Load};
use crate::measure::{percentile, rss_bytes};
use crate::metric::{Metric, Replay, When, Whose};
use crate::recovery;
use crate::replay;
use crate::report::Samples;
use crate::server::{Kind, Parts, Server, Setting};
use crate::subscribers;

/// Time limit of every part of a round.
const PART: Duration = Duration::from_secs(120);

/// The amounts of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    /// Concurrent turns.
    pub(crate) turns: Vec<usize>,
    pub(crate) time: Duration,
    pub(crate) subscribers: usize,
    pub(crate) replays: usize,
    /// How many times an executor is killed in total.
    pub(crate) recoveries: usize,
    pub(crate) agents: Amounts,
}

pub(crate) async fn run(
    kind: Kind,
    parts: &Parts,
    plan: &Plan,
    samples: &mut Samples,
) -> Result<()> {
    // Memory is measured on a new process: memory that a load leaves in the allocator would be reused by the subscribers.
    let server = Server::start(kind, parts, Setting::AsShipped).await?;
    resident(&server, When::AfterStart, samples)?;
    server.stop().await?;

    let server = Server::start(kind, parts, Setting::ForLoad).await?;
    let part = timeout(PART, idle(&server, plan, samples)).await;
    judged(part, &server, "subscribers")?;
    server.stop().await?;

    let server = Server::start(kind, parts, Setting::ForLoad).await?;
    let mut best: f64 = 0.0;
    for turns in &plan.turns {
        let part = timeout(PART, throughput(&server, *turns, plan, samples)).await;
        best = best.max(judged(part, &server, "throughput")?);
    }
    samples.add(Metric::BestThroughput, kind, best);
    let part = timeout(PART, replays(&server, plan, samples)).await;
    judged(part, &server, "replay")?;
    resident(&server, When::AfterLoads, samples)?;
    server.stop().await
}

/// Kills the process that runs the turns. Only the distributed engine has another one to take over.
pub(crate) async fn recovery(parts: &Parts, samples: &mut Samples) -> Result<()> {
    let kind = Kind::Distributed;
    let mut server = Server::start(kind, parts, Setting::ForLoad).await?;
    let part = timeout(PART, recovery::run(&mut server)).await;
    let mut waits = judged(part, &server, "recovery")?;
    samples.add(Metric::RecoveryP50, kind, percentile(&mut waits, 0.5).as_secs_f64());
    samples.add(Metric::RecoveryP95, kind, percentile(&mut waits, 0.95).as_secs_f64());
    server.stop().await
}

/// Adds the server's log to the error of a failed part.
fn judged<T>(
    part: Result<Result<T>, tokio::time::error::Elapsed>,
    server: &Server<'_>,
    name: &str,
) -> Result<T> {
    part.context("it takes too long")
        .and_then(|done| done)
        .with_context(|| format!("{name} of {:?}. {}", server.kind, server.log()))
}

fn resident(server: &Server<'_>, when: When, samples: &mut Samples) -> Result<()> {
    let mut add = |whose, pid| {
        samples.add(Metric::Memory(when, whose), server.kind, rss_bytes(pid)? / 1e6);
        anyhow::Ok(())
    };
    add(Whose::Front, server.front.pid)?;
    server.executors.iter().try_for_each(|executor| add(Whose::Executor, executor.pid))
}

async fn idle(server: &Server<'_>, plan: &Plan, samples: &mut Samples) -> Result<()> {
    let idle = subscribers::measured(server, plan.subscribers).await?;
    samples.add(Metric::SubscriberMemory, server.kind, idle.bytes_each / 1e3);
    if let Some(count) = idle.redis_connections {
        samples.add(Metric::RedisConnections, server.kind, count as f64);
    }
    Ok(())
}

/// Returns the deltas per second.
async fn throughput(
    server: &Server<'_>,
    turns: usize,
    plan: &Plan,
    samples: &mut Samples,
) -> Result<f64> {
    let mut load: Load = load::run(server, turns, plan.time).await?;
    let wall = load.wall.as_secs_f64();
    let rate = load.deltas as f64 / wall;
    let millions = load.deltas as f64 / 1e6;
    samples.generator = samples.generator.max(load.generator_cpu / wall);
    let mut add = |metric, value| samples.add(metric, server.kind, value);
    add(Metric::Throughput(turns), rate);
    add(Metric::CpuPerMillion(turns), load.server_cpu / millions);
    let ms = |times: &mut [Duration], share| percentile(times, share).as_secs_f64() * 1e3;
    add(Metric::FirstByteP50(turns), ms(&mut load.first_bytes, 0.5));
    add(Metric::FirstByteP99(turns), ms(&mut load.first_bytes, 0.99));
    add(Metric::FirstDeltaP50(turns), ms(&mut load.first_deltas, 0.5));
    add(Metric::FirstDeltaP99(turns), ms(&mut load.first_deltas, 0.99));
    Ok(rate)
}

async fn replays(server: &Server<'_>, plan: &Plan, samples: &mut Samples) -> Result<()> {
    let Some(turn) = replay::finished(server).await? else { return Ok(()) };
    for how in [Replay::Whole, Replay::FromCursor] {
        let read = replay::read(server, &turn, how, plan.replays).await?;
        samples.add(Metric::ReplayTime(how), server.kind, read.time.as_secs_f64() * 1e3);
        samples.add(Metric::ReplayBytes(how), server.kind, read.bytes as f64 / 1e3);
    }
    Ok(())
}
