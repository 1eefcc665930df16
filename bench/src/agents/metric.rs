//! The metrics of agent executions, and their targets.

use crate::aim::Aim;
use crate::metric::When;
use crate::server::Kind;

/// In the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AgentMetric {
    /// Of one execution that steps through many items.
    NodeRate,
    /// Time per node execution, as reported by that execution.
    NodeTime,
    NodeCpu,
    /// From the request to the end, by the number of nodes.
    LargeGraph(Shape, usize),
    /// Of all concurrent executions, by their number.
    CrowdRate(usize),
    CrowdTime(usize),
    /// Of an execution with very many items.
    ManyItemsRate(usize),
    /// Peak memory of the process that runs the nodes, before and after such an execution.
    Peak(When),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    Chain,
    Wide,
}

impl AgentMetric {
    pub(crate) fn title(self) -> String {
        match self {
            Self::NodeRate => "node runs/s, one run".into(),
            Self::NodeTime => "µs per node run".into(),
            Self::NodeCpu => "CPU µs per node run".into(),
            Self::LargeGraph(shape, nodes) => format!("{nodes} nodes {}, ms", shape.title()),
            Self::CrowdRate(runs) => format!("node runs/s, {runs} runs at once"),
            Self::CrowdTime(runs) => format!("{runs} runs at once, ms"),
            Self::ManyItemsRate(items) => format!("node runs/s, a run with {items} items"),
            Self::Peak(When::AfterStart) => "peak memory before that run, MB".into(),
            Self::Peak(When::AfterLoads) => "peak memory after that run, MB".into(),
        }
    }

    pub(crate) fn decimals(self) -> usize {
        match self {
            Self::NodeTime | Self::NodeCpu | Self::Peak(_) => 1,
            _ => 0,
        }
    }

    pub(crate) fn aim(self, kind: Kind) -> Option<Aim> {
        match (self, kind) {
            (Self::NodeRate, Kind::Embedded) => Some(Aim::AtLeast(20_000.0)),
            (Self::NodeRate, Kind::Distributed) => Some(Aim::AtLeast(5_000.0)),
            _ => None,
        }
    }
}

impl Shape {
    fn title(self) -> &'static str {
        match self {
            Self::Chain => "in a chain",
            Self::Wide => "behind one",
        }
    }
}
