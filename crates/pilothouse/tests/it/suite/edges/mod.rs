//! Robustness at the HTTP edge: readers that disconnect and reconnect, repeated messages, clients that do not read,
//! floods, and malicious input.

mod floods;
mod forgery;
mod malformed_input;
mod readers;
mod sending;
mod slow_clients;

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::{ENGINE, auth, ownership, scripted};
use crate::server::{Engine, TEST_TIMEOUT, TestServer};

/// A raw TCP connection with the smallest receive window the kernel allows.
async fn connect(server: &TestServer) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    let address = server.base().trim_start_matches("http://").parse().expect("an address");
    socket.connect(address).await.expect("a connection")
}

async fn ask(server: &TestServer, head: &str) -> TcpStream {
    let mut stream = connect(server).await;
    let host = server.base().trim_start_matches("http://");
    stream
        .write_all(format!("{head} HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes())
        .await
        .expect("sent");
    stream
}

/// All remaining bytes, and whether the connection was closed cleanly.
async fn drain(stream: &mut TcpStream) -> (String, std::io::Result<usize>) {
    let mut all = Vec::new();
    let ended = tokio::time::timeout(TEST_TIMEOUT, stream.read_to_end(&mut all))
        .await
        .expect("it ends in time");
    (String::from_utf8_lossy(&all).into_owned(), ended)
}

fn open_files(server: &TestServer) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", server.pid())).expect("it runs").count()
}

/// Waits until the server has no more open files than before, plus its own: a few, and pooled database connections, which
/// it opens on demand and keeps. With the embedded engine these are four readers with two files each.
async fn assert_files_return(server: &TestServer, before: usize) {
    let own = match ENGINE {
        Engine::Embedded => 3 + 4 * 2,
        Engine::Distributed => 3 + 16,
    };
    until("files are closed", || open_files(server) <= before + own).await;
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, waiting)
        .await
        .unwrap_or_else(|_| panic!("not in time: {what}"));
}

/// A memory value of the server in bytes: `VmRSS`, or `VmHWM` for the peak.
fn memory(server: &TestServer, name: &str) -> usize {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("it runs");
    let line =
        status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
}

/// Resets the peak memory counter.
fn forget_peak(server: &TestServer) {
    std::fs::write(format!("/proc/{}/clear_refs", server.pid()), "5")
        .expect("the process belongs to this user");
}
