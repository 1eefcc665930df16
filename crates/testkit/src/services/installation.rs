//! Isolates one distributed installation from others on the same servers: its own database, and its own prefix for
//! queue and exchange names at the broker. Redis keys contain turn ids, so they need no prefix.

use std::time::Duration;

use anyhow::{Context, Result};
use futures::TryStreamExt;
use lapin::options::{ExchangeDeleteOptions, QueueDeleteOptions};
use lapin::{Connection, ConnectionProperties};
use tokio_postgres::{Client, Config, NoTls};
use uuid::Uuid;

use super::TestServerUrls;

const RABBITMQ_PREFIX: &str = "RABBITMQ_PREFIX";
const QUEUES: [&str; 2] = ["copilot_execution_queue_v2", "copilot_execution_dead"];
const EXCHANGES: [&str; 3] = ["copilot_execution", "copilot_execution_dlx", "copilot_cancel"];
const TIMEOUT: Duration = Duration::from_secs(20);

/// Its database, queues and exchanges are removed when it is dropped.
pub struct TestInstallation {
    shared: TestServerUrls,
    urls: TestServerUrls,
    name: String,
    prefix: String,
}

impl TestInstallation {
    pub fn create(shared: &TestServerUrls) -> Result<Self> {
        let name = format!("pilothouse_{}", Uuid::new_v4().simple());
        let create = format!("CREATE DATABASE {name}");
        run_on_thread(&shared.database, async move |url| {
            Ok(open(&url).await?.batch_execute(&create).await?)
        })
        .context("could not create a database for this test")?;
        let mut urls = shared.clone();
        urls.database = with_database(&shared.database, &name)?;
        let prefix = format!("{name}.");
        Ok(Self { shared: shared.clone(), urls, name, prefix })
    }

    pub fn urls(&self) -> &TestServerUrls {
        &self.urls
    }

    /// Environment variables for a process of this installation.
    pub fn settings(&self) -> Vec<(&'static str, &str)> {
        let mut settings = self.urls.settings().to_vec();
        settings.push((RABBITMQ_PREFIX, &self.prefix));
        settings
    }

    /// Prefix of its queue and exchange names.
    pub fn rabbitmq_prefix(&self) -> &str {
        &self.prefix
    }

    /// Every row of every table, as bytes to search.
    pub fn rows(&self) -> Result<Vec<u8>> {
        run_on_thread(&self.urls.database, async |url| {
            let database = open(&url).await?;
            let tables = database
                .query(
                    "SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public'",
                    &[],
                )
                .await?;
            let mut all = Vec::new();
            for table in tables {
                // The binary format contains text and bytes unescaped.
                let copy = format!("COPY {} TO STDOUT (FORMAT binary)", table.get::<_, &str>(0));
                let rows = database.copy_out(&copy).await?;
                let rows: Vec<_> = rows.try_collect().await?;
                all.extend(rows.concat());
            }
            Ok(all)
        })
    }
}

impl Drop for TestInstallation {
    fn drop(&mut self) {
        // The servers are temporary, so a failed removal is ignored.
        let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let _ = run_on_thread(&self.shared.database, async move |url| {
            Ok(open(&url).await?.batch_execute(&drop).await?)
        });
        let prefix = self.prefix.clone();
        let _ = run_on_thread(&self.shared.rabbitmq, async move |url| {
            remove_from_broker(&url, &prefix).await
        });
    }
}

async fn open(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    // The task ends with its client, or with the runtime, which runs one piece of work only.
    tokio::runtime::Handle::current().spawn(connection);
    Ok(client)
}

async fn remove_from_broker(url: &str, prefix: &str) -> Result<()> {
    let connection = Connection::connect(url, ConnectionProperties::default()).await?;
    let channel = connection.create_channel().await?;
    for name in QUEUES {
        let name = format!("{prefix}{name}");
        channel.queue_delete(name.into(), QueueDeleteOptions::default()).await?;
    }
    for name in EXCHANGES {
        let name = format!("{prefix}{name}");
        channel.exchange_delete(name.into(), ExchangeDeleteOptions::default()).await?;
    }
    connection.close(200, "done".into()).await?;
    Ok(())
}

/// Replaces the database name in a URL.
fn with_database(url: &str, name: &str) -> Result<String> {
    let (start, options) =
        url.split_once('?').map_or((url, None), |(start, rest)| (start, Some(rest)));
    let host = start.find("://").context("DATABASE_URL is not a URL")? + 3;
    let end = start[host..].find('/').map_or(start.len(), |slash| host + slash);
    let options = options.map(|options| format!("?{options}")).unwrap_or_default();
    let changed = format!("{}/{name}{options}", &start[..end]);
    changed.parse::<Config>().context("DATABASE_URL is invalid")?;
    Ok(changed)
}

/// Runs `work` on a new thread with its own runtime: callers may be inside a runtime, outside one, or in `drop`.
fn run_on_thread<T, F>(url: &str, work: impl FnOnce(String) -> F + Send + 'static) -> Result<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>>,
{
    let url = url.to_owned();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async { tokio::time::timeout(TIMEOUT, work(url)).await })?
    });
    thread.join().map_err(|_| anyhow::anyhow!("the thread panicked"))?
}
