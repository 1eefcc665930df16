//! Opening the store: connect, bring the schema up to date, refuse what must be refused, and give out the places that
//! became free while nobody looked.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use ports::Clock;
use protocol::limits::UserLimits;
use tokio_postgres::Config;
use tokio_postgres::config::Host;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::appends::Appends;
use super::connection::Connection;
use super::fault::{Fault, described};
use super::pool::pool;
use super::schema::{self, Schema};
use super::turns::places::admit_all;
use super::{Postgres, key_check};
use crate::connect::ConnectError;
use crate::feed::Feed;
use crate::key_check::KeyCheck;

/// The most a start may take; a step of the schema over much data is the slow part.
const START: Duration = Duration::from_secs(60);

impl Postgres {
    pub(crate) async fn connect(
        url: &str,
        connections: usize,
        encryption_key: Option<&str>,
        caps: UserLimits,
        clock: Arc<dyn Clock>,
        feed: Arc<dyn Feed>,
    ) -> Result<Self, ConnectError> {
        let config: Config =
            url.parse().map_err(|error| ConnectError::PostgresUrl { reason: described(&error) })?;
        let address = address(&config);
        let unusable = |reason: String| ConnectError::Postgres { address: address.clone(), reason };
        let pool = pool(config, connections).map_err(|error| unusable(error.to_string()))?;
        let starting = tokio::time::timeout(START, start(&pool, encryption_key, caps));
        let started = starting.await.unwrap_or(Err(Fault::Late));
        let database = PathBuf::from(&address);
        match started.map_err(|fault| unusable(fault.to_string()))? {
            Started::Ready => Ok(Self::over(pool, caps, clock, feed)),
            Started::Newer { found, known } => Err(ConnectError::Newer { database, found, known }),
            Started::WrongKey => Err(ConnectError::WrongKey { database }),
            Started::KeyMissing => Err(ConnectError::KeyMissing { database }),
        }
    }

    pub(super) fn over(
        pool: Pool,
        caps: UserLimits,
        clock: Arc<dyn Clock>,
        feed: Arc<dyn Feed>,
    ) -> Self {
        let (tasks, closing) = (TaskTracker::new(), CancellationToken::new());
        let appends = Appends::start(pool.clone(), feed.clone(), &tasks, closing.clone());
        Self { pool, appends, clock, caps, feed, tasks, closing }
    }
}

enum Started {
    Ready,
    Newer { found: i64, known: i64 },
    WrongKey,
    KeyMissing,
}

async fn start(pool: &Pool, key: Option<&str>, caps: UserLimits) -> Result<Started, Fault> {
    let db = Connection::get(pool).await?;
    if let Schema::Newer { found, known } = schema::bring_up_to_date(&db).await? {
        return Ok(Started::Newer { found, known });
    }
    match key_check::check(&db, key).await? {
        KeyCheck::Right | KeyCheck::First(_) => {}
        KeyCheck::Wrong => return Ok(Started::WrongKey),
        KeyCheck::Missing => return Ok(Started::KeyMissing),
    }
    drop(db);
    admit_all(pool, caps).await?;
    Ok(Started::Ready)
}

/// Where the database is, without who we are there.
fn address(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!("{host}:{port}/{}", config.get_dbname().unwrap_or_default())
}
