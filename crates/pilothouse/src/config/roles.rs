//! The roles of a process.

use std::fmt;

use super::value::SettingValue;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ProcessRole {
    /// Serves clients: accepts messages and streams responses.
    Api,
    /// Runs turns.
    Executor,
    /// Finds turns that were lost by the queue.
    Scheduler,
}

impl ProcessRole {
    const ALL: [Self; 3] = [Self::Api, Self::Executor, Self::Scheduler];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Executor => "executor",
            Self::Scheduler => "scheduler",
        }
    }
}

/// At least one role, each once, in the order of `ProcessRole::ALL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessRoles(Vec<ProcessRole>);

impl ProcessRoles {
    pub(crate) fn all() -> Self {
        Self(ProcessRole::ALL.to_vec())
    }

    pub(crate) fn has(&self, role: ProcessRole) -> bool {
        self.0.contains(&role)
    }

    pub(crate) fn are_all(&self) -> bool {
        self.0.len() == ProcessRole::ALL.len()
    }
}

impl fmt::Display for ProcessRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(", "))
    }
}

impl SettingValue for ProcessRoles {
    const KIND: &'static str = "roles";
    fn read(text: &str) -> Result<Self, &'static str> {
        let expected = "some of `api`, `executor` and `scheduler`, separated by commas";
        let mut named = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            named.push(
                ProcessRole::ALL.into_iter().find(|role| role.as_str() == word).ok_or(expected)?,
            );
        }
        let roles: Vec<ProcessRole> =
            ProcessRole::ALL.into_iter().filter(|role| named.contains(role)).collect();
        if roles.is_empty() { Err(expected) } else { Ok(Self(roles)) }
    }
    fn shown(&self) -> String {
        self.to_string()
    }
}
