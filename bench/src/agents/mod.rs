//! Agent executions: node throughput, duration of large graphs, many concurrent executions, and the memory of an execution
//! with very many items.

mod graphs;
pub(crate) mod metric;
mod runs;

use std::time::{Duration, Instant};

use anyhow::Result;
use futures::stream::{FuturesUnordered, TryStreamExt};

use self::graphs::Agent;
use self::metric::{AgentMetric, Shape};
use self::runs::{Client, Ran};
use crate::measure::{cpu_seconds, peak_bytes};
use crate::metric::{Metric, When};
use crate::report::Samples;
use crate::server::{Kind, Parts, Server, Setting};

/// The amounts of all measurements.
#[derive(Clone, Debug)]
pub(crate) struct Amounts {
    /// Items that one execution steps through, with one node execution each.
    pub(crate) items: usize,
    /// Nodes of a large graph.
    pub(crate) nodes: usize,
    /// Concurrent executions, and the nodes of each.
    pub(crate) runs: usize,
    pub(crate) nodes_each: usize,
    /// The side of the nested loops of an execution with very many items.
    pub(crate) square: usize,
    /// Repetitions of short measurements; the fastest counts, the first warms the server up.
    pub(crate) repeats: usize,
}

/// Measures everything once, on new servers.
pub(crate) async fn round(
    kind: Kind,
    parts: &Parts,
    amounts: &Amounts,
    samples: &mut Samples,
) -> Result<()> {
    let server = Server::start(kind, parts, Setting::ForLoad).await?;
    let told = Told { server: &server, amounts, samples };
    told.speed().await.map_err(|error| error.context(server.log()))?;
    server.stop().await?;
    let server = Server::start(kind, parts, Setting::ForLoad).await?;
    let told = Told { server: &server, amounts, samples };
    told.memory().await.map_err(|error| error.context(server.log()))?;
    server.stop().await
}

/// One server and its samples.
struct Told<'a> {
    server: &'a Server<'a>,
    amounts: &'a Amounts,
    samples: &'a mut Samples,
}

impl Told<'_> {
    async fn speed(mut self) -> Result<()> {
        let items = self.amounts.items;
        let stepping = self.best(&Agent::stepping(items)).await?;
        let per_node = |seconds: f64| seconds * 1e6 / stepping.ran.nodes as f64;
        self.add(AgentMetric::NodeRate, stepping.ran.nodes as f64 / stepping.wall.as_secs_f64());
        self.add(AgentMetric::NodeTime, per_node(stepping.ran.seconds));
        self.add(AgentMetric::NodeCpu, per_node(stepping.cpu));
        for (shape, agent) in [
            (Shape::Chain, Agent::chain(self.amounts.nodes)),
            (Shape::Wide, Agent::wide(self.amounts.nodes)),
        ] {
            let run = self.best(&agent).await?;
            self.add(
                AgentMetric::LargeGraph(shape, self.amounts.nodes),
                run.wall.as_secs_f64() * 1e3,
            );
        }
        let crowd = self.crowd().await?;
        let runs = self.amounts.runs;
        let nodes = (runs * self.amounts.nodes_each) as f64;
        self.add(AgentMetric::CrowdRate(runs), nodes / crowd.as_secs_f64());
        self.add(AgentMetric::CrowdTime(runs), crowd.as_secs_f64() * 1e3);
        Ok(())
    }

    /// Peak memory of the process that runs the nodes: before any execution, and after one whose items would not fit in that
    /// memory at once.
    async fn memory(mut self) -> Result<()> {
        let side = self.amounts.square;
        let agent = Agent::stepping_twice(side);
        let mut client = Client::connect(self.server).await?;
        let graph = client.create(&agent).await?;
        self.peak(When::AfterStart)?;
        let timed = self.timed(&mut client, &graph, &agent).await?;
        self.peak(When::AfterLoads)?;
        let rate = timed.ran.nodes as f64 / timed.wall.as_secs_f64();
        self.add(AgentMetric::ManyItemsRate(side * side), rate);
        Ok(())
    }

    /// The fastest of several sequential executions.
    async fn best(&mut self, agent: &Agent) -> Result<Timed> {
        let mut client = Client::connect(self.server).await?;
        let graph = client.create(agent).await?;
        let mut best: Option<Timed> = None;
        for _ in 0..self.amounts.repeats {
            let run = self.timed(&mut client, &graph, agent).await?;
            if best.as_ref().is_none_or(|best| run.wall < best.wall) {
                best = Some(run);
            }
        }
        best.ok_or_else(|| anyhow::anyhow!("the number of repetitions is 0"))
    }

    async fn timed(&mut self, client: &mut Client, graph: &str, agent: &Agent) -> Result<Timed> {
        let own = std::process::id();
        let (cpu, generator) = (self.server.cpu_seconds()?, cpu_seconds(own)?);
        let start = Instant::now();
        let id = client.start(graph).await?;
        let ran = client.ended(graph, &id, agent).await?;
        let wall = start.elapsed();
        let generator = (cpu_seconds(own)? - generator) / wall.as_secs_f64();
        self.samples.generator = self.samples.generator.max(generator);
        Ok(Timed { ran, wall, cpu: self.server.cpu_seconds()? - cpu })
    }

    /// From the first start to the last end.
    async fn crowd(&mut self) -> Result<Duration> {
        let agent = Agent::chain(self.amounts.nodes_each);
        let graph = Client::connect(self.server).await?.create(&agent).await?;
        let mut clients = Vec::with_capacity(self.amounts.runs);
        for _ in 0..self.amounts.runs {
            clients.push(Client::connect(self.server).await?);
        }
        let (graph, agent) = (&graph, &agent);
        let start = Instant::now();
        let runs: FuturesUnordered<_> = clients
            .iter_mut()
            .map(|client| async move {
                let id = client.start(graph).await?;
                client.waited_for(graph, &id, agent).await
            })
            .collect();
        runs.try_collect::<Vec<Ran>>().await?;
        Ok(start.elapsed())
    }

    fn add(&mut self, metric: AgentMetric, value: f64) {
        self.samples.add(Metric::Agents(metric), self.server.kind, value);
    }

    fn peak(&mut self, when: When) -> Result<()> {
        let process = self.server.executors.first().unwrap_or(&self.server.front);
        self.add(AgentMetric::Peak(when), peak_bytes(process.pid)? / 1e6);
        Ok(())
    }
}

/// An execution and its duration as seen by the client.
struct Timed {
    ran: Ran,
    wall: Duration,
    cpu: f64,
}
