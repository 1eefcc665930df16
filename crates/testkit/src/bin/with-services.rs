//! `with-services [--own] -- COMMAND…` runs a command with Postgres, Redis and RabbitMQ. Each server whose variable
//! (`DATABASE_URL`, `REDIS_URL`, `RABBITMQ_URL`) is not set is started and runs as long as the command. With `--own`
//! the command gets its own database and its own prefix at the broker.

use std::io::IsTerminal;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use pilothouse_testkit::services::{
    DATABASE_URL, PostgresServer, RABBITMQ_URL, REDIS_URL, RabbitMqServer, RedisServer,
    TestInstallation, TestServerUrls,
};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "usage: with-services [--own] -- COMMAND…";

#[expect(clippy::disallowed_macros, reason = "a terminal program prints its errors")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The servers end with the thread that starts them, so they are started on the main thread.
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("with-services: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode> {
    let (share, command) = match arguments {
        [dashes, command @ ..] if dashes == "--" => (Share::Servers, command),
        [own, dashes, command @ ..] if own == "--own" && dashes == "--" => {
            (Share::Nothing, command)
        }
        _ => bail!(USAGE),
    };
    let [program, rest @ ..] = command else { bail!(USAGE) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // From here on signals do not end this process, which has to clean up.
    let mut signals = runtime.block_on(async { ForwardedSignals::listen() })?;
    let servers = RunningServers::start()?;
    let own = match share {
        Share::Nothing => Some(TestInstallation::create(&servers.urls)?),
        Share::Servers => None,
    };
    let settings =
        own.as_ref().map_or(servers.urls.settings().to_vec(), TestInstallation::settings);
    let mut command = Command::new(program);
    command.args(rest).envs(settings);
    runtime.block_on(async {
        let child = command.spawn().with_context(|| format!("could not start {program}"))?;
        signals.wait_for(child).await
    })
}

/// What the command shares with other runs.
enum Share {
    Servers,
    Nothing,
}

/// Servers started here stop when this is dropped.
struct RunningServers {
    urls: TestServerUrls,
    _started: (Option<PostgresServer>, Option<RedisServer>, Option<RabbitMqServer>),
}

impl RunningServers {
    /// Starts all servers in parallel. The broker takes longest, so it is first.
    fn start() -> Result<Self> {
        let (database, redis, rabbitmq) = (
            TestServerUrls::from_variable(DATABASE_URL),
            TestServerUrls::from_variable(REDIS_URL),
            TestServerUrls::from_variable(RABBITMQ_URL),
        );
        let mut broker = rabbitmq.is_none().then(RabbitMqServer::launch).transpose()?;
        let mut cache = redis.is_none().then(RedisServer::launch).transpose()?;
        let mut store = database.is_none().then(PostgresServer::launch).transpose()?;
        store.as_mut().map(PostgresServer::wait).transpose()?;
        cache.as_mut().map(RedisServer::wait).transpose()?;
        broker.as_mut().map(RabbitMqServer::wait).transpose()?;
        let urls = TestServerUrls {
            database: database
                .or(store.as_ref().map(PostgresServer::url))
                .context("Postgres has no URL")?,
            redis: redis.or(cache.as_ref().map(RedisServer::url)).context("Redis has no URL")?,
            rabbitmq: rabbitmq
                .or(broker.as_ref().map(RabbitMqServer::url))
                .context("RabbitMQ has no URL")?,
        };
        Ok(Self { urls, _started: (store, cache, broker) })
    }
}

struct ForwardedSignals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl ForwardedSignals {
    fn listen() -> Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Forwards signals to the command and waits until it exits, without a time limit.
    async fn wait_for(&mut self, mut child: Child) -> Result<ExitCode> {
        let pid = child.id().and_then(|pid| Pid::from_raw(pid.try_into().ok()?));
        loop {
            let received = tokio::select! {
                ended = child.wait() => {
                    let ended = ended.context("could not wait for the command")?;
                    // The exit code a shell reports for a command that a signal ended.
                    let code = ended.code().or(ended.signal().map(|signal| 128 + signal));
                    return Ok(ExitCode::from(code.and_then(|code| code.try_into().ok()).unwrap_or(1)));
                }
                _ = self.terminate.recv() => Signal::TERM,
                _ = self.interrupt.recv() => {
                    // A terminal also sends it to the command, and a second one would mean a forced exit.
                    if std::io::stdin().is_terminal() {
                        continue;
                    }
                    Signal::INT
                }
            };
            if let Some(pid) = pid {
                let _ = kill_process(pid, received);
            }
        }
    }
}
