//! `pilothouse doctor`: checks every dependency, says how to fix what is wrong, and prints the settings in
//! effect with secrets masked.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

use backends::Outcome;
use toolbox::external::ExternalToolDescription;
use toolbox::sandbox::Sandbox;

use crate::config::{Layers, Provider, Role, Settings};
use crate::wire;

/// How long the provider may take to show that it is there.
const PATIENCE: Duration = Duration::from_secs(5);

/// Below this much room a busy day may fill the disk.
const ROOM: u64 = 1024 * 1024 * 1024;

/// What one check found.
enum Finding {
    Good(String),
    /// Works, but not as well as it could.
    Note(String),
    Bad(String),
}

pub(crate) async fn run(settings: &Settings, layers: &Layers) -> anyhow::Result<ExitCode> {
    let mut findings = match settings.servers() {
        None => vec![("Store", store(settings).await)],
        Some(_) => servers(settings).await,
    };
    findings.push(("Disk", disk(settings)));
    findings.push(("Port", port(settings).await));
    findings.push(("Model", model(settings).await));
    findings.push(("Shell", shell(settings).await));
    findings.push(("Tools", tools(settings)));
    findings.push(("Settings", names(layers)));
    let mut code = ExitCode::SUCCESS;
    let mut report = String::new();
    for (name, finding) in &findings {
        let (mark, text) = match finding {
            Finding::Good(text) => ("ok  ", text),
            Finding::Note(text) => ("note", text),
            Finding::Bad(text) => {
                code = ExitCode::FAILURE;
                ("BAD ", text)
            }
        };
        writeln!(report, "{mark}  {name:<9} {text}")?;
    }
    write!(report, "\nSettings in effect:")?;
    for (name, value) in settings.shown() {
        write!(report, "\n  {name:<35} {value:<28} {}", layers.origin(name).as_str())?;
    }
    super::print(&report)?;
    Ok(code)
}

/// The servers of a distributed installation. Looking does not change them: the schema is made by `migrate`.
async fn servers(settings: &Settings) -> Vec<(&'static str, Finding)> {
    let probes = backends::probe(&wire::store::options(settings)).await;
    let findings = probes.into_iter().map(|probe| {
        let setting = match probe.name {
            "Redis" => "REDIS_URL or REDIS_*",
            "RabbitMQ" => "RABBITMQ_URL or RABBITMQ_*",
            _ => "DATABASE_URL or DB_*",
        };
        let advice = probe.advice.map(|advice| format!(" {advice}")).unwrap_or_default();
        let text = format!("{}.{advice}", probe.found);
        let finding = match probe.outcome {
            Outcome::Good => Finding::Good(text),
            Outcome::Note => Finding::Note(text),
            Outcome::Bad => Finding::Bad(format!("{text} It is set by {setting}.")),
        };
        (probe.name, finding)
    });
    findings.collect()
}

async fn store(settings: &Settings) -> Finding {
    let connected = match wire::store::connect(settings).await {
        Ok(connected) => connected,
        Err(error) => {
            return match error.downcast_ref() {
                Some(backends::ConnectError::InUse { directory }) => Finding::Note(format!(
                    "{} is in use, as it is while a server runs; stop it to check the store itself.",
                    directory.display()
                )),
                _ => Finding::Bad(format!(
                    "{error:#}. Fix that, or choose another folder with --data."
                )),
            };
        }
    };
    let failing = connected.ports.health.failing().await;
    let closed = connected.backend.close().await.err().map(|error| error.to_string());
    let data = settings.data.display();
    match failing.into_iter().map(|failing| failing.reason).next().or(closed) {
        None => Finding::Good(format!("{data} can be read and written.")),
        Some(reason) => Finding::Bad(format!("{data} opens, but fails: {reason}.")),
    }
}

/// The folder of the workspace files, or where it will be made.
fn disk(settings: &Settings) -> Finding {
    let data = std::path::absolute(&settings.data).unwrap_or_else(|_| settings.data.clone());
    let Some(there) = data.ancestors().find(|folder| folder.exists()) else {
        return Finding::Bad(format!("{} does not exist.", data.display()));
    };
    if rustix::fs::access(there, rustix::fs::Access::WRITE_OK).is_err() {
        return Finding::Bad(format!(
            "{} cannot be written. Give it to the user who runs the server, or choose another folder with --data.",
            there.display()
        ));
    }
    let free =
        rustix::fs::statvfs(there).map(|about| about.f_bavail.saturating_mul(about.f_frsize));
    match free {
        Ok(free) if free >= ROOM => {
            Finding::Good(format!("{} GiB free at {}.", free >> 30, there.display()))
        }
        Ok(free) => Finding::Note(format!(
            "only {} MiB free at {}. Make room: when the disk is full, messages are refused.",
            free >> 20,
            there.display()
        )),
        Err(error) => Finding::Bad(format!("{} cannot be looked at: {error}.", there.display())),
    }
}

async fn port(settings: &Settings) -> Finding {
    if !settings.roles.has(Role::Api) {
        return Finding::Good("clients are served by other processes.".to_owned());
    }
    match tokio::net::TcpListener::bind((settings.host, settings.port)).await {
        Ok(_) => Finding::Good(format!("{} port {} is free.", settings.host, settings.port)),
        Err(error) => Finding::Note(format!(
            "{} port {} cannot be listened on ({error}), as it is while a server runs; otherwise choose another with --port.",
            settings.host, settings.port
        )),
    }
}

async fn model(settings: &Settings) -> Finding {
    let (url, keys) = match settings.provider() {
        Ok(Provider::Offline) => {
            return Finding::Note(
                "the offline pilot answers; set ANTHROPIC_API_KEY or OPENAI_API_KEY, or CHAT_BASE_URL and CHAT_MODEL, for a real model.".to_owned(),
            );
        }
        Ok(Provider::OpenAi { base_url, .. }) => (base_url, "CHAT_BASE_URL"),
        Ok(Provider::Anthropic { .. }) => {
            (settings.anthropic_base_url.clone(), "ANTHROPIC_BASE_URL")
        }
        Err(reason) => return Finding::Bad(reason),
    };
    let name = match wire::provider(settings) {
        Ok(provider) => wire::describe(&*provider).name,
        Err(error) => return Finding::Bad(format!("{error:#}")),
    };
    let client = reqwest::Client::builder().timeout(PATIENCE).no_proxy().build();
    // Any answer will do: without a key in the request it is a refusal, and the key is not spent on a check.
    match async { client?.get(url.clone()).send().await }.await {
        Ok(_) => Finding::Good(format!("{name}; {} answers.", host(&url))),
        Err(error) => Finding::Bad(format!(
            "{} does not answer ({}). Check {keys} and the network.",
            host(&url),
            if error.is_timeout() { "too late" } else { "no connection" }
        )),
    }
}

fn host(url: &url::Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

async fn shell(settings: &Settings) -> Finding {
    if !settings.roles.has(Role::Executor) {
        return Finding::Good("turns run in other processes.".to_owned());
    }
    match Sandbox::detect().await {
        Ok(_) => Finding::Good("commands run in a sandbox.".to_owned()),
        Err(reason) => Finding::Note(format!("there is no shell tool: {reason}")),
    }
}

/// The tools of the operator's own file. Their services are not called: a call is work.
fn tools(settings: &Settings) -> Finding {
    let tools = match wire::external_tools::load(settings) {
        Ok(tools) => tools,
        Err(error) => return Finding::Bad(format!("{error:#}")),
    };
    if let Some(lack) = wire::external_tools::cannot_call_back(settings, &tools) {
        return Finding::Note(lack.to_owned());
    }
    match tools.as_slice() {
        [] => Finding::Good("only the built-in ones; CHAT_TOOLS_FILE adds others.".to_owned()),
        tools => {
            let names: Vec<&str> = tools.iter().map(ExternalToolDescription::name).collect();
            Finding::Good(format!("beside the built-in ones {}.", names.join(", ")))
        }
    }
}

fn names(layers: &Layers) -> Finding {
    match layers.unknown().as_slice() {
        [] => Finding::Good("all names are known.".to_owned()),
        unknown => Finding::Note(format!("not known, perhaps misspelt: {}.", unknown.join(", "))),
    }
}
