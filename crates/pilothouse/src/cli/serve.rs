//! `pilothouse serve`: runs until it is told to stop, and stops in time.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use protocol::limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{AuthMode, Layers, Role, Settings, Switch};
use crate::telemetry;
use crate::wire::{self, Running, Shell};

#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// What this process does; may be given several times. Everything, when it is not given.
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<Role>,
}

impl Arguments {
    /// The setting that the flags stand for.
    pub(super) fn flag(&self) -> Option<(&'static str, String)> {
        let roles: Vec<&str> = self.roles.iter().map(|role| role.as_str()).collect();
        (!roles.is_empty()).then(|| ("PILOTHOUSE_ROLES", roles.join(",")))
    }
}

pub(crate) async fn run(settings: &Settings, layers: &Layers) -> anyhow::Result<ExitCode> {
    telemetry::install(settings)?;
    for name in layers.unknown() {
        tracing::warn!(
            name,
            "this setting is not known; is it misspelt? See docs/configuration.md"
        );
    }
    raise_file_limit(settings.max_connections);
    // Before anything starts, so that no signal finds the default action in place.
    let mut signals = Signals::listen()?;
    let running = tokio::select! {
        running = wire::start(settings) => running?,
        () = signals.next() => return Ok(ExitCode::SUCCESS),
    };
    announce(settings, &running)?;
    signals.next().await;
    tracing::info!("stopping: turns are ended or handed back");
    tokio::select! {
        closed = tokio::time::timeout(limits::SHUTDOWN, running.shut_down()) => match closed {
            Ok(closed) => closed?,
            Err(_) => tracing::warn!("stopping took too long; what is left is taken up at the next start"),
        },
        () = signals.next() => {
            tracing::warn!("stopped at once; what is left is taken up at the next start");
            return Ok(ExitCode::FAILURE);
        }
    }
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// One block that says where the server is, what it does, where its data is and who answers.
fn announce(settings: &Settings, running: &Running) -> anyhow::Result<()> {
    let model = match running.model.is_offline() {
        true => "offline pilot (built in, no network)".to_owned(),
        false => format!("{} ({})", running.model.name, running.model.provider),
    };
    // Only clients come through a proxy; whoever watches a worker asks it directly.
    let path = if settings.roles.has(Role::Api) { settings.base_path.as_str() } else { "" };
    let mut out = std::io::stdout().lock();
    writeln!(out, "Pilothouse {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "  URL    http://{}{path}", running.address)?;
    writeln!(out, "  Roles  {}", settings.roles)?;
    writeln!(out, "  Store  {}", wire::store::describe(settings))?;
    writeln!(out, "  Model  {model}")?;
    match &running.shell {
        Shell::Sandboxed => writeln!(out, "  Shell  bash_exec, sandboxed")?,
        Shell::Off(_) => writeln!(out, "  Shell  off")?,
        Shell::Elsewhere => {}
    }
    if running.model.is_offline() {
        writeln!(
            out,
            "Notice: no model is configured. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or CHAT_BASE_URL and CHAT_MODEL, for a real one."
        )?;
    }
    if let Shell::Off(reason) = &running.shell {
        writeln!(
            out,
            "Notice: there is no shell tool, because there is no sandbox for it: {reason}"
        )?;
    }
    if let Some(lack) = running.cannot_call_back {
        writeln!(out, "Notice: {lack}")?;
    }
    if settings.auth_mode == AuthMode::Local {
        writeln!(
            out,
            "Notice: there is no login; whoever reaches this address on this machine is the local user."
        )?;
    }
    if settings.allow_anonymous == Switch::On && settings.auth_mode == AuthMode::Jwt {
        writeln!(out, "Notice: anonymous sessions are allowed.")?;
    }
    out.flush().context("standard output is gone")
}

/// Each connection is a file. A soft limit below the cap would end in accept errors instead of polite refusals.
fn raise_file_limit(connections: usize) {
    const BESIDE_CONNECTIONS: u64 = 256;
    let wanted = connections as u64 + BESIDE_CONNECTIONS;
    let now = getrlimit(Resource::Nofile);
    let allowed = now.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if now.current.is_some_and(|current| current < allowed) {
        let _ =
            setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), maximum: now.maximum });
    }
    if allowed < wanted {
        tracing::warn!(
            files = allowed,
            wanted,
            "the limit of open files is below MAX_CONNECTIONS; raise it with `ulimit -n`"
        );
    }
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        let terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be listened to")?;
        let interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be listened to")?;
        Ok(Self { terminate, interrupt })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
