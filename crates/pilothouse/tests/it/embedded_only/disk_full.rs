//! A full disk leads to refusals, not to corruption: the disk of the server fills up while turns run, and is freed
//! again.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use rusqlite::OpenFlags;
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::ENGINE;
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{Ending, EventStream, ReceivedEvent, turn_of};
use crate::history::{history, rows};
use crate::namespace::MountNamespace;
use crate::server::{TEST_TIMEOUT, TestServer, eventually, refusal};
use crate::turn_requests::{send, status_of};

/// Room for the database, its write-ahead log, and the reserve that the server allocates for a full disk.
const DISK: &str = "48m";
const STREAMS: usize = 6;
const LONG: &str = "/stream count=1000000 size=200 delay_ms=5";
const SHORT: &str = "/stream count=3 size=4";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_full_disk_refuses_messages_fails_turns_and_recovers_when_there_is_room() {
    let folder = TempDir::new().expect("a temporary folder");
    let disk = folder.path().to_owned();
    let namespace =
        MountNamespace::with(&format!("mount -t tmpfs -o size={DISK} tmpfs {}", disk.display()));
    let data = disk.join("data");
    let settings = [
        ("PILOTHOUSE_DATA", data.to_str().expect("text")),
        ("NUM_COPILOT_WORKERS", "8"),
        ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "8"),
    ];
    let mut server = TestServer::under(ENGINE, namespace.wrapper(), &settings);
    let idle = server.session().await;
    let mut running = Vec::new();
    let mut reading = JoinSet::new();
    for _ in 0..STREAMS {
        let session = server.session().await;
        let mut stream = server.say(&session, LONG).await;
        let turn = turn_of(&stream);
        let first = stream.until_seen("text-delta").await;
        running.push((session, turn.clone()));
        reading.spawn(async move { (turn, read_on(stream, first).await) });
    }

    let filler = namespace.outside(&disk.join("filler"));
    let filled = fill(&filler);
    assert!(filled > 0);
    // The write-ahead log may have free pages, so some messages may still be accepted.
    let mut taken = Vec::new();
    let refused = eventually("a refusal", async || {
        let id = format!("m{}", taken.len());
        let answer = send(&server, &idle, &id, SHORT).send().await.expect("an answer");
        if answer.status() == 200 {
            taken.push(answer.headers()["x-turn-id"].to_str().expect("text").to_owned());
            return None;
        }
        assert_eq!(refusal(answer).await, (507, "STORAGE_FULL".into()));
        Some(id)
    })
    .await;
    let first = tokio::time::timeout(TEST_TIMEOUT, reading.join_next()).await;
    let first = first.expect("a turn ends although the disk is full").expect("there are some");
    let mut ended = vec![first.expect("it reads to the end")];
    let live = server.client.get(format!("{}/health/live", server.base())).send().await;
    assert_eq!(live.expect("an answer").status(), 200, "the process lives");

    std::fs::remove_file(&filler).expect("it is there");
    let accepted = eventually("an acceptance", async || {
        let answer = send(&server, &idle, &refused, SHORT).send().await.expect("an answer");
        (answer.status() == 200).then_some(answer)
    })
    .await;
    assert_eq!(
        assert_complete(&EventStream::of(accepted).all().await),
        TurnEnd::Finished("stop".into())
    );
    for turn in &taken {
        assert!(["completed", "failed"].contains(&status_of(&server, turn).await.as_str()));
    }
    let users = rows(&history(&server, &idle).await, "user").len();
    assert_eq!(users, taken.len() + 1, "a refused message is not stored");
    // Turns that waited for disk space continue, so they are canceled.
    for (session, _) in &running {
        server.cancel(session).await;
    }
    ended.extend(reading.join_all().await);
    let mut given_up = 0;
    for (turn, events) in ended {
        let status = status_of(&server, &turn).await;
        match assert_complete(&events) {
            TurnEnd::Failed(code) => {
                assert_eq!((code.as_str(), status.as_str()), ("storage_full", "failed"));
                given_up += 1;
            }
            TurnEnd::Aborted => assert_eq!(status, "cancelled"),
            TurnEnd::Finished(reason) => panic!("a turn without end finished with {reason}"),
        }
    }
    assert!(given_up > 0, "no turn failed because of the full disk");
    for (session, _) in &running {
        let next = server.say(session, SHORT).await.all().await;
        assert_eq!(
            assert_complete(&next),
            TurnEnd::Finished("stop".into()),
            "the session works again"
        );
        history(&server, session).await;
    }

    server.sigterm();
    assert_eq!(server.wait_for_exit(TEST_TIMEOUT).code(), Some(0));
    assert_eq!(integrity(&namespace.outside(&data.join("pilothouse.db"))), "ok");
}

/// Reads a stream to its end.
async fn read_on(mut stream: EventStream, mut seen: Vec<ReceivedEvent>) -> Vec<ReceivedEvent> {
    let (rest, ending) = stream.rest().await;
    assert_eq!(ending, Ending::Complete, "the stream is never aborted");
    seen.extend(rest);
    seen
}

/// Writes until the disk is full.
fn fill(path: &Path) -> usize {
    let mut file = File::create(path).expect("room for a name");
    let mut written = 0;
    for block in [vec![0u8; 64 * 1024], vec![0u8; 512]] {
        while let Ok(took @ 1..) = file.write(&block) {
            written += took;
        }
    }
    written
}

/// Checks a copy outside of the namespace, because SQLite cannot open a file through another namespace.
fn integrity(database: &Path) -> String {
    let folder = TempDir::new().expect("a temporary folder");
    let copy = folder.path().join("copy.db");
    std::fs::copy(database, &copy).expect("a database");
    let log = database.with_extension("db-wal");
    assert!(!log.exists(), "a graceful shutdown leaves no write-ahead log");
    let db = rusqlite::Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let db = db.expect("a database");
    db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("an answer")
}
