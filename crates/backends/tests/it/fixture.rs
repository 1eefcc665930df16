//! An embedded backend in its own folder, for the conformance laws.

use std::path::Path;
use std::time::Duration;

use pilothouse_backends::{ConnectOptions, ConnectedBackend, connect};
use ports::Ports;
use protocol::limits::UserLimits;
use protocol::{Seq, TaskId, TurnId};
use rusqlite::{Connection, params};
use tempfile::TempDir;
use testkit::conformance::{BackendFixture, GENEROUS, StartWithoutWakeups};

pub(crate) struct Embedded {
    folder: TempDir,
    deaf: bool,
    caps: UserLimits,
    /// `None` only while it is being reopened.
    open: Option<ConnectedBackend>,
}

impl Embedded {
    async fn new(deaf: bool, caps: UserLimits) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut fixture = Self { folder, deaf, caps, open: None };
        fixture.open().await;
        fixture
    }

    /// Opens a folder with the data of another version.
    pub(crate) async fn start_in(folder: TempDir) -> Self {
        let mut fixture = Self { folder, deaf: false, caps: GENEROUS, open: None };
        fixture.open().await;
        fixture
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    async fn open(&mut self) {
        let options = ConnectOptions {
            deaf: self.deaf,
            caps: self.caps,
            ..ConnectOptions::embedded(self.folder.path())
        };
        self.open = Some(connect(&options).await.expect("it opens"));
    }

    async fn close(&mut self) {
        let open = self.open.take().expect("it is open");
        open.backend.close().await.expect("it closes");
        assert_whole(self.folder.path());
    }
}

impl BackendFixture for Embedded {
    async fn start_with(caps: UserLimits) -> Self {
        Self::new(false, caps).await
    }

    fn ports(&self) -> &Ports {
        &self.open.as_ref().expect("it is open").ports
    }

    async fn restart(&mut self) {
        self.close().await;
        self.open().await;
    }

    async fn trim(&mut self, task: &TaskId, to: Seq) {
        self.close().await;
        let database = raw_database(self.folder.path());
        database
            .execute(
                "DELETE FROM segment WHERE last_seq <= ?2 AND position >> 32 =
                     (SELECT id FROM log WHERE task_id = ?1)",
                params![task.as_str(), to as i64],
            )
            .expect("the start is removed");
        drop(database);
        self.open().await;
    }

    async fn backdate(&mut self, turn: &TurnId, by: Duration) {
        self.close().await;
        let database = raw_database(self.folder.path());
        let by = by.as_micros() as i64;
        let earlier = "UPDATE turn SET created_at = created_at - ?2 WHERE id = ?1";
        database.execute(earlier, params![turn.as_str(), by]).expect("it is older now");
        drop(database);
        self.open().await;
    }
}

impl StartWithoutWakeups for Embedded {
    async fn start_without_wakeups(caps: UserLimits) -> Self {
        Self::new(true, caps).await
    }
}

/// Asserts that SQLite's integrity check passes.
pub(crate) fn assert_whole(folder: &Path) {
    let database = raw_database(folder);
    let check: String = database
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("it can be checked");
    assert_eq!(check, "ok");
}

/// A direct connection to the database file, not through the backend.
#[expect(clippy::disallowed_methods, reason = "tests look at the file and change it on purpose")]
pub(crate) fn raw_database(folder: &Path) -> Connection {
    Connection::open(folder.join("pilothouse.db")).expect("a file")
}
