//! The sources of values, in order of precedence: command line, environment, `.env`, `.env.default`, built-in defaults.
//! Nothing is written into the process environment.

use std::collections::BTreeMap;
use std::path::Path;

use super::Settings;
use super::check::ConfigRefusal;
use super::value::SettingValue;

/// The source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueOrigin {
    CommandLine,
    Environment,
    DotEnv,
    DotEnvDefault,
    BuiltIn,
}

impl ValueOrigin {
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

/// All sources, highest precedence first.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfigLayers {
    layers: Vec<(ValueOrigin, BTreeMap<String, String>)>,
}

impl ConfigLayers {
    /// The sources of this process: `flags` from the command line, `.env` files from `folder`.
    #[expect(clippy::disallowed_methods, reason = "the only reader of the environment")]
    pub(crate) fn of_process(
        flags: Vec<(&str, String)>,
        folder: &Path,
    ) -> Result<Self, ConfigRefusal> {
        let flags = flags.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        // Names and values that are not UTF-8 cannot be settings.
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Ok(Self {
            layers: vec![
                (ValueOrigin::CommandLine, flags),
                (ValueOrigin::Environment, environment),
                (ValueOrigin::DotEnv, read_file(&folder.join(".env"))?),
                (ValueOrigin::DotEnvDefault, read_file(&folder.join(".env.default"))?),
            ],
        })
    }

    #[cfg(test)]
    pub(crate) fn of(layers: Vec<(ValueOrigin, &[(&str, &str)])>) -> Self {
        let owned = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        Self { layers: layers.into_iter().map(|(origin, pairs)| (origin, owned(pairs))).collect() }
    }

    /// The value with the highest precedence. An empty one counts as not set, because compose files produce them.
    pub(crate) fn find(&self, name: &str) -> Option<(ValueOrigin, &str)> {
        self.layers.iter().find_map(|(origin, values)| {
            let value = values.get(name)?.trim();
            (!value.is_empty()).then_some((*origin, value))
        })
    }

    pub(crate) fn origin(&self, name: &str) -> ValueOrigin {
        self.find(name).map_or(ValueOrigin::BuiltIn, |(origin, _)| origin)
    }

    pub(crate) fn parse<T: SettingValue>(
        &self,
        name: &str,
        default: &str,
        problems: &mut Vec<String>,
    ) -> Option<T> {
        let (origin, text) = self.find(name).unwrap_or((ValueOrigin::BuiltIn, default));
        match T::read(text) {
            Ok(value) => Some(value),
            Err(expected) => {
                // The value is not repeated: it may be a secret in the problems place.
                problems.push(format!("{name} ({}) must be {expected}.", origin.as_str()));
                None
            }
        }
    }

    /// Names with our prefixes that are not settings: usually misspelled.
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

fn read_file(path: &Path) -> Result<BTreeMap<String, String>, ConfigRefusal> {
    let refused = |reason: String| ConfigRefusal(vec![format!("{} {reason}.", path.display())]);
    if !path.is_file() {
        return Ok(BTreeMap::new());
    }
    dotenvy::from_path_iter(path)
        .map_err(|error| refused(format!("cannot be read: {error}")))?
        .collect::<Result<_, _>>()
        // The library's own text repeats the line, which may hold a secret.
        .map_err(|_| refused("has a line that is not NAME=value".to_owned()))
}
