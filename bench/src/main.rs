//! The benchmark: our server with both engines, the limit server and Node, driven by one load generator in one run.
//! Progress goes to standard error, the tables to standard output.
#![expect(clippy::disallowed_macros, reason = "the result of this program is its output")]

mod agents;
mod aim;
mod command;
mod events;
mod family;
mod http;
mod limit;
mod load;
mod machine;
mod measure;
mod metric;
mod node;
mod process;
mod recovery;
mod replay;
mod report;
mod round;
mod server;
mod services;
mod sockets;
mod subscribers;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand, ValueEnum};

use crate::agents::Amounts;
use crate::report::Samples;
use crate::round::Plan;
use crate::server::{Kind, Parts};
use crate::services::Services;

/// Measures Pilothouse, a server that stores nothing, and Node
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    role: Option<Role>,
    /// The server to measure (default: build it in release mode first)
    #[arg(long)]
    server: Option<PathBuf>,
    /// A short run that only checks that everything works
    #[arg(long)]
    quick: bool,
    /// Skip Node
    #[arg(long)]
    without_node: bool,
    /// Measure only the distributed engine
    #[arg(long, conflicts_with = "embedded_only")]
    distributed_only: bool,
    /// Skip the distributed engine, which needs Postgres, Redis and RabbitMQ on this machine
    #[arg(long)]
    embedded_only: bool,
    /// Measure only turns or only agent executions
    #[arg(long)]
    only: Option<Subject>,
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    rounds: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Subject {
    Turns,
    Agents,
}

#[derive(Subcommand)]
enum Role {
    /// Serves the limit; started by the benchmark itself.
    #[command(hide = true)]
    Limit { port: u16 },
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    match arguments.role {
        // As many threads as our server has.
        Some(Role::Limit { port }) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(limit::serve(port)),
        // One thread: the generator must leave the other cores to the server.
        None => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(measure_all(arguments)),
    }
}

impl Arguments {
    /// In the order in which a round measures them.
    fn kinds(&self) -> Vec<Kind> {
        let is_wanted = |kind: &Kind| match kind {
            Kind::Embedded => !self.distributed_only,
            Kind::Distributed => !self.embedded_only,
            // Comparison servers for turns; they have no agents.
            Kind::Limit => !self.distributed_only && self.measures(Subject::Turns),
            Kind::Node => {
                !self.distributed_only && !self.without_node && self.measures(Subject::Turns)
            }
        };
        let all = [Kind::Limit, Kind::Embedded, Kind::Distributed, Kind::Node];
        all.into_iter().filter(is_wanted).collect()
    }

    fn measures(&self, subject: Subject) -> bool {
        self.only.is_none_or(|only| only == subject)
    }
}

async fn measure_all(arguments: Arguments) -> Result<()> {
    let plan = plan(&arguments);
    machine::allow_connections(plan.subscribers)?;
    let kinds = arguments.kinds();
    let mut parts = Parts {
        ours: match &arguments.server {
            Some(path) => path.canonicalize().context("there is no server at that path")?,
            None => build()?,
        },
        node: None,
        services: None,
    };
    if kinds.contains(&Kind::Node) {
        parts.node = node().await;
    }
    if kinds.contains(&Kind::Distributed) {
        let started = Services::start();
        parts.services = Some(started.context("`--embedded-only` does without these servers")?);
    }
    let mut samples = Samples::default();
    for number in 1..=plan.rounds {
        for kind in &kinds {
            if *kind == Kind::Node && parts.node.is_none() {
                continue;
            }
            eprintln!("round {number} of {}: {kind:?}", plan.rounds);
            if arguments.measures(Subject::Turns) {
                match round::run(*kind, &parts, &plan, &mut samples).await {
                    // A failed comparison is reported and only leaves gaps in its own column.
                    Err(error) if *kind == Kind::Node => eprintln!("Node: {error:#}"),
                    outcome => outcome?,
                }
            }
            if arguments.measures(Subject::Agents) && kind.has_agents() {
                eprintln!("round {number} of {}: agents of {kind:?}", plan.rounds);
                agents::round(*kind, &parts, &plan.agents, &mut samples).await?;
            }
        }
    }
    if parts.services.is_some() && arguments.measures(Subject::Turns) {
        for number in 1..=plan.recoveries {
            eprintln!("recovery {number} of {}", plan.recoveries);
            round::recovery(&parts, &mut samples).await?;
        }
    }
    println!("{}\n", machine::description(&plan));
    samples.tables().iter().for_each(|table| println!("{table}"));
    println!("The load generator used at most {:.0} % of one core.", samples.generator * 100.0);
    Ok(())
}

fn plan(arguments: &Arguments) -> Plan {
    if arguments.quick {
        let time = Duration::from_millis(300);
        let turns = vec![1, 16];
        let agents =
            Amounts { items: 200, nodes: 50, runs: 5, nodes_each: 10, square: 20, repeats: 2 };
        let subscribers = 200;
        return Plan { rounds: 1, turns, time, subscribers, replays: 3, recoveries: 1, agents };
    }
    Plan {
        rounds: arguments.rounds.into(),
        turns: vec![1, 16, 128],
        time: Duration::from_secs(4),
        subscribers: 10_000,
        replays: 21,
        recoveries: 3,
        agents: Amounts {
            items: 10_000,
            nodes: 1_000,
            runs: 100,
            nodes_each: 100,
            square: 1_000,
            repeats: 4,
        },
    }
}

/// The release build of our server, which Cargo places beside this program.
fn build() -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--package", "pilothouse"]);
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    ensure!(cargo.status().context("there is no cargo")?.success(), "the server does not build");
    let here = std::env::current_exe()?;
    let release = here.parent().and_then(|profile| profile.parent()).context("no target folder")?;
    Ok(release.join("release").join("pilothouse"))
}

/// Node is only a comparison: without it the rest is still measured.
async fn node() -> Option<PathBuf> {
    node::ready().await.inspect_err(|error| eprintln!("Node is left out: {error:#}")).ok()
}
