//! A private Postgres server.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use tempfile::TempDir;

use super::ports::{free_port, loopback};
use super::process::ServerProcess;
use super::program::{find, versions_in};

const PACKAGE: &str = "postgresql";
/// The server refuses to run as root, so root runs it as the user that its package creates.
const USER: &str = "postgres";
const READY_WITHIN: Duration = Duration::from_secs(60);
const STOPPED_WITHIN: Duration = Duration::from_secs(10);

pub struct PostgresServer {
    process: ServerProcess,
    programs: PathBuf,
    folder: TempDir,
    port: u16,
    durability: CommitDurability,
}

/// Whether a commit survives a power failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitDurability {
    /// Commits are not synced to disk: no test needs its data after a power failure.
    Volatile,
    /// Commits are synced, as in production; for benchmarks, which must include that cost.
    Synced,
}

impl PostgresServer {
    pub fn start() -> Result<Self> {
        let mut postgres = Self::launch()?;
        postgres.wait()?;
        Ok(postgres)
    }

    /// Starts the server without waiting until it is ready; see `wait`.
    pub fn launch() -> Result<Self> {
        Self::launch_as(CommitDurability::Volatile)
    }

    pub fn launch_as(durability: CommitDurability) -> Result<Self> {
        let program = find("postgres", &versions_in(Path::new("/usr/lib/postgresql")), PACKAGE)?;
        let programs = program.parent().context("the program has no parent folder")?.to_owned();
        let folder = TempDir::with_prefix("pilothouse-postgres-")
            .context("could not create a temporary folder")?;
        change_owner(folder.path())?;
        create_cluster(&programs, folder.path())?;
        let port = free_port()?;
        let process = run(&programs, folder.path(), port, durability)?;
        Ok(Self { process, programs, folder, port, durability })
    }

    pub fn wait(&mut self) -> Result<()> {
        let (program, port) = (self.programs.join("pg_isready"), self.port.to_string());
        self.process.wait_until("Postgres", READY_WITHIN, || {
            let mut probe = Command::new(&program);
            probe.args(["--quiet", "--host", "127.0.0.1", "--port", &port]).stdout(Stdio::null());
            probe.status().is_ok_and(|status| status.success())
        })
    }

    pub fn url(&self) -> String {
        format!("postgres://{USER}@{}/postgres", loopback(self.port))
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Fast shutdown: transactions are rolled back, connections closed.
    pub fn stop(&mut self) {
        self.process.stop(Signal::INT, STOPPED_WITHIN);
    }

    /// Like `pg_ctl restart -m fast`, on the same port.
    pub fn restart(&mut self) {
        self.stop();
        self.run_again();
    }

    /// Like `pg_ctl restart -m immediate`: stops without a checkpoint, and the next start recovers.
    pub fn restart_immediate(&mut self) {
        self.process.stop(Signal::QUIT, STOPPED_WITHIN);
        self.run_again();
    }

    pub fn pause(&self) {
        self.process.pause();
    }

    pub fn resume(&self) {
        self.process.resume();
    }

    fn run_again(&mut self) {
        let process = run(&self.programs, self.folder.path(), self.port, self.durability);
        self.process = process.expect("the server started before");
        self.wait().expect("the server was ready before");
    }
}

fn create_cluster(programs: &Path, folder: &Path) -> Result<()> {
    let mut command = Command::new("setpriv");
    command.args(identity()).arg(programs.join("initdb"));
    command.args([
        "--username",
        USER,
        "--auth",
        "trust",
        "--locale",
        "C.UTF-8",
        "--encoding",
        "UTF8",
    ]);
    let created = command
        .args(["--no-sync", "--no-instructions", "--pgdata"])
        .arg(folder.join("data"))
        .current_dir(folder)
        .output()
        .context("could not start setpriv, which is part of util-linux")?;
    let errors = String::from_utf8_lossy(&created.stderr);
    ensure!(created.status.success(), "initdb could not create a database cluster: {errors}");
    Ok(())
}

fn run(
    programs: &Path,
    folder: &Path,
    port: u16,
    durability: CommitDurability,
) -> Result<ServerProcess> {
    let program = programs.join("postgres");
    let prepare = |command: &mut Command| {
        command.args(identity()).arg(&program).arg("-D").arg(folder.join("data"));
        command.args(["-p", &port.to_string()]).arg("-k").arg(folder).current_dir(folder);
        let fsync = match durability {
            CommitDurability::Volatile => "fsync=off",
            CommitDurability::Synced => "fsync=on",
        };
        for setting in ["listen_addresses=127.0.0.1", fsync, "max_connections=400"] {
            command.args(["-c", setting]);
        }
    };
    ServerProcess::start("Postgres", &program, prepare, folder.join("log"))
}

fn identity() -> &'static [&'static str] {
    match rustix::process::geteuid().is_root() {
        true => &["--reuid", USER, "--regid", USER, "--init-groups"],
        false => &[],
    }
}

/// Changes the owner of the folder to the user that the server runs as.
fn change_owner(folder: &Path) -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let number = |option: &str| -> Result<u32> {
        let output =
            Command::new("id").args([option, USER]).output().context("could not run id")?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        text.parse().with_context(|| {
            format!(
                "there is no user {USER}, which the package {PACKAGE} creates: install that package"
            )
        })
    };
    std::os::unix::fs::chown(folder, Some(number("-u")?), Some(number("-g")?))
        .with_context(|| format!("could not change the owner of {} to {USER}", folder.display()))
}
