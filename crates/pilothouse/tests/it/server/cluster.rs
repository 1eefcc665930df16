//! All processes of one installation; a test can address, kill and restart each of them.

use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use testkit::services::TestServerUrls;

use super::process::{Process, Role};
use super::{Engine, ServerProxies, TestStorage};

pub(crate) struct Cluster {
    // Declared before the test environment, so that the processes are dropped before its folder and database.
    processes: Vec<Process>,
    storage: Arc<TestStorage>,
    wrapper: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Cluster {
    /// An installation without processes, with settings for all its processes.
    pub(crate) fn empty(engine: Engine, wrapper: &[String], environment: &[(&str, &str)]) -> Self {
        Self {
            processes: Vec::new(),
            storage: Arc::new(TestStorage::new(engine)),
            wrapper: wrapper.to_vec(),
            environment: owned(environment),
        }
    }

    /// The same on these servers, some of which may belong to this test alone.
    pub(crate) fn on(urls: &TestServerUrls, environment: &[(&str, &str)]) -> Self {
        Self {
            processes: Vec::new(),
            storage: Arc::new(TestStorage::on(urls)),
            wrapper: Vec::new(),
            environment: owned(environment),
        }
    }

    /// Starts the minimal set of processes for the engine.
    pub(crate) fn start(engine: Engine, wrapper: &[String], environment: &[(&str, &str)]) -> Self {
        let mut cluster = Self::empty(engine, wrapper, environment);
        let roles: &[Role] = match engine {
            Engine::Embedded => &[Role::Everything],
            Engine::Distributed => &[Role::Api, Role::Executor],
        };
        for role in roles {
            cluster.add(*role, &[], None);
        }
        cluster.launch_all();
        cluster
    }

    /// Starts one more process, with additional settings.
    pub(crate) fn spawn(&mut self, role: Role, environment: &[(&str, &str)]) -> &mut Process {
        self.add(role, environment, None);
        self.started_last()
    }

    /// Starts one more process, whose connections to the servers can be broken.
    pub(crate) fn spawn_with_proxies(
        &mut self,
        role: Role,
        environment: &[(&str, &str)],
    ) -> &mut Process {
        let proxies = ServerProxies::to(self.storage.urls());
        self.add(role, environment, Some(proxies));
        self.started_last()
    }

    pub(crate) fn api(&self, number: usize) -> &Process {
        self.of_role(|role| role != Role::Executor, number)
    }

    pub(crate) fn api_mut(&mut self, number: usize) -> &mut Process {
        let apis = self.processes.iter_mut().filter(|process| process.role() != Role::Executor);
        apis.into_iter().nth(number).expect("an API process with this number")
    }

    pub(crate) fn executor(&self, number: usize) -> &Process {
        self.of_role(|role| role != Role::Api, number)
    }

    pub(crate) fn executor_mut(&mut self, number: usize) -> &mut Process {
        let executors = self.processes.iter_mut().filter(|process| process.role() != Role::Api);
        executors.into_iter().nth(number).expect("an executor with this number")
    }

    pub(crate) fn storage(&self) -> &TestStorage {
        &self.storage
    }

    /// A command of the program, with the same settings.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.storage.command_under(&self.wrapper, &self.environment, arguments)
    }

    /// Changes a setting for the next start of every process.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
        for process in &mut self.processes {
            process.set(name, value);
        }
    }

    pub(crate) fn kill9(&mut self) {
        for process in &mut self.processes {
            process.kill9();
        }
    }

    pub(crate) fn sigterm(&self) {
        for process in &self.processes {
            process.sigterm();
        }
    }

    /// Waits until all have exited. Returns the first unsuccessful status, or else the common one.
    pub(crate) fn wait_for_exit(&mut self, timeout: Duration) -> ExitStatus {
        let deadline = Instant::now() + timeout;
        let ends: Vec<ExitStatus> = self
            .processes
            .iter_mut()
            .map(|process| {
                process.wait_for_exit(deadline.saturating_duration_since(Instant::now()))
            })
            .collect();
        let bad = ends.iter().find(|status| !status.success());
        *bad.or(ends.first()).expect("there are processes")
    }

    pub(crate) fn restart(&mut self) {
        for process in self.processes.iter_mut().filter(|process| process.is_running()) {
            process.kill9();
        }
        self.launch_all();
    }

    /// The logs of all processes, one after another, over all their starts.
    pub(crate) fn log(&self) -> String {
        self.processes.iter().map(|process| process.log().text()).collect()
    }

    /// Returns when every process has logged this.
    pub(crate) fn wait_for_log(&self, part: &str) {
        for process in &self.processes {
            process.log().wait_for(part);
        }
    }

    fn add(&mut self, role: Role, environment: &[(&str, &str)], proxies: Option<ServerProxies>) {
        let environment = [self.environment.clone(), owned(environment)].concat();
        let process = Process::new(role, &self.storage, &self.wrapper, &environment, proxies);
        self.processes.push(process);
    }

    /// Starts all processes at the same time, as an orchestrator does.
    fn launch_all(&mut self) {
        self.processes.iter_mut().for_each(Process::launch);
        self.processes.iter_mut().for_each(Process::await_start);
    }

    fn started_last(&mut self) -> &mut Process {
        let last = self.processes.last_mut().expect("a process was added");
        last.launch();
        last.await_start();
        last
    }

    fn of_role(&self, fits: impl Fn(Role) -> bool, number: usize) -> &Process {
        let found = self.processes.iter().filter(|process| fits(process.role())).nth(number);
        found.expect("a process of this role with this number")
    }
}

fn owned(environment: &[(&str, &str)]) -> Vec<(String, String)> {
    environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
