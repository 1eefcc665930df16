//! The command line: parses arguments and runs the commands.

mod agents;
mod chat;
mod client;
mod doctor;
mod eval;
mod export;
mod import;
mod licenses;
mod migrate;
mod reconnect;
mod serve;
mod terminal;

use std::io::{ErrorKind, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use toolbox::tools;

use crate::config::{self, ConfigLayers, Settings};
use crate::http;

#[derive(Parser)]
#[command(version, about = "A copilot server: durable turns, resumable streams, tools.")]
struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
    #[command(flatten)]
    global: GlobalFlags,
}

#[derive(Subcommand)]
enum CliCommand {
    /// Run the server (the default)
    Serve(serve::ServeArguments),
    /// Chat with a server from the terminal
    Chat(chat::ChatArguments),
    /// List, run, inspect and build agents
    Agents(agents::AgentsArguments),
    /// Import agents from files into your library
    Import(import::ImportArguments),
    /// Export an agent to a file that another installation can import
    Export(export::ExportArguments),
    /// Check everything the server needs, and explain how to fix problems
    Doctor,
    /// Let the agent generator do a folder of tasks, and count how many agents are right
    Eval(eval::EvalArguments),
    /// Print a token for development, signed with JWT_VERIFY_KEY
    Token {
        /// The user that the token identifies
        #[arg(long, default_value = "developer")]
        user: String,
        /// How many hours it is valid
        #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=8760))]
        hours: u32,
    },
    /// Print the OpenAPI document
    Openapi,
    /// Print the third-party software in this program, with its licenses
    Licenses,
    /// Create the schema of the store, or update it
    Migrate(migrate::MigrateArguments),
    /// Print the table of all settings
    #[command(hide = true)]
    Configuration,
    /// Print the built-in tools as the API describes them
    #[command(hide = true)]
    Tools {
        /// As the table of the guide
        #[arg(long)]
        table: bool,
    },
}

/// Flags of all commands, which override the environment.
#[derive(Args)]
struct GlobalFlags {
    /// Address to listen on
    #[arg(long, global = true)]
    host: Option<IpAddr>,
    /// Port to listen on; 0 selects a free one
    #[arg(long, global = true)]
    port: Option<u16>,
    /// Folder of the workspace files and the embedded store
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// Parses the command line and runs the command. Errors are printed as a sentence.
pub(crate) fn run() -> ExitCode {
    match execute(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn execute(cli: Cli) -> anyhow::Result<ExitCode> {
    // Used by every TLS client of the process; without it the first one would panic.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        anyhow::bail!("the TLS library was initialized twice");
    }
    let command =
        cli.command.unwrap_or_else(|| CliCommand::Serve(serve::ServeArguments::default()));
    // These need no configuration.
    match command {
        CliCommand::Openapi => return print(&http::document().to_pretty_json()?),
        CliCommand::Configuration => return print(config::markdown().trim_end()),
        CliCommand::Tools { table: false } => {
            return print(&serde_json::to_string_pretty(&tools::describe(&[]))?);
        }
        CliCommand::Tools { table: true } => return print(tools::guide_table().trim_end()),
        CliCommand::Licenses => return print(licenses::text()?.trim_end()),
        _ => {}
    }
    let mut flags = cli.global.flags();
    if let CliCommand::Serve(arguments) = &command {
        flags.extend(arguments.flag());
    }
    let layers = ConfigLayers::of_process(flags, Path::new("."))?;
    let settings = Settings::load(&layers).context("Invalid configuration")?;
    let runtime = tokio::runtime::Runtime::new().context("could not start the runtime")?;
    let done = runtime.block_on(async {
        match command {
            CliCommand::Serve(_) => serve::run(&settings, &layers).await,
            CliCommand::Chat(arguments) => chat::run(&settings, arguments).await,
            CliCommand::Agents(arguments) => agents::run(&settings, arguments).await,
            CliCommand::Import(arguments) => import::run(&settings, arguments).await,
            CliCommand::Export(arguments) => export::run(&settings, arguments).await,
            CliCommand::Doctor => doctor::run(&settings, &layers).await,
            CliCommand::Eval(arguments) => eval::run(&settings, arguments).await,
            CliCommand::Token { user, hours } => {
                let valid = Duration::from_secs(u64::from(hours) * 3600);
                print(&http::mint_token(&settings, &user, valid)?)
            }
            CliCommand::Migrate(arguments) => migrate::run(&settings, arguments).await,
            CliCommand::Openapi
            | CliCommand::Configuration
            | CliCommand::Tools { .. }
            | CliCommand::Licenses => {
                unreachable!("handled above")
            }
        }
    });
    // A thread that waits for the keyboard cannot be woken; the process exits without joining it.
    runtime.shutdown_background();
    done
}

impl GlobalFlags {
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
        // The reader has closed the pipe, as with `| head`.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        written => {
            written.context("could not write to standard output").map(|()| ExitCode::SUCCESS)
        }
    }
}
