//! `pilothouse doctor`: checks every dependency, explains how to fix problems, and prints the effective settings with
//! secrets masked.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

use backends::ProbeOutcome;
use toolbox::external::ExternalToolDescription;
use toolbox::generators::{GeneratorOptions, ServiceProbe, probe_service};
use toolbox::sandbox::Sandbox;

use crate::config::{ConfigLayers, ProcessRole, SelectedProvider, Settings};
use crate::wire;

/// Time limit for a response of the model provider.
const PROVIDER_TIMEOUT: Duration = Duration::from_secs(5);

/// With less free space a busy day may fill the disk.
const MIN_FREE_BYTES: u64 = 1024 * 1024 * 1024;

/// The result of a check.
enum Finding {
    Good(String),
    /// Works, but could be better.
    Note(String),
    Bad(String),
}

pub(crate) async fn run(settings: &Settings, layers: &ConfigLayers) -> anyhow::Result<ExitCode> {
    let mut findings = match settings.servers() {
        None => vec![("Store", store(settings).await)],
        Some(_) => servers(settings).await,
    };
    findings.push(("Disk", disk(settings)));
    findings.push(("Port", port(settings).await));
    findings.push(("Model", model(settings).await));
    findings.push(("Generator", generator(settings).await));
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
    write!(report, "\nEffective settings:")?;
    for (name, value) in settings.shown() {
        write!(report, "\n  {name:<35} {value:<28} {}", layers.origin(name).as_str())?;
    }
    super::print(&report)?;
    Ok(code)
}

/// The servers of a distributed installation. The check changes nothing: the schema is created by `migrate`.
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
            ProbeOutcome::Good => Finding::Good(text),
            ProbeOutcome::Note => Finding::Note(text),
            ProbeOutcome::Bad => Finding::Bad(format!("{text} It is configured with {setting}.")),
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
                    "{} is in use, probably by a running server; stop it to check the store itself.",
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
        None => Finding::Good(format!("{data} is readable and writable.")),
        Some(reason) => Finding::Bad(format!("{data} can be opened, but fails: {reason}.")),
    }
}

/// The data folder, or the folder in which it will be created.
fn disk(settings: &Settings) -> Finding {
    let data = std::path::absolute(&settings.data).unwrap_or_else(|_| settings.data.clone());
    let Some(folder) = data.ancestors().find(|path| path.exists()) else {
        return Finding::Bad(format!("{} does not exist.", data.display()));
    };
    if rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err() {
        return Finding::Bad(format!(
            "{} is not writable. Make it writable for the user that runs the server, or choose another folder with --data.",
            folder.display()
        ));
    }
    let free =
        rustix::fs::statvfs(folder).map(|stats| stats.f_bavail.saturating_mul(stats.f_frsize));
    match free {
        Ok(free) if free >= MIN_FREE_BYTES => {
            Finding::Good(format!("{} GiB free at {}.", free >> 30, folder.display()))
        }
        Ok(free) => Finding::Note(format!(
            "only {} MiB free at {}. Free some space: messages are refused when the disk is full.",
            free >> 20,
            folder.display()
        )),
        Err(error) => Finding::Bad(format!("{} cannot be checked: {error}.", folder.display())),
    }
}

async fn port(settings: &Settings) -> Finding {
    if !settings.roles.has(ProcessRole::Api) {
        return Finding::Good("clients are served by other processes.".to_owned());
    }
    match tokio::net::TcpListener::bind((settings.host, settings.port)).await {
        Ok(_) => Finding::Good(format!("{} port {} is free.", settings.host, settings.port)),
        Err(error) => Finding::Note(format!(
            "{} port {} is not available ({error}), probably because a server is running; otherwise choose another port with --port.",
            settings.host, settings.port
        )),
    }
}

async fn model(settings: &Settings) -> Finding {
    let (url, keys) = match settings.provider() {
        Ok(SelectedProvider::Offline) => {
            return Finding::Note(
                "no model is connected, so the offline pilot responds. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or CHAT_BASE_URL and CHAT_MODEL.".to_owned(),
            );
        }
        Ok(SelectedProvider::OpenAi { base_url, .. }) => (base_url, "CHAT_BASE_URL"),
        Ok(SelectedProvider::Anthropic { .. }) => {
            (settings.anthropic_base_url.clone(), "ANTHROPIC_BASE_URL")
        }
        Err(reason) => return Finding::Bad(reason),
    };
    let name = match wire::provider(settings) {
        Ok(provider) => wire::describe(&*provider).name,
        Err(error) => return Finding::Bad(format!("{error:#}")),
    };
    let client = reqwest::Client::builder().timeout(PROVIDER_TIMEOUT).no_proxy().build();
    // Any response will do: a request without the key is refused, but proves that the provider is reachable.
    match async { client?.get(url.clone()).send().await }.await {
        Ok(_) => Finding::Good(format!("{name}; {} responds.", host(&url))),
        Err(error) => Finding::Bad(format!(
            "{} does not respond ({}). Check {keys} and the network.",
            host(&url),
            if error.is_timeout() { "timeout" } else { "no connection" }
        )),
    }
}

/// What makes agents from words.
async fn generator(settings: &Settings) -> Finding {
    let options = match wire::generator::options(settings) {
        Ok(GeneratorOptions::Service(options)) => options,
        Ok(GeneratorOptions::Model(_)) => {
            return Finding::Good("the model makes agents from words.".to_owned());
        }
        Ok(GeneratorOptions::Offline) => {
            return Finding::Good(
                "the offline pilot makes a few kinds of agents from words.".to_owned(),
            );
        }
        Ok(GeneratorOptions::Dummy) => {
            return Finding::Note(
                "agents from words are always the same, because AGENTGENERATOR_USE_DUMMY is on."
                    .to_owned(),
            );
        }
        Err(error) => return Finding::Bad(format!("{error:#}")),
    };
    let url = &options.base_url;
    match probe_service(&options).await {
        ServiceProbe::Healthy { blocks: Some(blocks) } => {
            Finding::Good(format!("{url} is healthy and has {blocks} blocks."))
        }
        ServiceProbe::Healthy { blocks: None } => {
            Finding::Note(format!("{url} is healthy, but does not list its blocks."))
        }
        ServiceProbe::Unhealthy(reason) => {
            Finding::Bad(format!("{url} cannot make agents yet: {reason}."))
        }
        ServiceProbe::Failed(reason) => Finding::Bad(format!(
            "{url}: {reason} Check AGENTGENERATOR_HOST and AGENTGENERATOR_PORT, or leave the host empty."
        )),
    }
}

fn host(url: &url::Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

async fn shell(settings: &Settings) -> Finding {
    if !settings.roles.has(ProcessRole::Executor) {
        return Finding::Good("turns run in other processes.".to_owned());
    }
    match Sandbox::detect().await {
        Ok(_) => Finding::Good("commands run in a sandbox.".to_owned()),
        Err(reason) => Finding::Note(format!("there is no shell tool: {reason}")),
    }
}

/// The external tools. Their services are not called: a call has effects.
fn tools(settings: &Settings) -> Finding {
    let tools = match wire::external_tools::load(settings) {
        Ok(tools) => tools,
        Err(error) => return Finding::Bad(format!("{error:#}")),
    };
    if let Some(problem) = wire::external_tools::callback_problem(settings, &tools) {
        return Finding::Note(problem.to_owned());
    }
    match tools.as_slice() {
        [] => Finding::Good("built-in tools only; CHAT_TOOLS_FILE adds others.".to_owned()),
        tools => {
            let names: Vec<&str> = tools.iter().map(ExternalToolDescription::name).collect();
            Finding::Good(format!("built-in tools and {}.", names.join(", ")))
        }
    }
}

fn names(layers: &ConfigLayers) -> Finding {
    match layers.unknown().as_slice() {
        [] => Finding::Good("all names are valid.".to_owned()),
        unknown => Finding::Note(format!("unknown, perhaps misspelled: {}.", unknown.join(", "))),
    }
}
