//! A private RabbitMQ broker: its own node name, cookie, folders, and Erlang port mapper (epmd).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::Signal;
use tempfile::TempDir;
use uuid::Uuid;

use super::ports::{free_port, loopback};
use super::process::ServerProcess;
use super::program::find;

const PACKAGE: &str = "rabbitmq-server";
const READY_WITHIN: Duration = Duration::from_secs(120);
const STOPPED_WITHIN: Duration = Duration::from_secs(20);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// A test broker stores little, so a nearly full disk must not block its publishers.
const CONFIGURATION: &str = "\
vm_memory_high_watermark.absolute = 512MB
disk_free_limit.absolute = 1MB
raft.wal_max_size_bytes = 8388608
collect_statistics = none
";

pub struct RabbitMqServer {
    process: ServerProcess,
    _mapper: ServerProcess,
    node: BrokerNode,
}

/// Settings shared by the broker and the programs that control it.
struct BrokerNode {
    server: PathBuf,
    control: PathBuf,
    folder: TempDir,
    name: String,
    port: u16,
    peer_port: u16,
    mapper_port: u16,
}

impl RabbitMqServer {
    pub fn start() -> Result<Self> {
        let mut broker = Self::launch()?;
        broker.wait()?;
        Ok(broker)
    }

    /// Starts the broker without waiting until it is ready, which takes several seconds; see `wait`.
    pub fn launch() -> Result<Self> {
        let node = BrokerNode::new()?;
        let mapper = node.run_mapper()?;
        let process = node.run()?;
        Ok(Self { process, _mapper: mapper, node })
    }

    pub fn wait(&mut self) -> Result<()> {
        let port = self.node.port;
        self.process.wait_until("RabbitMQ", READY_WITHIN, || answers_handshake(port))
    }

    pub fn url(&self) -> String {
        format!("amqp://guest:guest@{}/%2f", loopback(self.node.port))
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub fn stop(&mut self) {
        self.process.stop(Signal::TERM, STOPPED_WITHIN);
    }

    /// Restarts on the same port and keeps the durable queues.
    pub fn restart(&mut self) {
        self.stop();
        self.process = self.node.run().expect("the broker started before");
        self.wait().expect("the broker was ready before");
    }

    pub fn pause(&self) {
        self.process.pause();
    }

    pub fn resume(&self) {
        self.process.resume();
    }

    /// Closes every client connection with a reason, as an operator does.
    pub fn close_connections(&self) {
        self.node.control(&["close_all_connections", "closed by the operator"]);
    }

    /// Removes every message that is not delivered yet.
    pub fn purge(&self, queue: &str) {
        self.node.control(&["purge_queue", queue]);
    }
}

impl BrokerNode {
    fn new() -> Result<Self> {
        // The scripts in this folder run as any user; those on Debian's PATH require root.
        let folders = [PathBuf::from("/usr/lib/rabbitmq/bin")];
        let folder = TempDir::with_prefix("pilothouse-rabbitmq-")
            .context("could not create a temporary folder")?;
        std::fs::write(folder.path().join("broker.conf"), CONFIGURATION)
            .context("could not write the broker configuration")?;
        std::fs::write(folder.path().join("plugins"), "[].\n")
            .context("could not write the broker configuration")?;
        Ok(Self {
            server: find("rabbitmq-server", &folders, PACKAGE)?,
            control: find("rabbitmqctl", &folders, PACKAGE)?,
            name: format!("pilothouse-{}@localhost", Uuid::new_v4().simple()),
            port: free_port()?,
            peer_port: free_port()?,
            mapper_port: free_port()?,
            folder,
        })
    }

    /// Starts epmd as a child process. Erlang would start it otherwise and leave it running.
    fn run_mapper(&self) -> Result<ServerProcess> {
        let program = find("epmd", &[], "erlang-base")?;
        let port = self.mapper_port;
        let prepare = |command: &mut Command| {
            command.arg(&program).args(["-address", "127.0.0.1", "-port", &port.to_string()]);
        };
        let log = self.folder.path().join("mapper.log");
        let mut mapper = ServerProcess::start("epmd", &program, prepare, log)?;
        let answers = || TcpStream::connect(loopback(port)).is_ok();
        mapper.wait_until("epmd", READY_WITHIN, answers)?;
        Ok(mapper)
    }

    fn run(&self) -> Result<ServerProcess> {
        let prepare = |command: &mut Command| {
            command.arg(&self.server);
            self.set_environment(command);
        };
        ServerProcess::start(
            "RabbitMQ",
            &self.server,
            prepare,
            self.folder.path().join("broker.log"),
        )
    }

    fn set_environment(&self, command: &mut Command) {
        let folder: &Path = self.folder.path();
        command
            .env("HOME", folder)
            .env("ERL_EPMD_PORT", self.mapper_port.to_string())
            .env("ERL_EPMD_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_NODENAME", &self.name)
            .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_NODE_PORT", self.port.to_string())
            .env("RABBITMQ_DIST_PORT", self.peer_port.to_string())
            .env("RABBITMQ_MNESIA_BASE", folder.join("mnesia"))
            .env("RABBITMQ_LOG_BASE", folder.join("log"))
            .env("RABBITMQ_CONFIG_FILE", folder.join("broker.conf"))
            .env("RABBITMQ_CONF_ENV_FILE", folder.join("no-environment"))
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", folder.join("plugins"))
            // One scheduler is enough; a second one would busy-wait and slow the tests.
            .env(
                "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
                "-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none",
            )
            // Makes the script `exec` the broker, so that the child process is the broker itself.
            .env("RUNNING_UNDER_SYSTEMD", "1");
    }

    /// Repeated while the broker still starts: it accepts clients a moment before it accepts commands.
    fn control(&self, arguments: &[&str]) {
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            let mut command = Command::new(&self.control);
            self.set_environment(&mut command);
            let ran = command
                .args(["--quiet", "--node", &self.name])
                .args(arguments)
                .stdin(Stdio::null())
                .output();
            let ran = ran.expect("rabbitmqctl runs");
            if ran.status.success() {
                return;
            }
            let errors = String::from_utf8_lossy(&ran.stderr);
            let starting = errors.contains("requires the 'rabbit' app to be running");
            assert!(
                starting && Instant::now() < deadline,
                "rabbitmqctl {arguments:?} failed: {errors}"
            );
        }
    }
}

/// Whether the broker answers an AMQP handshake: it listens only when it can serve clients.
fn answers_handshake(port: u16) -> bool {
    let handshake = || -> std::io::Result<usize> {
        let mut stream = TcpStream::connect_timeout(&loopback(port), PROBE_TIMEOUT)?;
        stream.set_read_timeout(Some(PROBE_TIMEOUT))?;
        stream.write_all(b"AMQP\x00\x00\x09\x01")?;
        stream.read(&mut [0; 7])
    };
    handshake().is_ok_and(|read| read > 0)
}
