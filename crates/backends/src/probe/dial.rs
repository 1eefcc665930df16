//! One connection to Postgres outside of any pool, for jobs with exclusive use of the database.

use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

type Tls = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// Dropping the connection ends the session and rolls back uncommitted changes.
pub(crate) type PostgresSession = (Client, Connection<Socket, Tls>);

/// Why connecting failed, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DialFailure {
    pub(crate) reason: String,
    pub(crate) advice: &'static str,
}

pub(crate) async fn dial(url: &str, limit: Duration) -> Result<PostgresSession, DialFailure> {
    let mut config: Config = url.parse().map_err(|_| DialFailure {
        reason: "the address cannot be read".to_owned(),
        advice: "It looks like postgres://user:password@host:5432/database; escape special characters of the password (@ is %40).",
    })?;
    config.application_name("pilothouse").connect_timeout(limit);
    let connecting = config.connect(MakeRustlsConnect::with_webpki_roots());
    match tokio::time::timeout(limit, connecting).await {
        Ok(Ok(line)) => Ok(line),
        Ok(Err(error)) => Err(refused(&error)),
        Err(_) => Err(DialFailure {
            reason: format!("no response within {} s", limit.as_secs()),
            advice: "Check host and port, and that no firewall drops the connection.",
        }),
    }
}

fn refused(error: &tokio_postgres::Error) -> DialFailure {
    let advice = match error.code() {
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            "Check user and password, and that pg_hba.conf admits this host."
        }
        Some(&SqlState::INVALID_CATALOG_NAME) => "Create the database: `createdb NAME`.",
        Some(&SqlState::TOO_MANY_CONNECTIONS) => {
            "Raise max_connections of Postgres, or lower the connections per process."
        }
        _ => "Check that Postgres runs, and host, port and sslmode.",
    };
    DialFailure { reason: describe(error), advice }
}

/// The server's message, or the connection error. Neither repeats the address.
pub(crate) fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => said.message().to_owned(),
        None => {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            cause.unwrap_or_else(|| error.to_string())
        }
    }
}
