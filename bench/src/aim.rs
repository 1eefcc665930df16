//! The performance targets of both engines.

use crate::metric::{Metric, When, Whose};
use crate::server::Kind;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Aim {
    AtMost(f64),
    AtLeast(f64),
    /// Relative to the limit server.
    RatioAtLeast(f64),
    RatioAtMost(f64),
    /// At most this much above the embedded engine.
    AboveEmbedded(f64),
}

/// The measured values that a target can refer to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct References {
    pub(crate) limit: Option<f64>,
    pub(crate) embedded: Option<f64>,
}

/// The default lease of a turn plus two seconds to notice its expiry, in seconds.
const TAKEN_OVER: f64 = 15.0 + 2.0;

impl Aim {
    pub(crate) fn of(kind: Kind, metric: Metric) -> Option<Self> {
        match (kind, metric) {
            (_, Metric::Agents(metric)) => metric.aim(kind),
            (Kind::Embedded, metric) => Self::of_embedded(metric),
            (Kind::Distributed, metric) => Self::of_distributed(metric),
            (Kind::Limit | Kind::Node, _) => None,
        }
    }

    fn of_embedded(metric: Metric) -> Option<Self> {
        match metric {
            Metric::Throughput(_) => Some(Self::RatioAtLeast(1.0 / 3.0)),
            Metric::CpuPerMillion(_) => Some(Self::AtMost(3.0)),
            Metric::ReplayTime(_) => Some(Self::RatioAtMost(2.0)),
            Metric::SubscriberMemory => Some(Self::AtMost(23.0)),
            Metric::Memory(When::AfterStart, Whose::Front) => Some(Self::AtMost(15.0)),
            _ => None,
        }
    }

    fn of_distributed(metric: Metric) -> Option<Self> {
        match metric {
            Metric::BestThroughput => Some(Self::AtLeast(100_000.0)),
            Metric::CpuPerMillion(_) => Some(Self::AtMost(12.0)),
            Metric::FirstByteP50(_) => Some(Self::AboveEmbedded(3.0)),
            Metric::RedisConnections => Some(Self::AtMost(8.0)),
            Metric::RecoveryP95 => Some(Self::AtMost(TAKEN_OVER)),
            _ => None,
        }
    }

    pub(crate) fn title(self) -> String {
        match self {
            Self::AtMost(value) => format!("≤ {value}"),
            Self::AtLeast(value) => format!("≥ {value}"),
            Self::RatioAtLeast(ratio) => format!("≥ {ratio:.2}× limit"),
            Self::RatioAtMost(ratio) => format!("≤ {ratio:.0}× limit"),
            Self::AboveEmbedded(more) => format!("≤ embedded + {more}"),
        }
    }

    /// Whether the target is met, if the values it refers to were measured.
    pub(crate) fn is_met(self, value: f64, references: References) -> Option<bool> {
        Some(match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
            Self::RatioAtLeast(ratio) => value / references.limit? >= ratio,
            Self::RatioAtMost(ratio) => value / references.limit? <= ratio,
            Self::AboveEmbedded(more) => value <= references.embedded? + more,
        })
    }
}
