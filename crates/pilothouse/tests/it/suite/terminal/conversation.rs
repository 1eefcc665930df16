//! A conversation in the terminal from its first line to its end, and across a restart of the server.

use std::time::Duration;

use super::{ENGINE, Terminal};
use crate::server::TestServer;

#[tokio::test]
async fn a_conversation_ends_when_its_input_is_closed() {
    let server = TestServer::start(ENGINE);
    let mut terminal = Terminal::open(&server, &[]);
    terminal.say("/think first");
    terminal.say("/stream count=2 size=5");
    drop(terminal.child.stdin.take());
    assert!(terminal.wait());
    terminal.shown.wait_for("Resume with: pilothouse chat --session ");
}

#[tokio::test]
async fn ctrl_c_cancels_the_turn_and_a_second_one_exits() {
    let server = TestServer::start(ENGINE);
    let mut terminal = Terminal::open(&server, &[]);
    terminal.shown.wait_for("> ");
    terminal.say("/stream count=100000 size=5 delay_ms=20");
    wait_until_running(&server).await;
    terminal.interrupt();
    terminal.shown.wait_for("(stopped)");
    terminal.interrupt();
    assert!(terminal.wait());
}

#[tokio::test]
async fn a_running_turn_is_resumed_in_the_terminal_across_a_restart() {
    let mut server = TestServer::start(ENGINE);
    let session = server.session().await;
    let mut events = server.say(&session, "/stream count=60 size=5 delay_ms=30").await;
    events.until("text-delta").await;
    let mut terminal = Terminal::open(&server, &["--session", &session]);
    terminal.shown.wait_for("> /stream count=60");
    server.restart();
    terminal.shown.wait_for("reconnected");
    terminal.shown.wait_for(&format!("Chat {session}."));
    drop(terminal.child.stdin.take());
    assert!(terminal.wait());
}

#[tokio::test]
async fn without_a_server_the_terminal_prints_how_to_start_one() {
    let mut server = TestServer::start(ENGINE);
    server.kill9();
    let mut terminal = Terminal::open(&server, &[]);
    assert!(!terminal.wait());
    terminal.shown.wait_for("pilothouse serve");
}

async fn wait_until_running(server: &TestServer) {
    let running = async {
        loop {
            let list = server.get("/chat/sessions").send().await.expect("an answer");
            let list: serde_json::Value = list.json().await.expect("JSON");
            if list["sessions"][0]["chat_status"] == "running" {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), running).await.expect("it runs");
}
