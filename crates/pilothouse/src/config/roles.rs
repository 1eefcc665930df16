//! What a process does of all there is to do.

use std::fmt;

use super::value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Role {
    /// Serves clients: takes messages in and streams answers.
    Api,
    /// Runs turns.
    Executor,
    /// Finds turns that the queue forgot.
    Scheduler,
}

impl Role {
    const ALL: [Self; 3] = [Self::Api, Self::Executor, Self::Scheduler];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Executor => "executor",
            Self::Scheduler => "scheduler",
        }
    }
}

/// At least one role, each once, in the order of `Role::ALL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roles(Vec<Role>);

impl Roles {
    pub(crate) fn has(&self, role: Role) -> bool {
        self.0.contains(&role)
    }

    pub(crate) fn are_all(&self) -> bool {
        self.0.len() == Role::ALL.len()
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(", "))
    }
}

impl Value for Roles {
    const KIND: &'static str = "roles";
    fn read(text: &str) -> Result<Self, &'static str> {
        let wanted = "some of `api`, `executor` and `scheduler`, separated by commas";
        let mut named = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            named.push(Role::ALL.into_iter().find(|role| role.as_str() == word).ok_or(wanted)?);
        }
        let roles: Vec<Role> = Role::ALL.into_iter().filter(|role| named.contains(role)).collect();
        if roles.is_empty() { Err(wanted) } else { Ok(Self(roles)) }
    }
    fn shown(&self) -> String {
        self.to_string()
    }
}
