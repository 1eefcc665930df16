//! A server under test: the real binary on a free port, killed when it goes out of scope.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::events::Events;

/// Nothing in these tests takes longer on a machine that works.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct TestServer {
    pub(crate) client: Client,
    base: String,
    child: Option<Child>,
    data: TempDir,
    environment: Vec<(String, String)>,
    /// Stands in front of the program's own command line, as `nsenter` does.
    wrapper: Vec<String>,
    log: Log,
}

impl TestServer {
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// With further settings in the environment.
    pub(crate) fn with(environment: &[(&str, &str)]) -> Self {
        Self::under(&[], environment)
    }

    /// Started by another program, which must become the server and keep its process id.
    pub(crate) fn under(wrapper: &[String], environment: &[(&str, &str)]) -> Self {
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let mut server = Self {
            client: client(),
            base: String::new(),
            child: None,
            data: TempDir::new().expect("a temporary folder"),
            environment,
            wrapper: wrapper.to_vec(),
            log: Log::default(),
        };
        server.launch("0");
        server
    }

    /// `http://127.0.0.1:PORT`
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    pub(crate) fn api(&self, path: &str) -> String {
        format!("{}/api{path}", self.base)
    }

    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// Everything the server has logged, over all its lives.
    pub(crate) fn log(&self) -> String {
        self.log.text()
    }

    /// Returns when the server has logged this.
    pub(crate) fn wait_for_log(&self, part: &str) {
        self.log.wait_for(part);
    }

    /// As if the machine had lost power, as far as a process can tell.
    pub(crate) fn kill9(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().expect("a child can be killed");
        child.wait().expect("a killed child ends");
    }

    pub(crate) fn sigterm(&self) {
        let pid = rustix::process::Pid::from_child(self.child.as_ref().expect("it runs"));
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it can be told");
    }

    /// Waits for the end that `sigterm` asked for.
    pub(crate) fn wait_for_exit(&mut self, at_most: Duration) -> ExitStatus {
        let mut child = self.child.take().expect("it runs");
        let status = wait(&mut child, at_most);
        if status.is_none() {
            let _ = child.kill();
        }
        status.unwrap_or_else(|| {
            panic!("the server has not ended after {at_most:?}; log:\n{}", self.log())
        })
    }

    /// The same data directory, the same port, a new process.
    pub(crate) fn restart(&mut self) {
        if self.child.is_some() {
            self.kill9();
        }
        let port = self.base.rsplit(':').next().expect("a port").to_owned();
        self.launch(&port);
    }

    /// Other settings for the next `restart`.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// The program on the same data directory and with the same settings, for one of its commands.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        wrapped(&self.wrapper, self.data.path(), &self.environment, arguments)
    }

    fn launch(&mut self, port: &str) {
        let mut child = self
            .command(&["serve", "--port", port])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        self.log.follow(child.stderr.take().expect("piped"));
        let mut announcement = BufReader::new(child.stdout.take().expect("piped"));
        loop {
            let mut line = String::new();
            if announcement.read_line(&mut line).expect("text") == 0 {
                let _ = child.wait();
                panic!("the server did not start; log:\n{}", self.log());
            }
            if let Some(url) = line.trim().strip_prefix("URL") {
                self.base = url.trim().to_owned();
                break;
            }
        }
        // The connections of the life before are dead, and finding that out costs a request.
        self.client = client();
        // Nobody reads the rest; the pipe must stay open or the server could not write to it.
        std::thread::spawn(move || std::io::copy(&mut announcement, &mut std::io::sink()));
        self.child = Some(child);
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What most tests do.
impl TestServer {
    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.api(path))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client.post(self.api(path)).json(body)
    }

    pub(crate) async fn session(&self) -> String {
        let response =
            self.client.post(self.api("/chat/sessions")).send().await.expect("an answer");
        id_of(response).await
    }

    /// Sends a message and gives the open stream.
    pub(crate) async fn say(&self, session: &str, text: &str) -> Events {
        let body = json!({"message": text});
        let path = format!("/chat/sessions/{session}/stream");
        Events::of(self.post(&path, &body).send().await.expect("an answer"))
    }

    pub(crate) async fn read_session(&self, session: &str) -> Value {
        json_of(self.get(&format!("/chat/sessions/{session}")).send().await.expect("an answer"))
            .await
    }

    pub(crate) async fn cancel(&self, session: &str) -> Value {
        let path = format!("/chat/sessions/{session}/cancel");
        json_of(self.client.post(self.api(&path)).send().await.expect("an answer")).await
    }
}

pub(crate) async fn id_of(response: Response) -> String {
    json_of(response).await["id"].as_str().expect("an id").to_owned()
}

pub(crate) async fn json_of(response: Response) -> Value {
    let status = response.status();
    assert!(status.is_success(), "{status}: {}", response.text().await.unwrap_or_default());
    response.json().await.expect("JSON")
}

/// The status and the code of a refusal.
pub(crate) async fn refusal(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let body: Value = response.json().await.unwrap_or_default();
    let code = body["code"].as_str().or(body["detail"]["code"].as_str()).unwrap_or_default();
    (status, code.to_owned())
}

pub(crate) fn client() -> Client {
    static TLS: Once = Once::new();
    TLS.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    Client::builder().no_proxy().timeout(PATIENCE * 2).build().expect("a client")
}

/// The binary with nothing of the tester's own environment, in a folder without a `.env`.
pub(crate) fn command(
    data: &Path,
    environment: &[(String, String)],
    arguments: &[&str],
) -> Command {
    wrapped(&[], data, environment, arguments)
}

#[expect(clippy::disallowed_methods, reason = "a test hands its own PATH on")]
fn wrapped(
    wrapper: &[String],
    data: &Path,
    environment: &[(String, String)],
    arguments: &[&str],
) -> Command {
    let line: Vec<&str> = wrapper
        .iter()
        .map(String::as_str)
        .chain([env!("CARGO_BIN_EXE_pilothouse")])
        .chain(arguments.iter().copied())
        .collect();
    let mut command = Command::new(line[0]);
    command
        .args(&line[1..])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("PILOTHOUSE_DATA", data.join("data"))
        .envs(environment.iter().cloned())
        .current_dir(data)
        .stdin(Stdio::null());
    command
}

pub(crate) fn wait(child: &mut Child, at_most: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + at_most;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().expect("a child can be asked") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    None
}

/// Text that somebody else is still writing.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<(Mutex<String>, Condvar)>);

impl Log {
    pub(crate) fn follow(&self, from: impl Read + Send + 'static) {
        let log = self.clone();
        std::thread::spawn(move || {
            let mut from = from;
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
                log.0.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
                log.0.1.notify_all();
            }
        });
    }

    pub(crate) fn text(&self) -> String {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn wait_for(&self, part: &str) {
        let text = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, timeout) = self
            .0
            .1
            .wait_timeout_while(text, PATIENCE, |text| !text.contains(part))
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "{part:?} did not appear in:\n{}", *text);
    }
}
