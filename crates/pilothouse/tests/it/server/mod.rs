//! A server under test: the real binary in as many processes as its engine needs, with its own folder and database,
//! killed when it goes out of scope.

mod api;
mod cluster;
mod eventually;
mod output_log;
mod process;
mod proxies;
mod storage;

use std::ops::Deref;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

pub(crate) use api::{Api, client, id_of, json_of, refusal};
pub(crate) use cluster::Cluster;
pub(crate) use eventually::eventually;
pub(crate) use output_log::OutputLog;
pub(crate) use process::{Process, Role, refused, wait};
pub(crate) use proxies::ServerProxies;
pub(crate) use storage::{Engine, TestStorage};

/// Longer than any step of these tests takes on a working machine.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The smallest cluster of an engine, used like a single server: signals and settings apply to all its processes,
/// requests go to its one API.
pub(crate) struct TestServer {
    cluster: Cluster,
}

impl TestServer {
    pub(crate) fn start(engine: Engine) -> Self {
        Self::with(engine, &[])
    }

    /// With additional settings in the environment.
    pub(crate) fn with(engine: Engine, environment: &[(&str, &str)]) -> Self {
        Self::under(engine, &[], environment)
    }

    /// Starts the processes through a wrapper command, which must exec the server and keep its process id.
    pub(crate) fn under(engine: Engine, wrapper: &[String], environment: &[(&str, &str)]) -> Self {
        Self { cluster: Cluster::start(engine, wrapper, environment) }
    }

    /// The working directory of its processes; their files are in `data`.
    pub(crate) fn folder(&self) -> &Path {
        self.cluster.storage().folder()
    }

    /// Everything in its folder and database, as bytes to search in.
    pub(crate) fn stored(&self) -> Vec<u8> {
        self.cluster.storage().stored()
    }

    /// Process id of the API process.
    pub(crate) fn pid(&self) -> u32 {
        self.cluster.api(0).pid()
    }

    /// The log of the server, over all its starts.
    pub(crate) fn log(&self) -> String {
        self.cluster.log()
    }

    /// Returns when every process of the server has logged this.
    pub(crate) fn wait_for_log(&self, part: &str) {
        self.cluster.wait_for_log(part);
    }

    /// Returns when the API process has logged this.
    pub(crate) fn wait_for_log_of_api(&self, part: &str) {
        self.cluster.api(0).log().wait_for(part);
    }

    /// Kills all processes, which to them is like a power failure.
    pub(crate) fn kill9(&mut self) {
        self.cluster.kill9();
    }

    pub(crate) fn sigterm(&self) {
        self.cluster.sigterm();
    }

    /// Waits for the exit that `sigterm` requested.
    pub(crate) fn wait_for_exit(&mut self, timeout: Duration) -> ExitStatus {
        self.cluster.wait_for_exit(timeout)
    }

    /// Restarts the processes with the same data and the same port.
    pub(crate) fn restart(&mut self) {
        self.cluster.restart();
    }

    /// Changes a setting for the next `restart`.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.cluster.set(name, value);
    }

    /// A command of the program, with the same data and the same settings.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.cluster.command(arguments)
    }
}

impl Deref for TestServer {
    type Target = Api;

    fn deref(&self) -> &Api {
        self.cluster.api(0).http()
    }
}
