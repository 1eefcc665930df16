//! The samples of all rounds, and their tables: one for turns, one for agent executions.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::aim::{Aim, References};
use crate::measure::Spread;
use crate::metric::Metric;
use crate::server::Kind;

#[derive(Default)]
pub(crate) struct Samples {
    values: BTreeMap<(Metric, Kind), Vec<f64>>,
    /// The largest share of one core that the load generator used.
    pub(crate) generator: f64,
}

impl Samples {
    pub(crate) fn add(&mut self, metric: Metric, kind: Kind, value: f64) {
        self.values.entry((metric, kind)).or_default().push(value);
    }

    fn spread(&self, metric: Metric, kind: Kind) -> Option<Spread> {
        Spread::of(self.values.get(&(metric, kind))?)
    }

    fn metrics(&self) -> Vec<Metric> {
        let mut metrics: Vec<Metric> = self.values.keys().map(|(metric, _)| *metric).collect();
        metrics.dedup();
        metrics
    }

    /// The columns with values.
    pub(crate) fn tables(&self) -> Vec<String> {
        let of_agents = |metric: &Metric| matches!(metric, Metric::Agents(_));
        let (agents, turns): (Vec<_>, Vec<_>) = self.metrics().into_iter().partition(of_agents);
        let mut tables = Vec::new();
        if !turns.is_empty() {
            tables.push(self.turns(&turns));
        }
        if !agents.is_empty() {
            tables.push(self.agents(&agents));
        }
        tables
    }

    /// A Markdown table: the median of the rounds with their range, the targets of both engines, and the ratio of the embedded
    /// engine to the limit server.
    fn turns(&self, metrics: &[Metric]) -> String {
        let mut table = format!("{HEAD}\n{RULE}\n");
        for metric in metrics.iter().copied() {
            let [embedded, distributed, limit, node] =
                [Kind::Embedded, Kind::Distributed, Kind::Limit, Kind::Node]
                    .map(|kind| self.spread(metric, kind));
            let ratio = embedded.zip(limit).map(|(ours, limit)| ours.median / limit.median);
            let references = References {
                limit: limit.map(|limit| limit.median),
                embedded: embedded.map(|embedded| embedded.median),
            };
            writeln!(
                table,
                "| {} | {} | {} | {} | {} | {} | {} | {} |",
                metric.title(),
                cell(metric, embedded),
                ratio.map_or("–".into(), |ratio| format!("{ratio:.2}")),
                judged(Aim::of(Kind::Embedded, metric), embedded, references),
                cell(metric, distributed),
                judged(Aim::of(Kind::Distributed, metric), distributed, references),
                cell(metric, limit),
                cell(metric, node),
            )
            .expect("writing to a string cannot fail");
        }
        table
    }

    /// The same for agent executions, which only our two engines support: the ratio is distributed to embedded.
    fn agents(&self, metrics: &[Metric]) -> String {
        let mut table = format!("{AGENTS_HEAD}\n{AGENTS_RULE}\n");
        for metric in metrics.iter().copied() {
            let [embedded, distributed] =
                [Kind::Embedded, Kind::Distributed].map(|kind| self.spread(metric, kind));
            let ratio = distributed.zip(embedded).map(|(one, other)| one.median / other.median);
            writeln!(
                table,
                "| {} | {} | {} | {} | {} | {} |",
                metric.title(),
                cell(metric, embedded),
                judged(Aim::of(Kind::Embedded, metric), embedded, References::default()),
                cell(metric, distributed),
                judged(Aim::of(Kind::Distributed, metric), distributed, References::default()),
                ratio.map_or("–".into(), |ratio| format!("{ratio:.2}")),
            )
            .expect("writing to a string cannot fail");
        }
        table
    }
}

const HEAD: &str =
    "| | embedded | ÷ limit | aim | distributed | aim | limit | Node `ai` + `resumable-stream` |";
const RULE: &str = "|---|--:|--:|---|--:|---|--:|--:|";
const AGENTS_HEAD: &str = "| agents | embedded | aim | distributed | aim | ÷ embedded |";
const AGENTS_RULE: &str = "|---|--:|---|--:|---|--:|";

/// A target and whether the median meets it. Missing values are not judged.
fn judged(aim: Option<Aim>, spread: Option<Spread>, references: References) -> String {
    let (Some(aim), Some(spread)) = (aim, spread) else { return String::new() };
    let verdict = match aim.is_met(spread.median, references) {
        Some(true) => ": met",
        Some(false) => ": **not met**",
        None => "",
    };
    format!("{}{verdict}", aim.title())
}

fn cell(metric: Metric, spread: Option<Spread>) -> String {
    let Some(Spread { low, median, high }) = spread else {
        return "–".into();
    };
    let digits = metric.decimals();
    let [low, median, high] = [low, median, high].map(|value| grouped(value, digits));
    if low == high { median } else { format!("{median} ({low}–{high})") }
}

/// With thin spaces between thousands.
fn grouped(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::metric::AgentMetric;
    use crate::metric::{When, Whose};

    #[test]
    fn a_target_is_compared_with_the_medians() {
        let mut samples = Samples::default();
        for (kind, values) in
            [(Kind::Embedded, [40_000.0, 30_000.0]), (Kind::Limit, [90_000.0, 90_000.0])]
        {
            for value in values {
                samples.add(Metric::Throughput(16), kind, value);
            }
        }
        samples.add(Metric::FirstByteP50(1), Kind::Embedded, 0.5);
        samples.add(Metric::FirstByteP50(1), Kind::Distributed, 3.6);
        samples.add(Metric::Memory(When::AfterStart, Whose::Front), Kind::Embedded, 15.1);
        samples.add(Metric::Agents(AgentMetric::NodeRate), Kind::Embedded, 20_000.0);
        samples.add(Metric::Agents(AgentMetric::NodeRate), Kind::Distributed, 4_000.0);
        let tables = samples.tables();
        let rows: Vec<&str> = tables.iter().flat_map(|table| table.lines().skip(2)).collect();
        let throughput = "| deltas/s, 16 turns | 35\u{202f}000 (30\u{202f}000–40\u{202f}000) | 0.39 | ≥ 0.33× limit: met | – |  | 90\u{202f}000 | – |";
        let first_byte = "| first byte p50, ms, 1 turn | 0.50 | – |  | 3.60 | ≤ embedded + 3: **not met** | – | – |";
        let memory = "| RSS right after start, MB | 15.1 | – | ≤ 15: **not met** | – |  | – | – |";
        let nodes = "| node runs/s, one run | 20\u{202f}000 | ≥ 20000: met | 4\u{202f}000 | ≥ 5000: **not met** | 0.20 |";
        assert_eq!(rows, [throughput, first_byte, memory, nodes]);
    }
}
