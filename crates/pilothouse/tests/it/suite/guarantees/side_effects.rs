//! The effect of a tool is never silently repeated: the server is killed while a tool runs.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::model_server::{ModelServer, Script};

use super::{ENGINE, server_for, workspace_file};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::turn_of;
use crate::history::{history, rows};
use crate::namespace::MountNamespace;
use crate::scripts::model_settings;
use crate::server::{TestServer, eventually};
use crate::turn_requests::{follow_after, send_and_follow};

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_shell_command_is_not_repeated_and_the_model_is_told() {
    let model = ModelServer::start().await;
    let command = json!({"command": "echo done >> effects.txt; sleep 60"});
    model.enqueue(Script::tool("call_1", "bash_exec", &command));
    model.enqueue(Script::text("I cannot tell whether it happened."));
    let mut server = server_for(&model, &[]);
    let session = server.session().await;
    let mut stream = send_and_follow(&server, &session, "m1", "do it").await;
    let asked = stream.until_seen("tool-input-available").await;
    let effects = eventually("the effect", async || workspace_file(&server, "effects.txt")).await;
    eventually("its line", async || lines(&effects).eq(&1).then_some(())).await;
    let turn = turn_of(&stream);
    server.restart();

    let rest = follow_after(&server, &turn, asked.last().expect("events").id).await.all().await;
    assert_eq!(assert_complete(&[asked, rest].concat()), TurnEnd::Finished("stop".into()));
    assert_eq!(lines(&effects), 1, "it ran once");
    let history = history(&server, &session).await;
    assert_eq!(outcomes(&history), ["interrupted"]);
    let told = model.requests()[1].tool_results();
    assert!(told[0].1.contains("may or may not have happened"), "{told:?}");
    model.assert_no_violations();
}

/// A name lookup reads the resolver's configuration, which is a pipe here: the tool blocks on it as long as the test
/// wants.
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_tool_without_effect_runs_again() {
    let folder = TempDir::new().expect("a temporary folder");
    let pipe = folder.path().join("resolv.conf");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is part of coreutils");
    assert!(made.success());
    let namespace =
        MountNamespace::with(&format!("mount --bind {} /etc/resolv.conf", pipe.display()));
    let model = ModelServer::start().await;
    let url = json!({"url": "http://somewhere.example/"});
    model.enqueue(Script::tool("call_1", "web_fetch", &url));
    model.enqueue(Script::text("It is not to be had."));
    let mut server =
        TestServer::under(ENGINE, namespace.wrapper(), &model_settings(&model.openai_url(), &[]));
    let session = server.session().await;
    let mut stream = send_and_follow(&server, &session, "m1", "fetch it").await;
    let asked = stream.until_seen("tool-input-available").await;
    let turn = turn_of(&stream);
    let first_run = eventually("the tool at work", async || write_end(&pipe)).await;
    server.kill9();
    drop(first_run);
    server.restart();

    let mut second_run = eventually("the tool at work again", async || write_end(&pipe)).await;
    second_run.write_all(NO_RESOLVER).expect("the tool waits for it");
    drop(second_run);
    let rest = follow_after(&server, &turn, asked.last().expect("events").id).await;
    let rest = tokio::select! {
        rest = rest.all() => rest,
        () = keep_writing(&pipe) => unreachable!("it never returns"),
    };
    assert_eq!(assert_complete(&[asked, rest].concat()), TurnEnd::Finished("stop".into()));
    let history = history(&server, &session).await;
    assert_eq!(outcomes(&history), ["error"], "it ran to completion: the name has no address");
    model.assert_no_violations();
}

/// No server answers there, so every lookup fails at once.
const NO_RESOLVER: &[u8] = b"nameserver 127.0.0.1\noptions attempts:1 timeout:1\n";

/// Writes repeatedly, because one lookup may read the file more than once.
async fn keep_writing(pipe: &Path) {
    loop {
        if let Some(mut again) = write_end(pipe) {
            let _ = again.write_all(NO_RESOLVER);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Opens only while another process has the pipe open for reading.
fn write_end(pipe: &Path) -> Option<File> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).expect("a small number");
    OpenOptions::new().write(true).custom_flags(flags).open(pipe).ok()
}

fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).expect("a text").lines().count()
}

fn outcomes(history: &[Value]) -> Vec<&str> {
    rows(history, "tool").iter().filter_map(|row| row["outcome"].as_str()).collect()
}
