//! Room for one distributed installation beside others on the same servers: a database of its own, and a prefix of its
//! own for the names at the broker. What is kept in Redis is named by turn, so it needs no such thing.

use std::time::Duration;

use anyhow::{Context, Result};
use futures::TryStreamExt;
use lapin::options::{ExchangeDeleteOptions, QueueDeleteOptions};
use lapin::{Connection, ConnectionProperties};
use tokio_postgres::{Client, Config, NoTls};
use uuid::Uuid;

use super::Urls;

const RABBITMQ_PREFIX: &str = "RABBITMQ_PREFIX";
const QUEUES: [&str; 2] = ["copilot_execution_queue_v2", "copilot_execution_dead"];
const EXCHANGES: [&str; 3] = ["copilot_execution", "copilot_execution_dlx", "copilot_cancel"];
const AT_MOST: Duration = Duration::from_secs(20);

/// Is removed from the servers when it goes out of scope.
pub struct Installation {
    shared: Urls,
    urls: Urls,
    name: String,
    prefix: String,
}

impl Installation {
    pub fn create(shared: &Urls) -> Result<Self> {
        let name = format!("pilothouse_{}", Uuid::new_v4().simple());
        let create = format!("CREATE DATABASE {name}");
        apart(&shared.database, async move |url| {
            Ok(open(&url).await?.batch_execute(&create).await?)
        })
        .context("a database for this test could not be created")?;
        let mut urls = shared.clone();
        urls.database = with_database(&shared.database, &name)?;
        let prefix = format!("{name}.");
        Ok(Self { shared: shared.clone(), urls, name, prefix })
    }

    pub fn urls(&self) -> &Urls {
        &self.urls
    }

    /// What a process of this installation has to be told.
    pub fn settings(&self) -> Vec<(&'static str, &str)> {
        let mut settings = self.urls.settings().to_vec();
        settings.push((RABBITMQ_PREFIX, &self.prefix));
        settings
    }

    /// What stands before its names at the broker.
    pub fn rabbitmq_prefix(&self) -> &str {
        &self.prefix
    }

    /// Every row of every table, as bytes to search in.
    pub fn rows(&self) -> Result<Vec<u8>> {
        apart(&self.urls.database, async |url| {
            let database = open(&url).await?;
            let tables = database
                .query(
                    "SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public'",
                    &[],
                )
                .await?;
            let mut all = Vec::new();
            for table in tables {
                // In the binary format, which shows text and bytes as they are.
                let copy = format!("COPY {} TO STDOUT (FORMAT binary)", table.get::<_, &str>(0));
                let rows = database.copy_out(&copy).await?;
                let rows: Vec<_> = rows.try_collect().await?;
                all.extend(rows.concat());
            }
            Ok(all)
        })
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        // The servers are thrown away soon, so what cannot be removed now is no failure.
        let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let _ = apart(&self.shared.database, async move |url| {
            Ok(open(&url).await?.batch_execute(&drop).await?)
        });
        let prefix = self.prefix.clone();
        let _ =
            apart(&self.shared.rabbitmq, async move |url| remove_from_broker(&url, &prefix).await);
    }
}

async fn open(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    // It ends with its client, or with the runtime, which is here for one task only.
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

/// The same server and user, another database.
fn with_database(url: &str, name: &str) -> Result<String> {
    let (start, options) =
        url.split_once('?').map_or((url, None), |(start, rest)| (start, Some(rest)));
    let host = start.find("://").context("DATABASE_URL is no URL")? + 3;
    let end = start[host..].find('/').map_or(start.len(), |slash| host + slash);
    let options = options.map(|options| format!("?{options}")).unwrap_or_default();
    let changed = format!("{}/{name}{options}", &start[..end]);
    changed.parse::<Config>().context("DATABASE_URL cannot be understood")?;
    Ok(changed)
}

/// Does it on a thread with a runtime of its own: callers are inside a runtime, outside of any, or being dropped.
fn apart<T, F>(url: &str, work: impl FnOnce(String) -> F + Send + 'static) -> Result<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>>,
{
    let url = url.to_owned();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async { tokio::time::timeout(AT_MOST, work(url)).await })?
    });
    thread.join().map_err(|_| anyhow::anyhow!("the work panicked"))?
}
