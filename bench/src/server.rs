//! The measured servers, each in separate processes on loopback ports.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;

use anyhow::{Context, Result};
use tempfile::TempDir;
use testkit::services::TestInstallation;
use tokio::process::Command;

use crate::family;
use crate::http::Connection;
use crate::process::Process;
use crate::services::Services;
use crate::sockets::connections_to;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Ours, in one process.
    Embedded,
    /// Ours, one process for clients and others for turns, with Postgres, Redis and RabbitMQ.
    Distributed,
    Limit,
    Node,
}

impl Kind {
    pub(crate) fn has_agents(self) -> bool {
        matches!(self, Self::Embedded | Self::Distributed)
    }
}

/// The configuration of our server; the other two have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// The defaults.
    AsShipped,
    /// Workers for all turns and executions at once, and no limits per user and address.
    ForLoad,
}

/// The programs of the servers.
pub(crate) struct Parts {
    pub(crate) ours: PathBuf,
    /// The folder of the Node server; `None` without Node.
    pub(crate) node: Option<PathBuf>,
    /// `None` when the distributed engine is skipped.
    pub(crate) services: Option<Services>,
}

/// A running server. Dropping it kills its processes and removes its data.
pub(crate) struct Server<'a> {
    pub(crate) kind: Kind,
    pub(crate) address: SocketAddr,
    /// The process that serves clients.
    pub(crate) front: Process,
    /// The processes that run turns of the distributed engine.
    pub(crate) executors: Vec<Process>,
    parts: &'a Parts,
    setting: Setting,
    // Dropped after the processes, which use it.
    installation: Option<TestInstallation>,
    folder: TempDir,
}

impl<'a> Server<'a> {
    pub(crate) async fn start(kind: Kind, parts: &'a Parts, setting: Setting) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let address = free_address()?;
        let installation = match kind {
            Kind::Distributed => Some(services(parts)?.installation()?),
            _ => None,
        };
        let port = address.port().to_string();
        let command = match kind {
            Kind::Embedded => ours(parts, setting, &folder, None, &["serve", "--port", &port]),
            Kind::Distributed => {
                let arguments = ["serve", "--role", "api", "--port", &port];
                ours(parts, setting, &folder, installation.as_ref(), &arguments)
            }
            Kind::Limit => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["limit", &port]);
                command
            }
            Kind::Node => {
                let script = parts.node.as_ref().context("Node is left out")?.join("server.mjs");
                let mut command = Command::new("node");
                command.arg(script).arg(&port).env("NODE_ENV", "production");
                command
            }
        };
        let front = Process::start(&format!("{kind:?}"), command, folder.path())?;
        let executors = Vec::new();
        let mut server =
            Self { kind, address, front, executors, parts, setting, installation, folder };
        server.front.ready(async |_| takes_sessions(address).await).await?;
        if kind == Kind::Distributed {
            server.add_executor().await?;
        }
        Ok(server)
    }

    /// Starts another process that runs turns.
    pub(crate) async fn add_executor(&mut self) -> Result<()> {
        let name = format!("executor-{}", self.executors.len() + 1);
        let arguments = ["serve", "--role", "executor"];
        let installation = self.installation.as_ref();
        let mut command = ours(self.parts, self.setting, &self.folder, installation, &arguments);
        command.env("COPILOT_EXECUTOR_PORT", "0");
        let mut executor = Process::start(&name, command, self.folder.path())?;
        executor.ready(async |executor| executor.has_said("URL")).await?;
        self.executors.push(executor);
        Ok(())
    }

    pub(crate) async fn stop(mut self) -> Result<()> {
        for process in self.executors.iter_mut().chain([&mut self.front]) {
            process.kill().await?;
        }
        Ok(())
    }

    /// CPU time of all server processes, including the servers used by the distributed engine.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        let own = self.executors.iter().chain([&self.front]).map(|process| process.pid);
        let below = match self.kind {
            Kind::Distributed => services(self.parts)?.pids().to_vec(),
            _ => Vec::new(),
        };
        family::cpu_seconds(&own.chain(below).collect::<Vec<u32>>())
    }

    /// Redis connections of the process with the most.
    pub(crate) fn redis_connections(&self) -> Result<Option<usize>> {
        if self.kind != Kind::Distributed {
            return Ok(None);
        }
        let port = services(self.parts)?.redis_port()?;
        let processes = self.executors.iter().chain([&self.front]);
        let counts: Result<Vec<usize>> =
            processes.map(|process| connections_to(process.pid, port)).collect();
        Ok(counts?.into_iter().max())
    }

    /// The logs of all processes, for an error message.
    pub(crate) fn log(&self) -> String {
        let logs = self.executors.iter().chain([&self.front]).map(Process::last_words);
        logs.collect::<Vec<_>>().join("\n")
    }
}

fn services(parts: &Parts) -> Result<&Services> {
    parts.services.as_ref().context("the distributed engine is left out")
}

fn ours(
    parts: &Parts,
    setting: Setting,
    folder: &TempDir,
    installation: Option<&TestInstallation>,
    arguments: &[&str],
) -> Command {
    let mut command = Command::new(&parts.ours);
    command.args(arguments).arg("--data").arg(folder.path().join("data"));
    command.env_clear().env("CHAT_PROVIDER", "offline");
    command.envs(installation.map(TestInstallation::settings).unwrap_or_default());
    if setting == Setting::ForLoad {
        command.envs(FOR_LOAD);
    }
    command
}

const FOR_LOAD: [(&str, &str); 8] = [
    ("NUM_COPILOT_WORKERS", "256"),
    ("MAX_CONNECTIONS", "20000"),
    ("MAX_CONNECTIONS_PER_IP", "20000"),
    ("MAX_STREAMS_PER_USER", "20000"),
    ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "1000"),
    ("MAX_INFLIGHT_COPILOT_TURNS_PER_USER", "1000"),
    ("EXECUTION_SLOTS", "256"),
    ("EXECUTIONS_PER_USER", "1000"),
];

async fn takes_sessions(address: SocketAddr) -> bool {
    let Ok(mut connection) = Connection::open(address, 4096).await else { return false };
    matches!(connection.ask("POST", "/api/chat/sessions", "{}").await, Ok((200, _)))
}

/// A free address.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
