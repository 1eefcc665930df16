//! Redis servers for tests: a shared one, or a private one that may be stopped.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The server that all tests share: it is never flushed or stopped.
#[expect(clippy::disallowed_methods, reason = "tests read the address from the environment")]
pub(crate) fn shared() -> String {
    std::env::var("REDIS_URL").expect("REDIS_URL names a Redis server that these tests may use")
}

pub(crate) struct PrivateRedis {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl PrivateRedis {
    pub(crate) async fn start() -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let folder = tempfile::tempdir().expect("a folder");
        let server = Self { child: spawn(port, &folder), port, folder };
        server.wait().await;
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    /// Kills the process: nothing is persisted.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it is ours");
    }

    pub(crate) async fn start_again(&mut self) {
        self.child = spawn(self.port, &self.folder);
        self.wait().await;
    }

    /// From now on it accepts connections and bytes, and does not reply.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    pub(crate) async fn connection(&self) -> MultiplexedConnection {
        connection(&self.url()).await
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a process");
        kill_process(pid, signal).expect("it is ours");
    }

    async fn wait(&self) {
        let there = async {
            let client = redis::Client::open(self.url()).expect("an address");
            while client.get_multiplexed_async_connection().await.is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), there).await.expect("redis-server starts");
    }
}

impl Drop for PrivateRedis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) async fn connection(url: &str) -> MultiplexedConnection {
    let client = redis::Client::open(url).expect("an address");
    client.get_multiplexed_async_connection().await.expect("a connection")
}

fn spawn(port: u16, folder: &TempDir) -> Child {
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server is installed")
}
