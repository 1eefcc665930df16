//! The whole backend held to every law, on real servers, once with hints and once without.

use std::time::Duration;

use ports::Ports;
use protocol::limits::Caps;
use protocol::{Seq, TaskId};
use tempfile::TempDir;
use testkit::conformance::Fixture;

use crate::postgres::tests::database::Database;
use crate::rabbitmq::tests::scratch::Scratch;
use crate::{BackendOptions, Connected, DistributedOptions, Options, connect};

struct Servers {
    database: Database,
    broker: Scratch,
    folder: TempDir,
    deaf: bool,
    caps: Caps,
    /// Absent only while it is being reopened.
    open: Option<Connected>,
}

impl Servers {
    async fn new(deaf: bool, caps: Caps) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (database, broker) = (Database::create().await, Scratch::new());
        let mut servers = Self { database, broker, folder, deaf, caps, open: None };
        servers.open().await;
        servers
    }

    async fn open(&mut self) {
        let servers = DistributedOptions {
            data: self.folder.path().to_owned(),
            postgres_url: self.database.url(),
            postgres_connections: 8,
            redis_url: redis(),
            rabbitmq_url: self.broker.url.clone(),
            rabbitmq_prefix: self.broker.prefix.clone(),
            stream_ttl: Duration::from_secs(60),
        };
        let options = Options {
            backend: BackendOptions::Distributed(Box::new(servers)),
            encryption_key: None,
            caps: self.caps,
            deaf: self.deaf,
        };
        self.open = Some(connect(&options).await.expect("it opens"));
    }
}

#[expect(clippy::disallowed_methods, reason = "a test has no configuration to ask")]
fn redis() -> String {
    std::env::var("REDIS_URL")
        .expect("this test needs a Redis: `make test` starts one and sets REDIS_URL")
}

impl Fixture for Servers {
    async fn start_with(caps: Caps) -> Self {
        Self::new(false, caps).await
    }

    fn ports(&self) -> &Ports {
        &self.open.as_ref().expect("it is open").ports
    }

    async fn restart(&mut self) {
        let open = self.open.take().expect("it is open");
        open.backend.close().await.expect("it closes");
        self.open().await;
    }

    async fn trim(&mut self, task: &TaskId, to: Seq) {
        let trim = format!(
            "DELETE FROM segment WHERE last_seq <= {to}
             AND log_id = (SELECT id FROM log WHERE task_id = '{task}')"
        );
        self.database.sql(&trim).await;
    }
}

/// The same without hints.
struct Deaf(Servers);

impl Fixture for Deaf {
    async fn start_with(caps: Caps) -> Self {
        Self(Servers::new(true, caps).await)
    }

    fn ports(&self) -> &Ports {
        self.0.ports()
    }

    async fn restart(&mut self) {
        self.0.restart().await;
    }

    async fn trim(&mut self, task: &TaskId, to: Seq) {
        self.0.trim(task, to).await;
    }
}

mod listening {
    use testkit::conformance;

    use super::Servers as Fixture;

    conformance::api_keys!(Fixture);
    conformance::bus!(Fixture);
    conformance::files!(Fixture);
    conformance::leases!(Fixture);
    conformance::messages!(Fixture);
    conformance::outbox!(Fixture);
    conformance::places!(Fixture);
    conformance::queue!(Fixture);
    conformance::regenerate!(Fixture);
    conformance::sessions!(Fixture);
    conformance::stream_log!(Fixture);
    conformance::turns!(Fixture);
}

mod deaf {
    use testkit::conformance;

    use super::Deaf as Fixture;

    conformance::bus!(Fixture);
    conformance::stream_log!(Fixture);
    conformance::turns!(Fixture);
}
