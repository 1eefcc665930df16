//! Checks that Redis is reachable, new enough, and does not evict data.

use std::collections::HashMap;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ErrorKind, RedisError};

use super::{ServerProbe, TIMEOUT};

const NAME: &str = "Redis";
const OLDEST: (u32, u32) = (6, 2);

pub(crate) async fn probe(url: &str) -> Vec<ServerProbe> {
    match tokio::time::timeout(TIMEOUT, look(url)).await {
        Ok(Ok(probes)) => probes,
        Ok(Err(error)) => vec![failure(&error)],
        Err(_) => vec![ServerProbe::bad(
            NAME,
            format!("no response within {} s", TIMEOUT.as_secs()),
            "Check host and port, and that no firewall drops the connection.",
        )],
    }
}

async fn look(url: &str) -> Result<Vec<ServerProbe>, RedisError> {
    let client = Client::open(url)?;
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(TIMEOUT))
        .set_response_timeout(Some(TIMEOUT));
    let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
    redis::cmd("PING").exec_async(&mut connection).await?;
    let facts = facts(&mut connection).await?;
    let fact = |name: &str| facts.get(name).map_or("", String::as_str);
    let version = fact("redis_version");
    if major_minor(version).is_some_and(|version| version < OLDEST) {
        let found = format!("version {version} is too old");
        return Ok(vec![ServerProbe::bad(NAME, found, "Use Redis 6.2 or newer.")]);
    }
    if fact("role") == "slave" {
        return Ok(vec![ServerProbe::bad(
            NAME,
            "it is a read-only replica",
            "Use the address of the primary.",
        )]);
    }
    let mut probes = vec![ServerProbe::good(NAME, format!("version {version}"))];
    let policy = fact("maxmemory_policy");
    if !matches!(policy, "" | "noeviction") && fact("maxmemory") != "0" {
        // Nothing is lost: evicted data is read from Postgres, only more slowly.
        probes.push(ServerProbe::note(
            NAME,
            format!("it evicts live streams when its memory is full (maxmemory-policy {policy})"),
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

fn failure(error: &RedisError) -> ServerProbe {
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
            ("it requires a password".to_owned(), "Set the password in the address.")
        }
        ErrorKind::Io => (
            format!("no connection ({error})"),
            "Check that Redis runs, host and port, and rediss:// for TLS.",
        ),
        ErrorKind::Server(_) => (format!("it refused the request ({says})"), "Read its log."),
        _ => (format!("it failed ({error})"), "Check that this is a Redis server."),
    };
    ServerProbe::bad(NAME, found, advice)
}
