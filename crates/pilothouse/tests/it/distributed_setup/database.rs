//! A new database and a RabbitMQ namespace for one test.

use testkit::services::{TestInstallation, TestServerUrls};
use tokio_postgres::{NoTls, SimpleQueryMessage};

pub(crate) struct Database {
    shared: TestServerUrls,
    installation: TestInstallation,
}

impl Database {
    pub(crate) fn create() -> Self {
        let shared = TestServerUrls::from_env().expect("the servers are there");
        let installation = TestInstallation::create(&shared).expect("an installation is created");
        Self { shared, installation }
    }

    /// The settings with which the program finds it.
    pub(crate) fn settings(&self) -> Vec<(&'static str, &str)> {
        self.installation.settings()
    }

    /// The first value of the first row.
    pub(crate) async fn ask(&self, sql: &str) -> String {
        ask(&self.installation.urls().database, sql).await
    }

    /// Simulates a lost server, for this database only.
    pub(crate) async fn refuse_connections(&self) {
        let name = self.ask("SELECT current_database()").await;
        let shared = &self.shared.database;
        ask(shared, &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).await;
        let sessions = format!("FROM pg_stat_activity WHERE datname = '{name}'");
        ask(shared, &format!("SELECT pg_terminate_backend(pid) {sessions}")).await;
    }
}

async fn ask(url: &str, sql: &str) -> String {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("it is there");
    let asking = async {
        let answers = client.simple_query(sql).await.expect("the statement is good");
        answers.iter().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        })
    };
    tokio::select! {
        answer = asking => answer.unwrap_or_default(),
        ended = connection => panic!("Postgres hung up: {ended:?}"),
    }
}
