//! Starting on a database that is empty, newer, protected by a key, or unreachable.

use std::sync::Arc;
use std::time::Instant;

use futures::future::join_all;
use ports::{PortError, Sessions};
use protocol::limits::UserLimits;
use testkit::conformance::scene;

use super::database::{CAPS, Database};
use super::feed::Silent;
use crate::connect::ConnectError;
use crate::local::clock::SystemClock;
use crate::postgres::pool::pool;
use crate::postgres::{PostgresStore, schema};

async fn refused(database: &Database, key: Option<&str>) -> ConnectError {
    match database.try_connect(CAPS, key).await {
        Ok(_) => panic!("it must not open"),
        Err(error) => error,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_start_together_migrate_the_database_once() {
    let database = Database::create().await;
    let stores = join_all((0..5).map(|_| database.connect())).await;
    for store in &stores {
        assert_eq!(store.failing().await, None);
    }
    let schema = database.sql("SELECT value FROM meta WHERE name = 'schema'").await;
    assert_eq!(schema[0].get::<_, String>(0), schema::VERSION.to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_database_is_refused_and_left_unchanged() {
    let database = Database::create().await;
    database.connect().await.close().await;
    database.sql("UPDATE meta SET value = '99' WHERE name = 'schema'").await;
    let error = refused(&database, None).await;
    assert!(matches!(error, ConnectError::Newer { found: 99, .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_opens_only_with_the_key_of_its_first_use() {
    let database = Database::create().await;
    database.connect().await.close().await;
    for _ in 0..2 {
        database.try_connect(CAPS, Some("right")).await.expect("the key").close().await;
    }
    let wrong = refused(&database, Some("wrong")).await;
    assert!(matches!(wrong, ConnectError::WrongKey { .. }), "{wrong}");
    let none = refused(&database, None).await;
    assert!(matches!(none, ConnectError::KeyMissing { .. }), "{none}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_without_postgres_says_what_to_check_and_repeats_no_password() {
    let url = "postgres://someone:secret@127.0.0.1:1/somewhere";
    let clock = Arc::new(SystemClock);
    let refused = PostgresStore::connect(url, 2, None, CAPS, clock, Arc::new(Silent)).await;
    let Err(error) = refused else { panic!("there is no server") };
    let text = error.to_string();
    assert!(text.contains("127.0.0.1:1/somewhere") && text.contains("check that"), "{text}");
    assert!(!text.contains("secret") && !text.contains("someone"), "{text}");
    let clock = Arc::new(SystemClock);
    let refused =
        PostgresStore::connect("postgres://:x@/?y=secret", 2, None, CAPS, clock, Arc::new(Silent));
    let Err(error) = refused.await else { panic!("the address is invalid") };
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_never_responds_is_unavailable_within_the_time_limit() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let config = format!("postgres://someone@{address}/somewhere").parse().expect("a URL");
    let pool = pool(config, 4).expect("a pool");
    let caps = UserLimits::default();
    let store = PostgresStore::over(pool, caps, Arc::new(SystemClock), Arc::new(Silent));
    let started = Instant::now();
    let owner = scene::user("ann");
    let calls = join_all((0..12).map(|_| store.create(&owner, Default::default()))).await;
    let took = started.elapsed();
    assert!(calls.iter().all(|call| matches!(call, Err(PortError::Unavailable(_)))), "{calls:?}");
    assert!(took < scene::BOUNDED, "{took:?}");
    let failing = store.failing().await.expect("it fails");
    assert_eq!(failing.name, "postgres");
}
