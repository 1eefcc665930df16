//! `pilothouse doctor`: checks every dependency, says how to fix what is wrong, and prints the settings in
//! effect with secrets masked.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

use toolbox::sandbox::Sandbox;

use crate::config::{Layers, Provider, Settings};
use crate::wire;

/// How long the provider may take to show that it is there.
const PATIENCE: Duration = Duration::from_secs(5);

/// What one check found.
enum Finding {
    Good(String),
    /// Works, but not as well as it could.
    Note(String),
    Bad(String),
}

pub(crate) async fn run(settings: &Settings, layers: &Layers) -> anyhow::Result<ExitCode> {
    let findings = [
        ("Store", store(settings).await),
        ("Port", port(settings).await),
        ("Model", model(settings).await),
        ("Shell", shell().await),
        ("Settings", names(layers)),
    ];
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
        write!(report, "\n  {name:<34} {value:<28} {}", layers.origin(name).as_str())?;
    }
    super::print(&report)?;
    Ok(code)
}

async fn store(settings: &Settings) -> Finding {
    let connected = match wire::connect(settings).await {
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
    let healthy = connected.ports.health.failing().await;
    let closed = connected.backend.close().await;
    match closed {
        Ok(()) if healthy.is_empty() => {
            Finding::Good(format!("{} can be read and written.", settings.data.display()))
        }
        outcome => Finding::Bad(format!(
            "{} opens, but fails: {:?}.",
            settings.data.display(),
            outcome.map_err(|error| error.to_string()).map(|()| healthy)
        )),
    }
}

async fn port(settings: &Settings) -> Finding {
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

async fn shell() -> Finding {
    match Sandbox::detect().await {
        Ok(_) => Finding::Good("commands run in a sandbox.".to_owned()),
        Err(reason) => Finding::Note(format!("there is no shell tool: {reason}")),
    }
}

fn names(layers: &Layers) -> Finding {
    match layers.unknown().as_slice() {
        [] => Finding::Good("all names are known.".to_owned()),
        unknown => Finding::Note(format!("not known, perhaps misspelt: {}.", unknown.join(", "))),
    }
}
