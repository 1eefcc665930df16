//! The metrics of turns, their titles and formats.

use crate::agents::metric::AgentMetric;

/// In the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Metric {
    /// By the number of concurrent turns.
    Throughput(usize),
    /// At the number of turns with the highest value.
    BestThroughput,
    CpuPerMillion(usize),
    FirstByteP50(usize),
    FirstByteP99(usize),
    FirstDeltaP50(usize),
    FirstDeltaP99(usize),
    ReplayTime(Replay),
    ReplayBytes(Replay),
    SubscriberMemory,
    /// Of the process with the most.
    RedisConnections,
    Memory(When, Whose),
    RecoveryP50,
    RecoveryP95,
    /// In a separate table.
    Agents(AgentMetric),
}

/// Two ways to read a finished turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Replay {
    /// From the start, like a reloaded page; deltas may be merged.
    Whole,
    /// After a cursor, event by event.
    FromCursor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum When {
    AfterStart,
    AfterLoads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whose {
    /// Of the process that serves clients.
    Front,
    Executor,
}

impl Metric {
    pub(crate) fn title(self) -> String {
        let turns = |n: usize| format!("{n} turn{}", if n == 1 { "" } else { "s" });
        match self {
            Self::Throughput(n) => format!("deltas/s, {}", turns(n)),
            Self::BestThroughput => "deltas/s, the best of these".into(),
            Self::CpuPerMillion(n) => format!("CPU s per million deltas, {}", turns(n)),
            Self::FirstByteP50(n) => format!("first byte p50, ms, {}", turns(n)),
            Self::FirstByteP99(n) => format!("first byte p99, ms, {}", turns(n)),
            Self::FirstDeltaP50(n) => format!("first delta p50, ms, {}", turns(n)),
            Self::FirstDeltaP99(n) => format!("first delta p99, ms, {}", turns(n)),
            Self::ReplayTime(how) => format!("replay of a long turn, ms, {}", how.title()),
            Self::ReplayBytes(how) => format!("replay of a long turn, kB, {}", how.title()),
            Self::SubscriberMemory => "kB per idle subscriber".into(),
            Self::RedisConnections => "Redis connections per process, with all subscribers".into(),
            Self::Memory(when, whose) => format!("RSS {}, MB{}", when.title(), whose.title()),
            Self::RecoveryP50 => "next delta after a kill p50, s".into(),
            Self::RecoveryP95 => "next delta after a kill p95, s".into(),
            Self::Agents(metric) => metric.title(),
        }
    }

    pub(crate) fn decimals(self) -> usize {
        match self {
            Self::Throughput(_) | Self::BestThroughput | Self::RedisConnections => 0,
            Self::Agents(metric) => metric.decimals(),
            Self::ReplayBytes(_) | Self::SubscriberMemory | Self::Memory(..) => 1,
            _ => 2,
        }
    }
}

impl Replay {
    fn title(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::FromCursor => "from a cursor",
        }
    }
}

impl When {
    fn title(self) -> &'static str {
        match self {
            Self::AfterStart => "right after start",
            Self::AfterLoads => "after all loads",
        }
    }
}

impl Whose {
    fn title(self) -> &'static str {
        match self {
            Self::Front => "",
            Self::Executor => ", executor",
        }
    }
}
