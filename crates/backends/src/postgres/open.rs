//! Opens the store: connects, migrates the schema, refuses unusable databases, and gives out the concurrency permits
//! that became free while no process ran.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use ports::Clock;
use protocol::limits::UserLimits;
use protocol::secret::SecretText;
use tokio_postgres::Config;
use tokio_postgres::config::Host;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::append_queue::AppendQueue;
use super::connection::PooledConnection;
use super::error::{PostgresError, described};
use super::pool::pool;
use super::schema;
use super::turns::permits::admit_all;
use super::{PostgresStore, key_check};
use crate::connect::ConnectError;
use crate::log_feed::LogFeed;
use crate::rules::key_check::KeyCheck;
use crate::rules::schema_status::SchemaStatus;

/// Time limit of the start; a migration over much data is the slow part.
const START: Duration = Duration::from_secs(60);

impl PostgresStore {
    pub(crate) async fn connect(
        url: &str,
        connections: usize,
        encryption_key: Option<&SecretText>,
        caps: UserLimits,
        clock: Arc<dyn Clock>,
        feed: Arc<dyn LogFeed>,
    ) -> Result<Self, ConnectError> {
        let config: Config =
            url.parse().map_err(|error| ConnectError::PostgresUrl { reason: described(&error) })?;
        let address = address(&config);
        let unusable = |reason: String| ConnectError::Postgres { address: address.clone(), reason };
        let pool = pool(config, connections).map_err(|error| unusable(error.to_string()))?;
        let starting = tokio::time::timeout(START, start(&pool, encryption_key, caps));
        let started = starting.await.unwrap_or(Err(PostgresError::Late));
        let database = PathBuf::from(&address);
        match started.map_err(|fault| unusable(fault.to_string()))? {
            StartOutcome::Ready => Ok(Self::over(pool, caps, clock, feed)),
            StartOutcome::Newer { found, known } => {
                Err(ConnectError::Newer { database, found, known })
            }
            StartOutcome::WrongKey => Err(ConnectError::WrongKey { database }),
            StartOutcome::KeyMissing => Err(ConnectError::KeyMissing { database }),
        }
    }

    pub(crate) fn over(
        pool: Pool,
        caps: UserLimits,
        clock: Arc<dyn Clock>,
        feed: Arc<dyn LogFeed>,
    ) -> Self {
        let (tasks, closing) = (TaskTracker::new(), CancellationToken::new());
        let appends = AppendQueue::start(pool.clone(), feed.clone(), &tasks, closing.clone());
        Self { pool, appends, clock, caps, feed, tasks, closing }
    }
}

enum StartOutcome {
    Ready,
    Newer { found: i64, known: i64 },
    WrongKey,
    KeyMissing,
}

async fn start(
    pool: &Pool,
    key: Option<&SecretText>,
    caps: UserLimits,
) -> Result<StartOutcome, PostgresError> {
    let db = PooledConnection::get(pool).await?;
    if let SchemaStatus::Newer { found, known } = schema::bring_up_to_date(&db).await? {
        return Ok(StartOutcome::Newer { found, known });
    }
    match key_check::check(&db, key).await? {
        KeyCheck::Right | KeyCheck::First(_) => {}
        KeyCheck::Wrong => return Ok(StartOutcome::WrongKey),
        KeyCheck::Missing => return Ok(StartOutcome::KeyMissing),
    }
    drop(db);
    admit_all(pool, caps).await?;
    Ok(StartOutcome::Ready)
}

/// Address of the database, without the user name.
fn address(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!("{host}:{port}/{}", config.get_dbname().unwrap_or_default())
}
