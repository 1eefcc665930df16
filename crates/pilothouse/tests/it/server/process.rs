//! One process of the program, over all its starts: each with the same data and, if it serves the API, on the same
//! port.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Api, OutputLog, ServerProxies, TEST_TIMEOUT, TestStorage};

/// The role of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// All roles in one process, as in the embedded engine.
    Everything,
    Api,
    Executor,
}

pub(crate) struct Process {
    role: Role,
    storage: Arc<TestStorage>,
    /// Prefix of the program's command line, for example `nsenter`.
    wrapper: Vec<String>,
    environment: Vec<(String, String)>,
    proxies: Option<ServerProxies>,
    child: Option<Child>,
    announcement: Option<BufReader<ChildStdout>>,
    http: Option<Api>,
    log: OutputLog,
}

impl Process {
    pub(crate) fn new(
        role: Role,
        storage: &Arc<TestStorage>,
        wrapper: &[String],
        environment: &[(String, String)],
        proxies: Option<ServerProxies>,
    ) -> Self {
        Self {
            role,
            storage: storage.clone(),
            wrapper: wrapper.to_vec(),
            environment: environment.to_vec(),
            proxies,
            child: None,
            announcement: None,
            http: None,
            log: OutputLog::default(),
        }
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// A client for what it serves: the API, or the health and metrics routes of an executor.
    pub(crate) fn http(&self) -> &Api {
        self.http.as_ref().expect("it was started")
    }

    pub(crate) fn proxies(&self) -> &ServerProxies {
        self.proxies.as_ref().expect("a process that was spawned with proxies")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.child.is_some()
    }

    pub(crate) fn log(&self) -> &OutputLog {
        &self.log
    }

    /// Changes a setting for its next start.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Kills the process, which to it is like a power failure.
    pub(crate) fn kill9(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().expect("a child can be killed");
        child.wait().expect("a killed child ends");
    }

    pub(crate) fn sigterm(&self) {
        self.signal(Signal::TERM);
    }

    /// Suspends the process, like a machine that hangs.
    pub(crate) fn pause(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(self.child.as_ref().expect("it runs"));
        kill_process(pid, signal).expect("the process can be signaled");
    }

    /// Waits for the exit that `sigterm` requested.
    pub(crate) fn wait_for_exit(&mut self, timeout: Duration) -> ExitStatus {
        let mut child = self.child.take().expect("it runs");
        let status = wait(&mut child, timeout);
        if status.is_none() {
            let _ = child.kill();
        }
        status.unwrap_or_else(|| {
            panic!("the process has not ended after {timeout:?}; log:\n{}", self.log.text())
        })
    }

    pub(crate) fn restart(&mut self) {
        if self.is_running() {
            self.kill9();
        }
        self.launch();
        self.await_start();
    }

    /// Starts the process without waiting for it, so that others can start at the same time.
    pub(crate) fn launch(&mut self) {
        let port = self.http.as_ref().map_or("0", |http| {
            http.base().rsplit(':').next().expect("an address ends with a port")
        });
        let arguments: &[&str] = match self.role {
            Role::Everything => &["serve", "--port", port],
            Role::Api => &["serve", "--role", "api", "--port", port],
            Role::Executor => &["serve", "--role", "executor"],
        };
        let mut environment = Vec::new();
        if self.role == Role::Executor {
            environment.push(("COPILOT_EXECUTOR_PORT".to_owned(), "0".to_owned()));
        }
        environment.extend_from_slice(&self.environment);
        environment.extend_from_slice(self.proxies.as_ref().map_or(&[], ServerProxies::settings));
        let mut child = self
            .storage
            .command_under(&self.wrapper, &environment, arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        self.log.follow(child.stderr.take().expect("piped"));
        self.announcement = child.stdout.take().map(BufReader::new);
        self.child = Some(child);
    }

    /// Waits until the process prints its URL.
    pub(crate) fn await_start(&mut self) {
        let mut announcement = self.announcement.take().expect("it was launched");
        let base = loop {
            let mut line = String::new();
            if announcement.read_line(&mut line).expect("text") == 0 {
                let _ = self.child.take().map(|mut child| child.wait());
                panic!("the {:?} did not start; log:\n{}", self.role, self.log.text());
            }
            if let Some(url) = line.trim().strip_prefix("URL") {
                break url.trim().to_owned();
            }
        };
        // A new client: the connections of the previous start are dead, and detecting that would cost a request.
        self.http = Some(Api::at(base));
        // Drains the rest; the pipe must stay open or the server could not write to it.
        std::thread::spawn(move || std::io::copy(&mut announcement, &mut std::io::sink()));
    }
}

impl Drop for Process {
    #[expect(clippy::disallowed_macros, reason = "the log explains why a test failed")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("log of the {:?}:\n{}", self.role, self.log.text());
        }
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub(crate) fn wait(child: &mut Child, timeout: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + timeout;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().expect("the status can be read") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    None
}

/// The error output of a server that refuses to start.
pub(crate) fn refused(mut command: Command) -> String {
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let status = wait(&mut child, TEST_TIMEOUT);
    let _ = child.kill();
    let output = child.wait_with_output().expect("the process has ended");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let status = status.unwrap_or_else(|| panic!("it keeps running instead of refusing: {said}"));
    assert!(!status.success() && status.code().is_some(), "{status}: {said}");
    said
}
