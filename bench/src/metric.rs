//! What is measured, and what we aim at.

/// In the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Metric {
    /// By the number of turns at the same time.
    Throughput(usize),
    CpuPerMillion(usize),
    FirstByteP50(usize),
    FirstByteP99(usize),
    FirstDeltaP50(usize),
    FirstDeltaP99(usize),
    ReplayTime(Replay),
    ReplayBytes(Replay),
    SubscriberMemory,
    IdleMemory,
}

/// Two ways to read a finished turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Replay {
    /// From the start, as a page that was reloaded does; runs of deltas may come merged.
    Whole,
    /// After a cursor, event by event.
    FromCursor,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Aim {
    AtMost(f64),
    /// Of what the limit reaches.
    RatioAtLeast(f64),
    RatioAtMost(f64),
}

impl Metric {
    pub(crate) fn title(self) -> String {
        let turns = |n: usize| format!("{n} turn{}", if n == 1 { "" } else { "s" });
        match self {
            Self::Throughput(n) => format!("deltas/s, {}", turns(n)),
            Self::CpuPerMillion(n) => format!("CPU s per million deltas, {}", turns(n)),
            Self::FirstByteP50(n) => format!("first byte p50, ms, {}", turns(n)),
            Self::FirstByteP99(n) => format!("first byte p99, ms, {}", turns(n)),
            Self::FirstDeltaP50(n) => format!("first delta p50, ms, {}", turns(n)),
            Self::FirstDeltaP99(n) => format!("first delta p99, ms, {}", turns(n)),
            Self::ReplayTime(how) => format!("replay of a long turn, ms, {}", how.title()),
            Self::ReplayBytes(how) => format!("replay of a long turn, kB, {}", how.title()),
            Self::SubscriberMemory => "kB per idle subscriber".into(),
            Self::IdleMemory => "RSS right after start, MB".into(),
        }
    }

    pub(crate) fn decimals(self) -> usize {
        match self {
            Self::Throughput(_) => 0,
            Self::ReplayBytes(_) | Self::SubscriberMemory | Self::IdleMemory => 1,
            _ => 2,
        }
    }

    pub(crate) fn aim(self) -> Option<Aim> {
        match self {
            Self::Throughput(_) => Some(Aim::RatioAtLeast(1.0 / 3.0)),
            Self::CpuPerMillion(_) => Some(Aim::AtMost(3.0)),
            Self::ReplayTime(_) => Some(Aim::RatioAtMost(2.0)),
            Self::SubscriberMemory => Some(Aim::AtMost(23.0)),
            Self::IdleMemory => Some(Aim::AtMost(15.0)),
            _ => None,
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

impl Aim {
    pub(crate) fn title(self) -> String {
        match self {
            Self::AtMost(value) => format!("≤ {value}"),
            Self::RatioAtLeast(ratio) => format!("≥ {ratio:.2}× limit"),
            Self::RatioAtMost(ratio) => format!("≤ {ratio:.0}× limit"),
        }
    }

    /// Whether it is reached, if what it compares with was measured.
    pub(crate) fn is_met(self, ours: f64, limit: Option<f64>) -> Option<bool> {
        Some(match self {
            Self::AtMost(value) => ours <= value,
            Self::RatioAtLeast(ratio) => ours / limit? >= ratio,
            Self::RatioAtMost(ratio) => ours / limit? <= ratio,
        })
    }
}
