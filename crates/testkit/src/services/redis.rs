//! A private Redis server without persistence: a restart loses all data.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::Signal;
use tempfile::TempDir;

use super::ports::free_port;
use super::process::ServerProcess;
use super::program::find;

const READY_WITHIN: Duration = Duration::from_secs(20);
const STOPPED_WITHIN: Duration = Duration::from_secs(5);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

pub struct RedisServer {
    process: ServerProcess,
    program: PathBuf,
    folder: TempDir,
    port: u16,
}

impl RedisServer {
    pub fn start() -> Result<Self> {
        let mut redis = Self::launch()?;
        redis.wait()?;
        Ok(redis)
    }

    /// Starts the server without waiting until it is ready; see `wait`.
    pub fn launch() -> Result<Self> {
        let program = find("redis-server", &[], "redis-server")?;
        let folder = TempDir::with_prefix("pilothouse-redis-")
            .context("could not create a temporary folder")?;
        let port = free_port()?;
        let process = run(&program, folder.path(), port)?;
        Ok(Self { process, program, folder, port })
    }

    pub fn wait(&mut self) -> Result<()> {
        let url = self.url();
        self.process.wait_until("Redis", READY_WITHIN, || ask(&url, "PING").is_ok())
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub fn flush_all(&self) {
        ask(&self.url(), "FLUSHALL").expect("Redis answers");
    }

    pub fn stop(&mut self) {
        self.process.stop(Signal::TERM, STOPPED_WITHIN);
    }

    /// Restarts empty, on the same port.
    pub fn restart(&mut self) {
        self.stop();
        self.process =
            run(&self.program, self.folder.path(), self.port).expect("the server started before");
        self.wait().expect("the server was ready before");
    }

    /// Stops the process. The kernel still accepts connections, but nothing is answered.
    pub fn pause(&self) {
        self.process.pause();
    }

    pub fn resume(&self) {
        self.process.resume();
    }
}

fn run(program: &Path, folder: &Path, port: u16) -> Result<ServerProcess> {
    let prepare = |command: &mut Command| {
        command.arg(program).args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
        command.args(["--save", "", "--appendonly", "no"]).arg("--dir").arg(folder);
    };
    ServerProcess::start("Redis", program, prepare, folder.join("log"))
}

fn ask(url: &str, command: &str) -> redis::RedisResult<()> {
    let mut connection = redis::Client::open(url)?.get_connection_with_timeout(PROBE_TIMEOUT)?;
    connection.set_read_timeout(Some(PROBE_TIMEOUT))?;
    redis::cmd(command).exec(&mut connection)
}
