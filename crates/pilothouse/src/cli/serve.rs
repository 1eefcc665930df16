//! `pilothouse serve`: runs until a signal stops it, and shuts down within a time limit.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use protocol::limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{AuthMode, ConfigLayers, ProcessRole, Settings, Switch};
use crate::telemetry;
use crate::wire::{self, RunningServer, ShellStatus};

#[derive(clap::Args, Default)]
pub(crate) struct ServeArguments {
    /// A role of this process; may be repeated (default: all roles)
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<ProcessRole>,
}

impl ServeArguments {
    /// The setting that the flags override.
    pub(crate) fn flag(&self) -> Option<(&'static str, String)> {
        let roles: Vec<&str> = self.roles.iter().map(|role| role.as_str()).collect();
        (!roles.is_empty()).then(|| ("PILOTHOUSE_ROLES", roles.join(",")))
    }
}

pub(crate) async fn run(settings: &Settings, layers: &ConfigLayers) -> anyhow::Result<ExitCode> {
    telemetry::install(settings)?;
    for name in layers.unknown() {
        tracing::warn!(name, "unknown setting, perhaps misspelled; see docs/configuration.md");
    }
    raise_file_limit(settings.max_connections);
    // Before anything starts, so that no signal meets the default action.
    let mut signals = StopSignals::listen()?;
    let running = tokio::select! {
        running = wire::start(settings) => running?,
        () = signals.next() => return Ok(ExitCode::SUCCESS),
    };
    announce(settings, &running)?;
    signals.next().await;
    tracing::info!("shutting down: running turns finish or are handed over");
    tokio::select! {
        closed = tokio::time::timeout(limits::SHUTDOWN, running.shut_down()) => match closed {
            Ok(closed) => closed?,
            Err(_) => tracing::warn!("shutdown timed out; unfinished turns resume at the next start"),
        },
        () = signals.next() => {
            tracing::warn!("second signal: exiting at once; unfinished turns resume at the next start");
            return Ok(ExitCode::FAILURE);
        }
    }
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Prints the URL, roles, store and model of the server, and notices.
fn announce(settings: &Settings, running: &RunningServer) -> anyhow::Result<()> {
    let model = match running.model.is_offline() {
        true => "offline pilot (built in, no network)".to_owned(),
        false => format!("{} ({})", running.model.name, running.model.provider),
    };
    // Only clients connect through a proxy; health checks of a worker connect directly.
    let path = if settings.roles.has(ProcessRole::Api) { settings.base_path.as_str() } else { "" };
    let mut out = std::io::stdout().lock();
    writeln!(out, "Pilothouse {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "  URL    http://{}{path}", running.address)?;
    writeln!(out, "  Roles  {}", settings.roles)?;
    writeln!(out, "  Store  {}", wire::store::describe(settings))?;
    writeln!(out, "  Model  {model}")?;
    match &running.shell {
        ShellStatus::Sandboxed => writeln!(out, "  Shell  bash_exec, sandboxed")?,
        ShellStatus::Off(_) => writeln!(out, "  Shell  off")?,
        ShellStatus::Elsewhere => {}
    }
    if running.model.is_offline() {
        writeln!(
            out,
            "Notice: no model is connected. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or CHAT_BASE_URL and CHAT_MODEL."
        )?;
    }
    if let ShellStatus::Off(reason) = &running.shell {
        writeln!(out, "Notice: the shell tool is off because no sandbox is available: {reason}")?;
    }
    if let Some(problem) = running.callback_problem {
        writeln!(out, "Notice: {problem}")?;
    }
    if settings.auth_mode == AuthMode::Local {
        writeln!(
            out,
            "Notice: sign-in is off. Anyone with access to this machine uses the local account."
        )?;
    }
    if settings.allow_anonymous == Switch::On && settings.auth_mode == AuthMode::Jwt {
        writeln!(out, "Notice: anonymous sessions are allowed.")?;
    }
    out.flush().context("could not write to standard output")
}

/// Every connection is a file. With a soft limit below MAX_CONNECTIONS, accepting would fail instead of returning 503.
fn raise_file_limit(connections: usize) {
    const OTHER_FILES: u64 = 256;
    let wanted = connections as u64 + OTHER_FILES;
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

struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    fn listen() -> anyhow::Result<Self> {
        let terminate = signal(SignalKind::terminate()).context("could not listen for SIGTERM")?;
        let interrupt = signal(SignalKind::interrupt()).context("could not listen for SIGINT")?;
        Ok(Self { terminate, interrupt })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
