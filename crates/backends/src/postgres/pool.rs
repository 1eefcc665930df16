//! The connections of this process to the database: how many, how they are set up, and how long anybody waits for one.

use std::time::Duration;

use deadpool_postgres::{
    BuildError, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime,
};
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long it may take to be connected.
const WAIT: Duration = Duration::from_secs(1);
/// How long a call waits for a connection to become free: for as long as it may take itself, less a moment.
const TURN: Duration = Duration::from_millis(1800);

/// What every connection is told first. The limits are the server's own guard against what our bound of a call does not
/// reach: a statement whose process is gone must not hold locks for long. They are below that bound, so that the server
/// has given up by the time the caller does.
const SETTINGS: &str = "\
    SET statement_timeout = '1800ms';
    SET lock_timeout = '1500ms';
    SET idle_in_transaction_session_timeout = '5s';
    SET synchronous_commit = on;
    SET default_transaction_isolation = 'read committed';
    SET timezone = 'UTC';
    SET client_min_messages = warning;";

/// Connects nowhere yet: each connection is made when it is first needed.
pub(super) fn pool(mut config: Config, connections: usize) -> Result<Pool, BuildError> {
    // A peer that is gone without a word is noticed by the kernel, also while nothing is being asked.
    config
        .application_name("pilothouse")
        .connect_timeout(WAIT)
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
        .wait_timeout(Some(TURN))
        .create_timeout(Some(WAIT))
        .recycle_timeout(Some(WAIT))
        .runtime(Runtime::Tokio1)
        .post_create(Hook::async_fn(|client, _| {
            Box::pin(async move {
                match tokio::time::timeout(WAIT, client.batch_execute(SETTINGS)).await {
                    Ok(set) => set.map_err(HookError::Backend),
                    Err(_) => Err(HookError::message("it does not answer")),
                }
            })
        }))
        .build()
}
