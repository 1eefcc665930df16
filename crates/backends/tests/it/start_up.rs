//! What the embedded backend refuses to start with, and what it takes over from the previous process.

use std::path::Path;
use std::time::Duration;

use pilothouse_backends::{ConnectError, ConnectOptions, ConnectedBackend, connect};
use ports::PortError;
use ports::stream_log::LogRead;
use protocol::secret::SecretText;
use testkit::conformance::GENEROUS;
use testkit::conformance::scene::*;

use crate::fixture::{assert_whole, raw_database};

async fn open(folder: &Path) -> ConnectedBackend {
    let options = ConnectOptions { caps: GENEROUS, ..ConnectOptions::embedded(folder) };
    connect(&options).await.expect("it opens")
}

async fn refused(options: &ConnectOptions) -> ConnectError {
    match connect(options).await {
        Ok(_) => panic!("it must not open"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_second_process_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = open(folder.path()).await;
    let error = refused(&ConnectOptions::embedded(folder.path())).await;
    assert!(matches!(error, ConnectError::InUse { .. }), "{error:?}");
    assert!(error.to_string().contains(&folder.path().display().to_string()), "{error}");
    first.backend.close().await.expect("close");
    open(folder.path()).await.backend.close().await.expect("close");
}

#[tokio::test]
async fn a_newer_database_is_refused_and_left_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    open(folder.path()).await.backend.close().await.expect("close");
    let database = raw_database(folder.path());
    database.execute_batch("PRAGMA user_version = 999").expect("a newer one");
    drop(database);
    let before = std::fs::read(folder.path().join("pilothouse.db")).expect("a file");
    let error = refused(&ConnectOptions::embedded(folder.path())).await;
    assert!(matches!(error, ConnectError::Newer { found: 999, .. }), "{error:?}");
    assert_eq!(std::fs::read(folder.path().join("pilothouse.db")).expect("a file"), before);
}

#[tokio::test]
async fn a_damaged_database_is_refused_with_restore_instructions() {
    let folder = tempfile::tempdir().expect("a folder");
    let connected = open(folder.path()).await;
    for _ in 0..50 {
        first_turn(&connected.ports).await;
    }
    connected.backend.close().await.expect("close");
    let file = folder.path().join("pilothouse.db");
    let good = std::fs::read(&file).expect("a file");

    let mut damaged = good.clone();
    let middle = damaged.len() / 2;
    damaged[4096..middle].fill(0xA5);
    for bytes in [damaged, b"this is not a database, but it is long enough to be one".repeat(20)] {
        std::fs::write(&file, bytes).expect("damage");
        let error = refused(&ConnectOptions::embedded(folder.path())).await;
        assert!(matches!(error, ConnectError::Damaged { .. }), "{error:?}");
        assert!(error.to_string().contains("backup"), "{error}");
    }
    std::fs::write(&file, good).expect("restored");
    open(folder.path()).await.backend.close().await.expect("close");
}

#[tokio::test]
async fn another_encryption_key_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let with = |key: Option<&str>| ConnectOptions {
        encryption_key: key.map(SecretText::from),
        ..ConnectOptions::embedded(folder.path())
    };
    for key in [None, Some("right"), Some("right")] {
        connect(&with(key)).await.expect("it opens").backend.close().await.expect("close");
    }
    assert!(matches!(refused(&with(Some("wrong"))).await, ConnectError::WrongKey { .. }));
    assert!(matches!(refused(&with(None)).await, ConnectError::KeyMissing { .. }));
    connect(&with(Some("right"))).await.expect("it opens").backend.close().await.expect("close");
    let stored = std::fs::read(folder.path().join("pilothouse.db")).expect("a file");
    assert!(!stored.windows(5).any(|bytes| bytes == b"right"), "the key itself is not stored");
}

#[tokio::test]
async fn an_unusable_directory_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a-file");
    std::fs::write(&file, "").expect("a file");
    let error = refused(&ConnectOptions::embedded(file.join("data"))).await;
    assert!(matches!(error, ConnectError::Directory { .. }), "{error:?}");
    assert!(error.to_string().contains("a-file"), "{error}");
}

#[tokio::test]
async fn after_close_every_call_returns_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let connected = open(folder.path()).await;
    let (ann, mine, turn) = first_turn(&connected.ports).await;
    let ports = connected.ports.clone();
    connected.backend.close().await.expect("close");
    let closed = |error| matches!(error, PortError::Closed);
    assert!(ports.sessions.get(&ann, &mine.id).await.is_err_and(closed));
    assert!(ports.turns.get(&ann, &turn.id).await.is_err_and(closed));
    assert!(ports.outbox.pushed(&[turn.id.into()], Duration::ZERO).await.is_err_and(closed));
    assert!(
        !folder.path().join("pilothouse.db-wal").exists(),
        "the write-ahead log was checkpointed"
    );
}

/// A copy of the files of an open backend equals what a crash would leave.
#[tokio::test]
async fn acknowledged_writes_survive_a_crash() {
    let folder = tempfile::tempdir().expect("a folder");
    let crashed = tempfile::tempdir().expect("a folder");
    let connected = open(folder.path()).await;
    let ports = &connected.ports;
    let (ann, mine, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    let said = segment(0, &["a", "b"]);
    ports.log.append(&turn.id.task(), claim.fence, said.clone()).await.expect("append");
    for name in ["pilothouse.db", "pilothouse.db-wal"] {
        std::fs::copy(folder.path().join(name), crashed.path().join(name)).expect("a copy");
    }

    let again = open(crashed.path()).await;
    assert_eq!(texts(&history(&again.ports, &ann, &mine.id).await), ["hello"]);
    let read = again.ports.log.read(&turn.id.task(), 0, 1000).await.expect("read");
    assert!(matches!(read, LogRead::Log { segments, .. } if segments == [said]));
    assert_eq!(
        again.ports.outbox.due(10, Duration::ZERO).await.expect("due"),
        [turn.id.clone().into()],
        "at once"
    );
    let taken = testkit::conformance::scene::claim(&again.ports, &turn.id).await;
    assert!(taken.fence > claim.fence);
    again.backend.close().await.expect("close");
    assert_whole(crashed.path());
    connected.backend.close().await.expect("close");
}
