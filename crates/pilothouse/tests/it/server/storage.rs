//! The environment of the program under test: a folder, and for the distributed engine a database and a queue name
//! prefix at the broker. Each test has its own.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;
use testkit::services::{TestInstallation, TestServerUrls};

/// The engine that the program runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// One process with an embedded store.
    Embedded,
    /// Postgres, Redis and RabbitMQ, with one API process and one executor.
    Distributed,
}

impl Engine {
    /// The engine that a copy of the suite is named after.
    pub(crate) const fn of(module: &str) -> Self {
        match module.as_bytes() {
            [.., b'e', b'm', b'b', b'e', b'd', b'd', b'e', b'd'] => Self::Embedded,
            _ => Self::Distributed,
        }
    }
}

/// Short leases, because a killed process is only noticed when its lease ends. Tests may override them.
const SHORT_LEASES: [(&str, &str); 3] =
    [("TURN_LEASE_MS", "2500"), ("TURN_RENEW_MS", "800"), ("SWEEP_INTERVAL_MS", "300")];

pub(crate) struct TestStorage {
    folder: TempDir,
    installation: Option<TestInstallation>,
}

impl TestStorage {
    pub(crate) fn new(engine: Engine) -> Self {
        let installation = (engine == Engine::Distributed).then(|| {
            let urls = TestServerUrls::from_env().unwrap_or_else(|error| panic!("{error}"));
            TestInstallation::create(&urls).expect("an installation is created")
        });
        Self { folder: TempDir::new().expect("a temporary folder"), installation }
    }

    /// A distributed installation on these servers, some of which may belong to this test alone.
    pub(crate) fn on(urls: &TestServerUrls) -> Self {
        let installation = TestInstallation::create(urls).expect("an installation is created");
        let folder = TempDir::new().expect("a temporary folder");
        Self { folder, installation: Some(installation) }
    }

    /// The working directory of the program; its data is in `data`.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The URLs of the servers of a distributed installation.
    pub(crate) fn urls(&self) -> &TestServerUrls {
        self.installation.as_ref().expect("a distributed installation").urls()
    }

    /// The prefix of its queue names at the broker.
    pub(crate) fn rabbitmq_prefix(&self) -> &str {
        self.installation.as_ref().expect("a distributed installation").rabbitmq_prefix()
    }

    /// The binary without the environment of the caller, in a folder without a `.env`.
    pub(crate) fn command(&self, environment: &[(String, String)], arguments: &[&str]) -> Command {
        self.command_under(&[], environment, arguments)
    }

    /// The same, started through a wrapper command that must exec it.
    #[expect(clippy::disallowed_methods, reason = "a test hands its own PATH on")]
    pub(crate) fn command_under(
        &self,
        wrapper: &[String],
        environment: &[(String, String)],
        arguments: &[&str],
    ) -> Command {
        let line: Vec<&str> = wrapper
            .iter()
            .map(String::as_str)
            .chain([env!("CARGO_BIN_EXE_pilothouse")])
            .chain(arguments.iter().copied())
            .collect();
        let mut command = Command::new(line[0]);
        command
            .args(&line[1..])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("PILOTHOUSE_DATA", self.folder().join("data"));
        if let Some(installation) = &self.installation {
            command.envs(SHORT_LEASES).envs(installation.settings());
        }
        command.envs(environment.iter().cloned()).current_dir(self.folder()).stdin(Stdio::null());
        command
    }

    /// Everything that is stored, as bytes to search in.
    pub(crate) fn stored(&self) -> Vec<u8> {
        let mut all = self.installation.as_ref().map_or(Vec::new(), |installation| {
            installation.rows().expect("the database can be read")
        });
        read_all(self.folder(), &mut all);
        all
    }
}

fn read_all(folder: &Path, all: &mut Vec<u8>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => read_all(&path, all),
            false => all.extend(std::fs::read(&path).unwrap_or_default()),
        }
    }
}
