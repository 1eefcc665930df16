//! All conformance laws on the whole backend with real servers, once with hints and once without.

use std::time::Duration;

use ports::Ports;
use protocol::limits::UserLimits;
use protocol::{Seq, TaskId, TurnId};
use tempfile::TempDir;
use testkit::conformance::{BackendFixture, StartWithoutWakeups};

use crate::postgres::tests::database::Database;
use crate::rabbitmq::tests::scratch::Scratch;
use crate::redis::tests::server::PrivateRedis;
use crate::{BackendOptions, ConnectOptions, ConnectedBackend, DistributedOptions, connect};

struct Servers {
    database: Database,
    /// Private, because any process that shares a server may receive its completions.
    redis: PrivateRedis,
    broker: Scratch,
    folder: TempDir,
    deaf: bool,
    caps: UserLimits,
    /// `None` only while it is being reopened.
    open: Option<ConnectedBackend>,
}

impl Servers {
    async fn new(deaf: bool, caps: UserLimits) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (database, broker) = (Database::create().await, Scratch::new());
        let redis = PrivateRedis::start().await;
        let mut servers = Self { database, redis, broker, folder, deaf, caps, open: None };
        servers.open().await;
        servers
    }

    async fn open(&mut self) {
        let servers = DistributedOptions {
            data: self.folder.path().to_owned(),
            postgres_url: self.database.url().into(),
            postgres_connections: 8,
            redis_url: self.redis.url().into(),
            rabbitmq_url: self.broker.url.clone().into(),
            rabbitmq_prefix: self.broker.prefix.clone(),
            stream_ttl: Duration::from_secs(60),
        };
        let options = ConnectOptions {
            backend: BackendOptions::Distributed(Box::new(servers)),
            encryption_key: None,
            caps: self.caps,
            deaf: self.deaf,
        };
        self.open = Some(connect(&options).await.expect("it opens"));
    }
}

impl BackendFixture for Servers {
    async fn start_with(caps: UserLimits) -> Self {
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

    async fn backdate(&mut self, turn: &TurnId, by: Duration) {
        let by = by.as_micros();
        let earlier = format!("UPDATE turn SET created_at = created_at - {by} WHERE id = '{turn}'");
        self.database.sql(&earlier).await;
    }
}

impl StartWithoutWakeups for Servers {
    async fn start_without_wakeups(caps: UserLimits) -> Self {
        Self::new(true, caps).await
    }
}

mod listening {
    use super::Servers as Fixture;

    testkit::conformance::all!(Fixture);
}

mod deaf {
    use testkit::conformance::WithoutWakeups;

    type Fixture = WithoutWakeups<super::Servers>;

    testkit::conformance::engine!(Fixture);
    testkit::conformance::executions!(Fixture);
    testkit::conformance::reviews!(Fixture);
}
