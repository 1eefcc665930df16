//! The servers that are measured, each a process of its own on a loopback port.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use crate::http::Connection;

/// A server that has not answered by then does not start.
const START: Duration = Duration::from_secs(20);
/// What the log of a server that failed may add to the message.
const LOG_BYTES: usize = 2000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Ours,
    Limit,
    Node,
}

/// How our server is configured; the other two have nothing to configure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// As it is when nothing is set.
    AsShipped,
    /// Workers for all turns of a run, and no guard against one person with many connections.
    ForLoad,
}

/// Where the programs are.
pub(crate) struct Programs {
    pub(crate) ours: PathBuf,
    /// `None` when there is no Node to run it with.
    pub(crate) node: Option<PathBuf>,
}

impl Programs {
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let node = self.node.is_some().then_some(Kind::Node);
        [Kind::Limit, Kind::Ours].into_iter().chain(node).collect()
    }
}

/// A running server. Dropping it kills the process and removes its data.
pub(crate) struct Server {
    pub(crate) kind: Kind,
    pub(crate) address: SocketAddr,
    pub(crate) pid: u32,
    child: Child,
    folder: TempDir,
}

impl Server {
    pub(crate) async fn start(kind: Kind, programs: &Programs, setting: Setting) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let address = free_address()?;
        let log = File::create(folder.path().join("log"))?;
        let child = command(kind, programs, setting, address, &folder)?
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{kind:?} does not start"))?;
        let pid = child.id().context("the server ended at once")?;
        let mut server = Self { kind, address, pid, child, folder };
        server.ready().await?;
        Ok(server)
    }

    pub(crate) async fn stop(mut self) -> Result<()> {
        self.child.kill().await.context("the server cannot be stopped")
    }

    /// The last words of the server, for the message about a failure.
    pub(crate) fn log(&self) -> String {
        let log = std::fs::read(self.folder.path().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&log[log.len().saturating_sub(LOG_BYTES)..]).into_owned()
    }

    async fn ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + START;
        loop {
            if let Ok(mut connection) = Connection::open(self.address, 4096).await
                && let Ok((200, _)) = connection.ask("POST", "/api/chat/sessions", "{}").await
            {
                return Ok(());
            }
            if self.child.try_wait()?.is_some() || Instant::now() > deadline {
                bail!("{:?} did not come up. It says:\n{}", self.kind, self.log());
            }
            sleep(Duration::from_millis(20)).await;
        }
    }
}

fn command(
    kind: Kind,
    programs: &Programs,
    setting: Setting,
    address: SocketAddr,
    folder: &TempDir,
) -> Result<Command> {
    let port = address.port().to_string();
    let mut command = match kind {
        Kind::Ours => {
            let mut command = Command::new(&programs.ours);
            command.args(["serve", "--port", &port, "--data"]).arg(folder.path().join("data"));
            command.env_clear().env("CHAT_PROVIDER", "offline");
            if setting == Setting::ForLoad {
                command.envs(FOR_LOAD);
            }
            command
        }
        Kind::Limit => {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["limit", &port]);
            command
        }
        Kind::Node => {
            let script = programs.node.as_ref().context("Node is left out")?.join("server.mjs");
            let mut command = Command::new("node");
            command.arg(script).arg(&port).env("NODE_ENV", "production");
            command
        }
    };
    // No configuration file of the folder the benchmark was started in may take part.
    command.current_dir(folder.path());
    Ok(command)
}

const FOR_LOAD: [(&str, &str); 6] = [
    ("NUM_COPILOT_WORKERS", "256"),
    ("MAX_CONNECTIONS", "20000"),
    ("MAX_CONNECTIONS_PER_IP", "20000"),
    ("MAX_STREAMS_PER_USER", "20000"),
    ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "1000"),
    ("MAX_INFLIGHT_COPILOT_TURNS_PER_USER", "1000"),
];

/// An address that was free a moment ago.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
