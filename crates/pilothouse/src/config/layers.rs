//! Where values come from: command line, over environment, over `.env`, over `.env.default`, over the
//! built-in defaults. Nothing is written into the process environment.

use std::collections::BTreeMap;
use std::path::Path;

use super::Settings;
use super::check::Refusal;
use super::value::Value;

/// Where a value was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    CommandLine,
    Environment,
    DotEnv,
    DotEnvDefault,
    BuiltIn,
}

impl Origin {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::CommandLine => "command line",
            Self::Environment => "environment",
            Self::DotEnv => ".env",
            Self::DotEnvDefault => ".env.default",
            Self::BuiltIn => "default",
        }
    }
}

/// All sources, the strongest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    layers: Vec<(Origin, BTreeMap<String, String>)>,
}

impl Layers {
    /// The sources of this process: `flags` are what the command line said, `folder` is where `.env` is looked for.
    #[expect(clippy::disallowed_methods, reason = "the one reader of the environment")]
    pub(crate) fn of_process(flags: Vec<(&str, String)>, folder: &Path) -> Result<Self, Refusal> {
        let flags = flags.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        // Names and values that are not text cannot be settings of ours.
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Ok(Self {
            layers: vec![
                (Origin::CommandLine, flags),
                (Origin::Environment, environment),
                (Origin::DotEnv, read_file(&folder.join(".env"))?),
                (Origin::DotEnvDefault, read_file(&folder.join(".env.default"))?),
            ],
        })
    }

    #[cfg(test)]
    pub(super) fn of(layers: Vec<(Origin, &[(&str, &str)])>) -> Self {
        let owned = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        Self { layers: layers.into_iter().map(|(origin, pairs)| (origin, owned(pairs))).collect() }
    }

    /// The strongest value. An empty one counts as not set, as compose files produce them.
    pub(crate) fn find(&self, name: &str) -> Option<(Origin, &str)> {
        self.layers.iter().find_map(|(origin, values)| {
            let value = values.get(name)?.trim();
            (!value.is_empty()).then_some((*origin, value))
        })
    }

    pub(crate) fn origin(&self, name: &str) -> Origin {
        self.find(name).map_or(Origin::BuiltIn, |(origin, _)| origin)
    }

    pub(super) fn parse<T: Value>(
        &self,
        name: &str,
        default: &str,
        wrong: &mut Vec<String>,
    ) -> Option<T> {
        let (origin, text) = self.find(name).unwrap_or((Origin::BuiltIn, default));
        match T::read(text) {
            Ok(value) => Some(value),
            Err(wanted) => {
                // The value itself is not repeated: it may be a secret in the wrong place.
                wrong.push(format!("{name} ({}) must be {wanted}.", origin.as_str()));
                None
            }
        }
    }

    /// Names that look like ours but are not: usually misspelt.
    pub(crate) fn unknown(&self) -> Vec<&str> {
        let mut unknown: Vec<&str> = self
            .layers
            .iter()
            .flat_map(|(_, values)| values.keys())
            .map(String::as_str)
            .filter(|name| name.starts_with("CHAT_") || name.starts_with("PILOTHOUSE_"))
            .filter(|name| Settings::ALL.iter().all(|known| known.name != *name))
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }
}

fn read_file(path: &Path) -> Result<BTreeMap<String, String>, Refusal> {
    let refused = |reason: String| Refusal(vec![format!("{} {reason}.", path.display())]);
    if !path.is_file() {
        return Ok(BTreeMap::new());
    }
    dotenvy::from_path_iter(path)
        .map_err(|error| refused(format!("cannot be read: {error}")))?
        .collect::<Result<_, _>>()
        // The library's own text repeats the line, which may hold a secret.
        .map_err(|_| refused("has a line that is not NAME=value".to_owned()))
}
