//! A store with the other ports that the laws need: a queue, hints and files of this process.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::completions::CompletionMessage;
use ports::{
    Completions, FailedDependency, HealthCheck, PortError, PortResult, Ports, ServicePorts,
};
use protocol::limits::UserLimits;
use protocol::{Seq, TaskId, TurnId};
use tempfile::TempDir;
use testkit::conformance::BackendFixture;

use super::database::Database;
use crate::local::bus::LocalBus;
use crate::local::clock::SystemClock;
use crate::local::files::LocalFiles;
use crate::local::queue::LocalQueue;
use crate::postgres::PostgresStore;

pub(crate) struct Shared {
    database: Database,
    folder: TempDir,
    caps: UserLimits,
    store: PostgresStore,
    ports: Ports,
}

impl BackendFixture for Shared {
    async fn start_with(caps: UserLimits) -> Self {
        let database = Database::create().await;
        let folder = tempfile::tempdir().expect("a folder");
        let store = database.connect_with(caps).await;
        let ports = ports(store.clone(), folder.path()).await;
        Self { database, folder, caps, store, ports }
    }

    fn ports(&self) -> &Ports {
        &self.ports
    }

    async fn restart(&mut self) {
        self.store.close().await;
        self.store = self.database.connect_with(self.caps).await;
        self.ports = ports(self.store.clone(), self.folder.path()).await;
    }

    async fn trim(&mut self, task: &TaskId, to: Seq) {
        self.database
            .sql(&format!(
                "DELETE FROM segment WHERE last_seq <= {to}
                 AND log_id = (SELECT id FROM log WHERE task_id = '{task}')"
            ))
            .await;
    }

    async fn backdate(&mut self, turn: &TurnId, by: Duration) {
        let by = by.as_micros();
        let earlier = format!("UPDATE turn SET created_at = created_at - {by} WHERE id = '{turn}'");
        self.database.sql(&earlier).await;
    }
}

pub(crate) async fn ports(store: PostgresStore, folder: &Path) -> Ports {
    let files = LocalFiles::open(folder.to_owned()).await.expect("a folder");
    let store = Arc::new(store);
    Ports::new(
        store.clone(),
        ServicePorts {
            completions: Arc::new(NoMessages),
            queue: Arc::new(LocalQueue::new(false)),
            log: store.clone(),
            bus: Arc::new(LocalBus::new(false)),
            files: Arc::new(files),
            health: Arc::new(StoreAlone(store)),
            clock: Arc::new(SystemClock),
        },
    )
}

/// Completions that never arrive: they do not come through the database.
struct NoMessages;

#[async_trait]
impl Completions for NoMessages {
    async fn send(&self, _: String) -> PortResult<()> {
        Err(PortError::Closed)
    }

    async fn next(&self) -> PortResult<CompletionMessage> {
        Err(PortError::Closed)
    }
}

/// A backend of which only the store can fail.
struct StoreAlone(Arc<PostgresStore>);

#[async_trait]
impl HealthCheck for StoreAlone {
    async fn failing(&self) -> Vec<FailedDependency> {
        self.0.failing().await.into_iter().collect()
    }
}
