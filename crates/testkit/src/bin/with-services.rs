//! `with-services [--own] -- COMMAND…` runs a command with a Postgres, a Redis and a RabbitMQ at hand. Each server that
//! the environment does not name (`DATABASE_URL`, `REDIS_URL`, `RABBITMQ_URL`) is started for the time of the command.
//! With `--own` the command also gets a database and a prefix at the broker of its own.

use std::io::IsTerminal;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use pilothouse_testkit::services::{
    DATABASE_URL, Installation, Postgres, RABBITMQ_URL, REDIS_URL, RabbitMq, Redis, Urls,
};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "usage: with-services [--own] -- COMMAND…";

#[expect(
    clippy::disallowed_macros,
    reason = "a program for the terminal says there what went wrong"
)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The servers end with the thread that has started them, so that is this one.
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
    // From here on a signal does not end this process, which has to clean up.
    let mut signals = runtime.block_on(async { Signals::listen() })?;
    let servers = Servers::start()?;
    let own = match share {
        Share::Nothing => Some(Installation::create(&servers.urls)?),
        Share::Servers => None,
    };
    let settings = own.as_ref().map_or(servers.urls.settings().to_vec(), Installation::settings);
    let mut command = Command::new(program);
    command.args(rest).envs(settings);
    runtime.block_on(async {
        let child = command.spawn().with_context(|| format!("{program} could not be started"))?;
        signals.wait_for(child).await
    })
}

/// How much the command has in common with other runs.
enum Share {
    Servers,
    Nothing,
}

/// The servers that were started here end with it.
struct Servers {
    urls: Urls,
    _started: (Option<Postgres>, Option<Redis>, Option<RabbitMq>),
}

impl Servers {
    /// All at the same time. The broker takes longest, so it goes first.
    fn start() -> Result<Self> {
        let (database, redis, rabbitmq) =
            (Urls::given(DATABASE_URL), Urls::given(REDIS_URL), Urls::given(RABBITMQ_URL));
        let mut broker = rabbitmq.is_none().then(RabbitMq::launch).transpose()?;
        let mut cache = redis.is_none().then(Redis::launch).transpose()?;
        let mut store = database.is_none().then(Postgres::launch).transpose()?;
        store.as_mut().map(Postgres::wait).transpose()?;
        cache.as_mut().map(Redis::wait).transpose()?;
        broker.as_mut().map(RabbitMq::wait).transpose()?;
        let urls = Urls {
            database: database
                .or(store.as_ref().map(Postgres::url))
                .context("Postgres is somewhere")?,
            redis: redis.or(cache.as_ref().map(Redis::url)).context("Redis is somewhere")?,
            rabbitmq: rabbitmq
                .or(broker.as_ref().map(RabbitMq::url))
                .context("RabbitMQ is somewhere")?,
        };
        Ok(Self { urls, _started: (store, cache, broker) })
    }
}

struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    fn listen() -> Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Hands signals on and waits for the command, as long as it takes: it decides how it ends.
    async fn wait_for(&mut self, mut child: Child) -> Result<ExitCode> {
        let pid = child.id().and_then(|pid| Pid::from_raw(pid.try_into().ok()?));
        loop {
            let received = tokio::select! {
                ended = child.wait() => {
                    let ended = ended.context("the command cannot be waited for")?;
                    // As a shell tells it when a signal has ended a command.
                    let code = ended.code().or(ended.signal().map(|signal| 128 + signal));
                    return Ok(ExitCode::from(code.and_then(|code| code.try_into().ok()).unwrap_or(1)));
                }
                _ = self.terminate.recv() => Signal::TERM,
                _ = self.interrupt.recv() => {
                    // A terminal has sent it to the command as well, and twice would mean "now, by force" to it.
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
