//! Whether Redis is there, new enough, and keeps what it is given.

use std::collections::HashMap;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ErrorKind, RedisError};

use super::{PATIENCE, Probe};

const NAME: &str = "Redis";
const OLDEST: (u32, u32) = (6, 2);

pub(super) async fn probe(url: &str) -> Vec<Probe> {
    match tokio::time::timeout(PATIENCE, look(url)).await {
        Ok(Ok(probes)) => probes,
        Ok(Err(error)) => vec![failure(&error)],
        Err(_) => vec![Probe::bad(
            NAME,
            format!("no answer within {} s", PATIENCE.as_secs()),
            "Check host and port, and that no firewall drops the connection.",
        )],
    }
}

async fn look(url: &str) -> Result<Vec<Probe>, RedisError> {
    let client = Client::open(url)?;
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(PATIENCE))
        .set_response_timeout(Some(PATIENCE));
    let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
    redis::cmd("PING").exec_async(&mut connection).await?;
    let facts = facts(&mut connection).await?;
    let fact = |name: &str| facts.get(name).map_or("", String::as_str);
    let version = fact("redis_version");
    if major_minor(version).is_some_and(|version| version < OLDEST) {
        let found = format!("version {version} is too old");
        return Ok(vec![Probe::bad(NAME, found, "Use Redis 6.2 or newer.")]);
    }
    if fact("role") == "slave" {
        return Ok(vec![Probe::bad(
            NAME,
            "it is a replica and takes no writes",
            "Give the address of the primary.",
        )]);
    }
    let mut probes = vec![Probe::good(NAME, format!("version {version}"))];
    let policy = fact("maxmemory_policy");
    if !matches!(policy, "" | "noeviction") && fact("maxmemory") != "0" {
        // Nothing is lost: what is gone is read from Postgres. It is only slower.
        probes.push(Probe::note(
            NAME,
            format!(
                "it throws live streams away when its memory is full (maxmemory-policy {policy})"
            ),
            "Set maxmemory-policy to noeviction, or give it more memory.",
        ));
    }
    Ok(probes)
}

async fn facts(
    connection: &mut MultiplexedConnection,
) -> Result<HashMap<String, String>, RedisError> {
    let text: String = redis::cmd("INFO").query_async(connection).await?;
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    Ok(pairs.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
}

fn major_minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

fn failure(error: &RedisError) -> Probe {
    let says = error.detail().unwrap_or_default();
    let (found, advice) = match error.kind() {
        ErrorKind::InvalidClientConfig => (
            "the address cannot be read".to_owned(),
            "It looks like redis://:password@host:6379/0; escape special characters of the password (@ is %40).",
        ),
        ErrorKind::AuthenticationFailed => {
            ("it refuses the password".to_owned(), "Check user and password.")
        }
        _ if error.code() == Some("NOAUTH") => {
            ("it wants a password".to_owned(), "Give the password of Redis.")
        }
        ErrorKind::Io => (
            format!("no connection ({error})"),
            "Check that Redis runs, host and port, and rediss:// for TLS.",
        ),
        ErrorKind::Server(_) => (format!("it refuses to work ({says})"), "Read its log."),
        _ => (format!("it does not work ({error})"), "Check that this is a Redis server."),
    };
    Probe::bad(NAME, found, advice)
}
