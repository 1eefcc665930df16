//! All conformance laws of the stream log, once with hints and once without, on top of the embedded store.

use std::sync::Arc;
use std::time::Duration;

use ports::Ports;
use protocol::limits::UserLimits;
use protocol::{Seq, TaskId};
use rusqlite::params;
use tempfile::TempDir;
use testkit::conformance::{BackendFixture, StartWithoutWakeups};
use tokio::sync::broadcast;

use super::process::Telling;
use super::server::shared;
use crate::redis::{RECLAIM, RedisBackend, RedisOptions};
use crate::{BackendHandle, ConnectOptions, connect};

struct Carried {
    folder: TempDir,
    deaf: bool,
    caps: UserLimits,
    /// `None` only while it is being reopened.
    open: Option<(Ports, BackendHandle, RedisBackend)>,
}

impl Carried {
    async fn new(deaf: bool, caps: UserLimits) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut fixture = Self { folder, deaf, caps, open: None };
        fixture.open().await;
        fixture
    }

    async fn open(&mut self) {
        let options =
            ConnectOptions { caps: self.caps, ..ConnectOptions::embedded(self.folder.path()) };
        let store = connect(&options).await.expect("it opens");
        let stream_ttl = Duration::from_secs(60);
        let options = RedisOptions { url: shared(), stream_ttl, reclaim: RECLAIM, deaf: self.deaf };
        let redis =
            RedisBackend::connect(&options, broadcast::Sender::new(16)).await.expect("it connects");
        let publishing = Arc::new(Telling::new(store.ports.log.clone(), redis.feed()));
        let log = Arc::new(redis.log(publishing.clone(), publishing));
        let ports = Ports { log, ..store.ports };
        self.open = Some((ports, store.backend, redis));
    }

    async fn close(&mut self) {
        let (_, backend, redis) = self.open.take().expect("it is open");
        redis.close().await;
        backend.close().await.expect("it closes");
    }
}

impl BackendFixture for Carried {
    async fn start_with(caps: UserLimits) -> Self {
        Self::new(false, caps).await
    }

    fn ports(&self) -> &Ports {
        &self.open.as_ref().expect("it is open").0
    }

    async fn restart(&mut self) {
        self.close().await;
        self.open().await;
    }

    #[expect(clippy::disallowed_methods, reason = "a store that trims is played by hand")]
    async fn trim(&mut self, task: &TaskId, to: Seq) {
        self.close().await;
        rusqlite::Connection::open(self.folder.path().join("pilothouse.db"))
            .expect("a file")
            .execute(
                "DELETE FROM segment WHERE last_seq <= ?2 AND position >> 32 =
                     (SELECT id FROM log WHERE task_id = ?1)",
                params![task.as_str(), to as i64],
            )
            .expect("the start is removed");
        self.open().await;
    }
}

impl StartWithoutWakeups for Carried {
    async fn start_without_wakeups(caps: UserLimits) -> Self {
        Self::new(true, caps).await
    }
}

mod subscribing {
    use super::Carried as Fixture;

    testkit::conformance::stream_log!(Fixture);
}

mod deaf {
    use testkit::conformance::WithoutWakeups;

    type Fixture = WithoutWakeups<super::Carried>;

    testkit::conformance::stream_log!(Fixture);
}
