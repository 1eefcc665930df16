//! A server under test: the real binary in as many processes as its engine needs, on a place of its own, killed when it
//! goes out of scope.

mod api;
mod cluster;
mod links;
mod log;
mod place;
mod process;

use std::ops::Deref;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

pub(crate) use api::{Api, client, id_of, json_of, refusal};
pub(crate) use cluster::Cluster;
pub(crate) use links::Links;
pub(crate) use log::Log;
pub(crate) use place::{Engine, Place};
pub(crate) use process::{Process, Role, refused, wait};

/// Nothing in these tests takes longer on a machine that works.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The smallest cluster of an engine, used as if it were one server: what is done to it is done to all its processes,
/// and what is asked is asked at its one API.
pub(crate) struct TestServer {
    cluster: Cluster,
}

impl TestServer {
    pub(crate) fn start(engine: Engine) -> Self {
        Self::with(engine, &[])
    }

    /// With further settings in the environment.
    pub(crate) fn with(engine: Engine, environment: &[(&str, &str)]) -> Self {
        Self::under(engine, &[], environment)
    }

    /// Started by another program, which must become the server and keep its process id.
    pub(crate) fn under(engine: Engine, wrapper: &[String], environment: &[(&str, &str)]) -> Self {
        Self { cluster: Cluster::start(engine, wrapper, environment) }
    }

    /// The working directory of its processes; their files are in `data`.
    pub(crate) fn folder(&self) -> &Path {
        self.cluster.place().folder()
    }

    /// Everything it keeps, wherever that is, as bytes to search in.
    pub(crate) fn stored(&self) -> Vec<u8> {
        self.cluster.place().stored()
    }

    /// Of the process that serves the API.
    pub(crate) fn pid(&self) -> u32 {
        self.cluster.api(0).pid()
    }

    /// Everything the server has logged, over all its lives.
    pub(crate) fn log(&self) -> String {
        self.cluster.log()
    }

    /// Returns when every process of the server has logged this.
    pub(crate) fn wait_for_log(&self, part: &str) {
        self.cluster.wait_for_log(part);
    }

    /// Returns when the process that serves the API has logged this.
    pub(crate) fn wait_for_log_of_api(&self, part: &str) {
        self.cluster.api(0).log().wait_for(part);
    }

    /// As if the machines had lost power, as far as a process can tell.
    pub(crate) fn kill9(&mut self) {
        self.cluster.kill9();
    }

    pub(crate) fn sigterm(&self) {
        self.cluster.sigterm();
    }

    /// Waits for the end that `sigterm` asked for.
    pub(crate) fn wait_for_exit(&mut self, at_most: Duration) -> ExitStatus {
        self.cluster.wait_for_exit(at_most)
    }

    /// The same place, the same port, new processes.
    pub(crate) fn restart(&mut self) {
        self.cluster.restart();
    }

    /// Other settings for the next `restart`.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.cluster.set(name, value);
    }

    /// The program on the same place and with the same settings, for one of its commands.
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
