//! Connection pool of this process: size, connection settings, and time limits.

use std::time::Duration;

use deadpool_postgres::{
    BuildError, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime,
};
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Time limit for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a call waits for a free connection: slightly less than its own time limit.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(1800);

/// Settings of every connection. The server's own time limits cover what the time limit of a call does not: a
/// statement whose process is gone must not hold locks for long. They are shorter, so that the server has given up by
/// the time the caller does.
const SETTINGS: &str = "\
    SET statement_timeout = '1800ms';
    SET lock_timeout = '1500ms';
    SET idle_in_transaction_session_timeout = '5s';
    SET synchronous_commit = on;
    SET default_transaction_isolation = 'read committed';
    SET timezone = 'UTC';
    SET client_min_messages = warning;";

/// Opens no connection yet: each one is opened when it is first needed.
pub(crate) fn pool(mut config: Config, connections: usize) -> Result<Pool, BuildError> {
    // The kernel notices a vanished peer, also while the connection is idle.
    config
        .application_name("pilothouse")
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_user_timeout(Duration::from_secs(5))
        .keepalives(true)
        .keepalives_idle(Duration::from_secs(10))
        .keepalives_interval(Duration::from_secs(3))
        .keepalives_retries(3);
    let manager = Manager::from_config(
        config,
        MakeRustlsConnect::with_webpki_roots(),
        ManagerConfig { recycling_method: RecyclingMethod::Fast },
    );
    Pool::builder(manager)
        .max_size(connections)
        .wait_timeout(Some(ACQUIRE_TIMEOUT))
        .create_timeout(Some(CONNECT_TIMEOUT))
        .recycle_timeout(Some(CONNECT_TIMEOUT))
        .runtime(Runtime::Tokio1)
        .post_create(Hook::async_fn(|client, _| {
            Box::pin(async move {
                match tokio::time::timeout(CONNECT_TIMEOUT, client.batch_execute(SETTINGS)).await {
                    Ok(set) => set.map_err(HookError::Backend),
                    Err(_) => Err(HookError::message("it does not respond")),
                }
            })
        }))
        .build()
}
