//! A broker for one test, which can be stopped, frozen and restarted.

use std::collections::HashSet;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lapin::{Connection, ConnectionProperties};
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

const BINARIES: &str = "/usr/lib/rabbitmq/bin";
const START: Duration = Duration::from_secs(60);

pub(crate) struct PrivateBroker {
    folder: TempDir,
    ports: [u16; 3],
    running: Option<Child>,
    /// Erlang's name server. The node would start one that outlives it.
    names: Child,
}

impl PrivateBroker {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let taken = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
        let ports = taken.each_ref().map(|port| port.local_addr().expect("an address").port());
        drop(taken);
        std::fs::write(folder.path().join("plugins"), "[].").expect("a file");
        let names = Command::new("epmd")
            .args(["-port", &ports[2].to_string(), "-address", "127.0.0.1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Erlang is installed");
        let mut broker = Self { folder, ports, running: None, names };
        broker.resume_from_stop().await;
        broker
    }

    pub(crate) fn url(&self) -> String {
        format!("amqp://guest:guest@127.0.0.1:{}/%2f", self.ports[0])
    }

    /// Starts it on its existing data, and waits until it accepts clients.
    pub(crate) async fn resume_from_stop(&mut self) {
        use std::os::unix::process::CommandExt;
        let log = std::fs::File::create(self.folder.path().join("out")).expect("a file");
        let child = self
            .command("rabbitmq-server")
            .stdout(log.try_clone().expect("a file"))
            .stderr(log)
            .process_group(0)
            .spawn()
            .expect("RabbitMQ is installed");
        self.running = Some(child);
        let connecting = async {
            while Connection::connect(&self.url(), ConnectionProperties::default()).await.is_err() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(START, connecting).await.expect("the broker starts");
    }

    /// Kills the process, as a power failure would.
    pub(crate) fn stop(&mut self) {
        self.signal(Signal::KILL);
        if let Some(mut child) = self.running.take() {
            child.wait().expect("it ends");
        }
    }

    /// Its sockets stay open, but it does not reply.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// Local ports of the clients that are connected or connecting.
    pub(crate) fn clients(&self) -> HashSet<u16> {
        let table = std::fs::read_to_string("/proc/self/net/tcp").expect("this is Linux");
        let port = |address: &str| u16::from_str_radix(address.rsplit(':').next()?, 16).ok();
        let client = |connection_state: &str| {
            let mut columns = connection_state.split_whitespace().skip(1);
            let (local, remote) = (port(columns.next()?)?, port(columns.next()?)?);
            (remote == self.ports[0]).then_some(local)
        };
        table.lines().skip(1).filter_map(client).collect()
    }

    pub(crate) async fn control(&self, arguments: &[&str]) {
        let mut command = self.command("rabbitmqctl");
        command.args(arguments);
        let running = tokio::task::spawn_blocking(move || command.output());
        // The command starts an Erlang node of its own, as the broker does.
        let output = tokio::time::timeout(START, running).await.expect("in time");
        let output = output.expect("no panic").expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn signal(&self, signal: Signal) {
        if let Some(child) = &self.running {
            let group = Pid::from_raw(child.id() as i32).expect("a process");
            kill_process_group(group, signal).expect("it is ours");
        }
    }

    fn command(&self, program: &str) -> Command {
        let folder = self.folder.path();
        let mut command = Command::new(Path::new(BINARIES).join(program));
        command
            .stdin(Stdio::null())
            .env("HOME", folder)
            .env("RABBITMQ_NODENAME", format!("private-{}@localhost", self.ports[0]))
            .env("RABBITMQ_MNESIA_BASE", folder.join("mnesia"))
            .env("RABBITMQ_LOG_BASE", folder.join("log"))
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", folder.join("plugins"))
            .env("RABBITMQ_CONFIG_FILE", folder.join("conf"))
            .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_NODE_PORT", self.ports[0].to_string())
            .env("RABBITMQ_DIST_PORT", self.ports[1].to_string())
            .env("ERL_EPMD_PORT", self.ports[2].to_string());
        command
    }
}

impl Drop for PrivateBroker {
    fn drop(&mut self) {
        self.stop();
        let _ = self.names.kill();
        let _ = self.names.wait();
    }
}
