//! Calls whose server or caller goes away half-way.

use std::time::Duration;

use ports::stream_log::StreamLog;
use ports::{PortError, Sessions, Turns};
use protocol::session::{Owner, Session};
use testkit::conformance::scene;
use tokio_postgres::Client;

use super::database::{Database, admin};
use super::fixture::ports;
use crate::postgres::PostgresStore;

/// A database with one session of Ann.
async fn database_with_session() -> (Database, PostgresStore, Owner, Session) {
    let database = Database::create().await;
    let store = database.connect().await;
    let ann = scene::user("ann");
    let session = store.create(&ann, Default::default()).await.expect("create");
    (database, store, ann, session)
}

/// Another transaction holds the row of the session until it is rolled back.
async fn lock_session(database: &Database, session: &Session) -> Client {
    let other = admin(&database.url()).await;
    let lock = format!("BEGIN; SELECT 1 FROM session WHERE id = '{}' FOR UPDATE", session.id);
    other.batch_execute(&lock).await.expect("held");
    other
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_after_its_connections_were_closed_gets_a_new_one() {
    let (database, store, ann, session) = database_with_session().await;
    for _ in 0..5 {
        database
            .sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = 'pilothouse'",
            )
            .await;
        assert_eq!(
            Sessions::get(&store, &ann, &session.id).await.expect("a read is retried"),
            Some(session.clone())
        );
        // A write is not retried, because it may have taken effect; at most one finds a closed connection.
        let written = store.set_pinned(&ann, &session.id, false).await;
        assert!(matches!(written, Ok(true) | Err(PortError::Unavailable(_))), "{written:?}");
        assert!(store.set_pinned(&ann, &session.id, false).await.expect("the next works"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_connection_is_closed_half_way_is_unavailable() {
    let (database, store, ann, session) = database_with_session().await;
    // The write waits until its connection is closed.
    let other = lock_session(&database, &session).await;
    let writing = store.set_pinned(&ann, &session.id, true);
    let ending = scene::eventually("the write waits and its connection is closed", || async {
        let ended = database
            .sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND wait_event_type = 'Lock'",
            )
            .await;
        (!ended.is_empty()).then_some(())
    });
    let (written, ()) = tokio::join!(writing, ending);
    assert!(matches!(written, Err(PortError::Unavailable(_))), "{written:?}");
    other.batch_execute("ROLLBACK").await.expect("released");
    assert!(store.set_pinned(&ann, &session.id, true).await.expect("the next works"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_waits_too_long_is_aborted_and_leaves_nothing_behind() {
    let (database, store, ann, session) = database_with_session().await;
    let other = lock_session(&database, &session).await;
    let started = std::time::Instant::now();
    let opened = store.open(&ann, scene::submission(&session.id, "hello", None)).await;
    assert!(matches!(opened, Err(PortError::Unavailable(_))), "{opened:?}");
    assert!(started.elapsed() < scene::BOUNDED);
    other.batch_execute("ROLLBACK").await.expect("released");
    let folder = tempfile::tempdir().expect("a folder");
    let ports = ports(store, folder.path()).await;
    scene::turn(&ports, &ann, &session.id, "again").await;
    assert_eq!(scene::texts(&scene::history(&ports, &ann, &session.id).await), ["again"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_caller_is_gone_completes() {
    let database = Database::create().await;
    let store = database.connect().await;
    let folder = tempfile::tempdir().expect("a folder");
    let ports = ports(store.clone(), folder.path()).await;
    let ann = scene::user("ann");
    let session = scene::session(&ports, &ann).await;
    for n in 0..20 {
        let new = scene::submission(&session.id, &format!("message {n}"), None);
        // Polled once, so that it has started, and dropped.
        let opening = store.open(&ann, new);
        let _ = tokio::time::timeout(Duration::ZERO, opening).await;
    }
    scene::eventually("every message is stored", || async {
        (scene::history(&ports, &ann, &session.id).await.len() == 20).then_some(())
    })
    .await;
    assert_eq!(store.pool.status().size, store.pool.status().available, "all are back in the pool");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_written_after_close() {
    let database = Database::create().await;
    let store = database.connect().await;
    let ann = scene::user("ann");
    store.take_over(&"log".into(), 1).await.expect("take over");
    store.close().await;
    assert!(matches!(store.create(&ann, Default::default()).await, Err(PortError::Closed)));
    let late = store.append(&"log".into(), 1, scene::segment(0, &["late"])).await;
    assert!(matches!(late, Err(PortError::Closed)), "{late:?}");
    assert!(matches!(Sessions::get(&store, &ann, &"any".into()).await, Err(PortError::Closed)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nul_in_any_text_is_replaced() {
    let database = Database::create().await;
    let store = database.connect().await;
    let ann = scene::user("an\0n");
    let session = store.create(&ann, Default::default()).await.expect("create");
    let title = ports::store::TitleChange::ByUser("a\0b".to_owned());
    assert!(store.set_title(&ann, &session.id, title).await.expect("title"));
    let found = Sessions::get(&store, &ann, &session.id).await.expect("get").expect("there");
    assert_eq!(found.title.as_deref(), Some("a\u{FFFD}b"));
    assert_eq!(Sessions::get(&store, &ann, &"no\0such".into()).await.expect("get"), None);
}
