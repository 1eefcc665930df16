//! The program with chosen settings: run to completion, or serving until dropped.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reqwest::{Client, Response};
use serde_json::{Value, json};

use super::database::Database;

/// Longer than any step of these tests takes on a working machine.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().timeout(TEST_TIMEOUT).build().expect("a client")
}

#[derive(Clone)]
pub(crate) struct Program {
    folder: PathBuf,
    environment: Vec<(String, String)>,
}

/// Exit status and output of a command, stdout and stderr together.
pub(crate) struct CommandOutput {
    pub(crate) success: bool,
    pub(crate) text_output: String,
}

impl Program {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), environment: Vec::new() }
    }

    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds the settings of the test servers.
    pub(crate) fn on(self, database: &Database) -> Self {
        database.settings().iter().fold(self, |program, (name, value)| program.set(name, value))
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> CommandOutput {
        let output = self.command(arguments).output().expect("it runs");
        let text_output = [output.stdout, output.stderr].concat();
        CommandOutput {
            success: output.status.success(),
            text_output: String::from_utf8_lossy(&text_output).into_owned(),
        }
    }

    /// Runs without the environment of the caller, in a folder without a `.env`.
    #[expect(clippy::disallowed_methods, reason = "a test hands its own PATH on")]
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.environment.iter().cloned())
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        command
    }
}

impl CommandOutput {
    /// The line that begins with this text.
    pub(crate) fn line(&self, start: &str) -> &str {
        let found = self.text_output.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("no line begins with {start:?}:\n{}", self.text_output))
    }
}

pub(crate) struct RunningServer {
    child: Child,
    base: String,
}

impl RunningServer {
    pub(crate) fn start(program: &Program, arguments: &[&str]) -> Self {
        let mut command = program.command(arguments);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let url = lines.find_map(|line| {
            line.expect("text").trim().strip_prefix("URL").map(|url| url.trim().to_owned())
        });
        // Drains the rest of the output; otherwise the program would block on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, base: url.expect("it prints its URL") }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub(crate) async fn text(&self, path: &str) -> String {
        let response = client().get(self.url(path)).send().await.expect("an answer");
        response.text().await.expect("text")
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        serde_json::from_str(&self.text(&format!("/api/chat{path}")).await).expect("JSON")
    }

    pub(crate) async fn session(&self) -> String {
        let made = client().post(self.url("/api/chat/sessions")).send().await.expect("an answer");
        let made: Value = made.json().await.expect("JSON");
        made["id"].as_str().expect("an id").to_owned()
    }

    pub(crate) async fn say(&self, session: &str, message: &str) -> ResponseStream {
        let url = self.url(&format!("/api/chat/sessions/{session}/stream"));
        let sent = client().post(url).json(&json!({"message": message})).send();
        ResponseStream { response: sent.await.expect("an answer"), seen: String::new() }
    }

    pub(crate) async fn follow(&self, session: &str) -> ResponseStream {
        let url = self.url(&format!("/api/chat/sessions/{session}/stream"));
        let response = client().get(url).send().await.expect("an answer");
        ResponseStream { response, seen: String::new() }
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct ResponseStream {
    response: Response,
    seen: String,
}

impl ResponseStream {
    pub(crate) async fn until(&mut self, part: &str) {
        while !self.seen.contains(part) {
            let more = self.response.chunk().await.expect("bytes");
            let more = more.unwrap_or_else(|| panic!("{part:?} never came: {}", self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&more));
        }
    }

    pub(crate) async fn all(mut self) -> String {
        while let Some(more) = self.response.chunk().await.expect("bytes") {
            self.seen.push_str(&String::from_utf8_lossy(&more));
        }
        self.seen
    }
}
