//! The three servers of a distributed installation: all of them or none.

use super::server_url::{ServerUrl, UrlParts};
use super::{ConfigLayers, Settings};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerUrls {
    pub(crate) postgres: ServerUrl,
    pub(crate) redis: ServerUrl,
    pub(crate) rabbitmq: ServerUrl,
}

/// The names of the settings of one server.
struct ServerSettings {
    url: &'static str,
    host: &'static str,
    others: &'static [&'static str],
    schemes: &'static [&'static str],
}

const POSTGRES: ServerSettings = ServerSettings {
    url: "DATABASE_URL",
    host: "DB_HOST",
    others: &["DB_PORT", "DB_USER", "DB_PASS", "DB_NAME"],
    schemes: &["postgres", "postgresql"],
};
const REDIS: ServerSettings = ServerSettings {
    url: "REDIS_URL",
    host: "REDIS_HOST",
    others: &["REDIS_PORT", "REDIS_PASSWORD"],
    schemes: &["redis", "rediss"],
};
const RABBITMQ: ServerSettings = ServerSettings {
    url: "RABBITMQ_URL",
    host: "RABBITMQ_HOST",
    others: &["RABBITMQ_PORT", "RABBITMQ_DEFAULT_USER", "RABBITMQ_DEFAULT_PASS"],
    schemes: &["amqp", "amqps"],
};

impl Settings {
    /// `None`: the embedded store is used.
    pub(crate) fn servers(&self) -> Option<ServerUrls> {
        Some(ServerUrls {
            postgres: self.postgres()?.ok()?,
            redis: self.redis()?.ok()?,
            rabbitmq: self.rabbitmq()?.ok()?,
        })
    }

    fn postgres(&self) -> Option<Result<ServerUrl, &'static str>> {
        url_or_parts(&self.database_url, self.db_host.as_deref(), |host| UrlParts {
            scheme: "postgres",
            host,
            port: self.db_port,
            user: &self.db_user,
            password: self.db_pass.as_ref(),
            path: &self.db_name,
        })
    }

    fn redis(&self) -> Option<Result<ServerUrl, &'static str>> {
        url_or_parts(&self.redis_url, self.redis_host.as_deref(), |host| UrlParts {
            scheme: "redis",
            host,
            port: self.redis_port,
            user: "",
            password: self.redis_password.as_ref(),
            path: "0",
        })
    }

    fn rabbitmq(&self) -> Option<Result<ServerUrl, &'static str>> {
        url_or_parts(&self.rabbitmq_url, self.rabbitmq_host.as_deref(), |host| UrlParts {
            scheme: "amqp",
            host,
            port: self.rabbitmq_port,
            user: &self.rabbitmq_user,
            password: self.rabbitmq_pass.as_ref(),
            path: "/",
        })
    }

    /// A sentence for every reason why the three are neither all set nor all absent.
    pub(crate) fn check_all_or_none(&self, layers: &ConfigLayers) -> Vec<String> {
        let servers =
            [(POSTGRES, self.postgres()), (REDIS, self.redis()), (RABBITMQ, self.rabbitmq())];
        let mut problems = Vec::new();
        let mut given: Vec<&str> = Vec::new();
        let mut missing = Vec::new();
        for (names, address) in &servers {
            // A password alone also shows that a server is intended; ignoring it would use the problems store.
            let mut all = [names.url, names.host].into_iter().chain(names.others.iter().copied());
            given.extend(all.find(|name| layers.find(name).is_some()));
            match address {
                None => missing.push(format!("{} (or {})", names.url, names.host)),
                Some(Err(expected)) => problems.push(format!("{} must be {expected}.", names.host)),
                Some(Ok(url)) if !names.schemes.contains(&url.scheme()) => {
                    problems
                        .push(format!("{} must start with {}://.", names.url, names.schemes[0]));
                }
                Some(Ok(_)) => {}
            }
        }
        if !given.is_empty() && !missing.is_empty() {
            problems.push(format!(
                "{} is set, but {} is not: set Postgres, Redis and RabbitMQ for a distributed installation, or none of them for the embedded store (look in the environment, .env and .env.default).",
                given.join(", "),
                missing.join(" and ")
            ));
        } else if given.is_empty() && !self.roles.are_all() {
            problems.push("PILOTHOUSE_ROLES (or --role) gives this process only some of the roles, but with the embedded store one process has all roles: leave it out, or set DATABASE_URL, REDIS_URL and RABBITMQ_URL.".to_owned());
        }
        problems
    }
}

/// The URL if it is set, otherwise one built from its parts.
fn url_or_parts<'a>(
    url: &Option<ServerUrl>,
    host: Option<&'a str>,
    parts: impl FnOnce(&'a str) -> UrlParts<'a>,
) -> Option<Result<ServerUrl, &'static str>> {
    match (url, host) {
        (Some(url), _) => Some(Ok(url.clone())),
        (None, Some(host)) => Some(ServerUrl::of(&parts(host))),
        (None, None) => None,
    }
}
