//! The connections of one process to its servers, each of which can be broken for this process alone.

use testkit::proxy::FaultProxy;
use testkit::services::{DATABASE_URL, RABBITMQ_URL, REDIS_URL, TestServerUrls};

pub(crate) struct ServerProxies {
    pub(crate) postgres: FaultProxy,
    pub(crate) redis: FaultProxy,
    pub(crate) rabbitmq: FaultProxy,
    settings: Vec<(String, String)>,
}

impl ServerProxies {
    pub(crate) fn to(urls: &TestServerUrls) -> Self {
        let before = |url: &str| FaultProxy::in_front_of(url).expect("the URL of a server");
        let (postgres, database_url) = before(&urls.database);
        let (redis, redis_url) = before(&urls.redis);
        let (rabbitmq, rabbitmq_url) = before(&urls.rabbitmq);
        let settings =
            [(DATABASE_URL, database_url), (REDIS_URL, redis_url), (RABBITMQ_URL, rabbitmq_url)];
        let settings = settings.map(|(name, url)| (name.to_owned(), url)).to_vec();
        Self { postgres, redis, rabbitmq, settings }
    }

    /// The settings that route a process through these proxies.
    pub(crate) fn settings(&self) -> &[(String, String)] {
        &self.settings
    }
}
