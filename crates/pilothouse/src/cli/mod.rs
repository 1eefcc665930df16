//! The command line: what can be asked for, and who does it.

mod absence;
mod agents;
mod chat;
mod client;
mod doctor;
mod export;
mod import;
mod licenses;
mod migrate;
mod serve;
mod terminal;

use std::io::{ErrorKind, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser, Subcommand};

use crate::config::{self, Layers, Settings};
use crate::http;

#[derive(Parser)]
#[command(version, about = "A copilot server: durable turns, resumable streams, tools.")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    place: Place,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server (the default).
    Serve(serve::Arguments),
    /// Talk to a server in the terminal.
    Chat(chat::Arguments),
    /// List, run and look at agents of a server.
    Agents(agents::Arguments),
    /// Put agents from files into your library.
    Import(import::Arguments),
    /// Write an agent to a file that another installation can import.
    Export(export::Arguments),
    /// Check everything the server needs, and say how to fix it.
    Doctor,
    /// Print a token for development, signed with JWT_VERIFY_KEY.
    Token {
        /// The user the token stands for.
        #[arg(long, default_value = "developer")]
        user: String,
        /// How long it is valid.
        #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=8760))]
        hours: u32,
    },
    /// Print the API document.
    Openapi,
    /// Print the third-party software in this program, with its licenses.
    Licenses,
    /// Create the schema of the store, or bring it up to date.
    Migrate(migrate::Arguments),
    /// Print the table of all settings.
    #[command(hide = true)]
    Configuration,
}

/// What the command line may say instead of the environment.
#[derive(Args)]
struct Place {
    /// Address to listen on.
    #[arg(long, global = true)]
    host: Option<IpAddr>,
    /// Port to listen on; 0 takes a free one.
    #[arg(long, global = true)]
    port: Option<u16>,
    /// Folder of the workspace files and of the embedded store.
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// Does what the command line asks for. What goes wrong is told in a sentence.
pub(crate) fn run() -> ExitCode {
    match obey(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn obey(cli: Cli) -> anyhow::Result<ExitCode> {
    // Every TLS client of the process uses this one; without it the first would panic.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        anyhow::bail!("the TLS library was set up twice");
    }
    let command = cli.command.unwrap_or_else(|| Command::Serve(serve::Arguments::default()));
    // These are about the program itself and work without any configuration.
    match command {
        Command::Openapi => return print(&http::document().to_pretty_json()?),
        Command::Configuration => return print(config::markdown().trim_end()),
        Command::Licenses => return print(licenses::text()?.trim_end()),
        _ => {}
    }
    let mut flags = cli.place.flags();
    if let Command::Serve(arguments) = &command {
        flags.extend(arguments.flag());
    }
    let layers = Layers::of_process(flags, Path::new("."))?;
    let settings = Settings::load(&layers).context("Pilothouse does not start like this")?;
    let runtime = tokio::runtime::Runtime::new().context("the runtime could not be started")?;
    let done = runtime.block_on(async {
        match command {
            Command::Serve(_) => serve::run(&settings, &layers).await,
            Command::Chat(arguments) => chat::run(&settings, arguments).await,
            Command::Agents(arguments) => agents::run(&settings, arguments).await,
            Command::Import(arguments) => import::run(&settings, arguments).await,
            Command::Export(arguments) => export::run(&settings, arguments).await,
            Command::Doctor => doctor::run(&settings, &layers).await,
            Command::Token { user, hours } => {
                let valid = Duration::from_secs(u64::from(hours) * 3600);
                print(&http::auth::mint(&settings, &user, valid)?)
            }
            Command::Migrate(arguments) => migrate::run(&settings, arguments).await,
            Command::Openapi | Command::Configuration | Command::Licenses => {
                unreachable!("answered above")
            }
        }
    });
    // A thread that waits for the keyboard cannot be woken; the process ends without it.
    runtime.shutdown_background();
    done
}

impl Place {
    fn flags(self) -> Vec<(&'static str, String)> {
        let flags = [
            ("PILOTHOUSE_HOST", self.host.map(|host| host.to_string())),
            ("PILOTHOUSE_PORT", self.port.map(|port| port.to_string())),
            ("PILOTHOUSE_DATA", self.data.map(|data| data.display().to_string())),
        ];
        flags.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

fn print(text: &str) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        // Whoever reads has what they wanted, as with `| head`.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        written => written.context("standard output is gone").map(|()| ExitCode::SUCCESS),
    }
}
