//! Clients that never read cost one socket and a bounded buffer each: the turn does not wait for them, memory does not
//! grow with them, and their connections are aborted at the end.

use tokio::net::TcpStream;

use super::{ENGINE, ask, assert_files_return, drain, forget_peak, memory, open_files};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::text_of;
use crate::server::TestServer;

const CLIENTS: usize = 60;
const DELTAS: usize = 2500;
const SIZE: usize = 10_000;
const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn a_turn_does_not_wait_for_clients_that_do_not_read_and_memory_does_not_grow_with_them() {
    let server = TestServer::with(ENGINE, &[("CHAT_WRITE_STALL_SECONDS", "2")]);
    let alone = long_turn(&server, 0).await;
    let files = open_files(&server);
    let with_stalled = long_turn(&server, CLIENTS).await;
    let grown = with_stalled.saturating_sub(alone);
    assert!(grown < 100 * MIB, "{} MiB for {CLIENTS} clients", grown / MIB);
    assert_files_return(&server, files).await;
}

/// Runs a turn with one reader and this many clients that never read. Returns the peak memory.
async fn long_turn(server: &TestServer, clients: usize) -> usize {
    let session = server.session().await;
    forget_peak(server);
    let mut reader =
        server.say(&session, &format!("/stream count={DELTAS} size={SIZE} delay_ms=1")).await;
    reader.until("text-delta").await;
    let path = format!("GET /api/chat/sessions/{session}/stream");
    let mut stalled: Vec<TcpStream> =
        futures::future::join_all((0..clients).map(|_| ask(server, &path))).await;

    // Other clients are not affected: the one that reads, and another session.
    let other = server.session().await;
    let beside = server.say(&other, "/stream count=20 size=10").await.all().await;
    assert_eq!(assert_complete(&beside), TurnEnd::Finished("stop".to_owned()));
    let (rest, ending) = reader.rest().await;
    assert_eq!(ending, crate::events::Ending::Complete);
    let length = text_of(&rest).len();
    assert!(length > (DELTAS - 100) * SIZE, "the whole turn, {length} bytes");
    let peak = memory(server, "VmHWM");

    // Aborted, not closed: a partial stream must not look like a complete one.
    for stream in &mut stalled {
        let (got, ended) = drain(stream).await;
        assert!(ended.is_err() && !got.contains("[DONE]"), "{ended:?}");
    }
    peak
}
