//! An empty database for one test.

use std::sync::Arc;

use protocol::limits::UserLimits;
use protocol::secret::SecretText;
use tokio_postgres::{Client, NoTls};
use tokio_util::task::TaskTracker;

use super::feed::Silent;
use crate::connect::ConnectError;
use crate::local::clock::SystemClock;
use crate::postgres::PostgresStore;

pub(crate) const CAPS: UserLimits =
    UserLimits { running: 1_000, in_flight: 10_000, executions: 1_000 };

pub(crate) struct Database {
    server: String,
    name: String,
}

impl Database {
    pub(crate) async fn create() -> Self {
        let name = format!("pilothouse_test_{}", uuid::Uuid::new_v4().simple());
        let database = Self { server: server(), name };
        // `template0`, because two databases cannot be copied from `template1` at the same time.
        let create = format!("CREATE DATABASE {} TEMPLATE template0", database.name);
        admin(&database.server).await.batch_execute(&create).await.expect("a database");
        database
    }

    pub(crate) fn url(&self) -> String {
        let mut url = url::Url::parse(&self.server).expect("a URL");
        url.set_path(&self.name);
        url.into()
    }

    pub(crate) async fn connect(&self) -> PostgresStore {
        self.connect_with(CAPS).await
    }

    pub(crate) async fn connect_with(&self, caps: UserLimits) -> PostgresStore {
        self.try_connect(caps, None).await.expect("it opens")
    }

    pub(crate) async fn try_connect(
        &self,
        caps: UserLimits,
        key: Option<&str>,
    ) -> Result<PostgresStore, ConnectError> {
        let clock = Arc::new(SystemClock);
        PostgresStore::connect(
            &self.url(),
            8,
            key.map(SecretText::from).as_ref(),
            caps,
            clock,
            Arc::new(Silent),
        )
        .await
    }

    /// Runs a statement directly on the database, not through the store.
    pub(crate) async fn sql(&self, statement: &str) -> Vec<tokio_postgres::Row> {
        admin(&self.url()).await.query(statement, &[]).await.expect("the statement works")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // A failed test may have no runtime left to wait with.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let drop = format!("DROP DATABASE {name} WITH (FORCE)");
                let _ = admin(&server).await.batch_execute(&drop).await;
            });
        });
        let _ = dropping.join();
    }
}

pub(crate) async fn admin(url: &str) -> Client {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.expect("the database server answers");
    // It ends with its client.
    TaskTracker::new().spawn(connection);
    client
}

#[expect(clippy::disallowed_methods, reason = "where the services of the tests are")]
fn server() -> String {
    std::env::var("DATABASE_URL").expect(
        "DATABASE_URL is not set: run the tests with `make test`, which starts the services",
    )
}
