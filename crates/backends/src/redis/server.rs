//! Address and connection settings of the Redis server: no send delay, and a time limit on every wait.

use std::time::Duration;

use redis::io::tcp::TcpSettings;
use redis::{AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion};

use crate::connect::ConnectError;

/// Time limit for connecting and for every reply.
pub(crate) const REPLY_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(crate) struct RedisServer {
    pub(crate) client: Client,
    /// Host and port, without any secret.
    address: String,
}

impl RedisServer {
    pub(crate) fn new(url: &str) -> Result<Self, ConnectError> {
        let refused =
            |reason: String| ConnectError::Redis { address: "its address".into(), reason };
        let info = url.into_connection_info().map_err(|error| refused(error.to_string()))?;
        if matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
            // The client brings no cryptography of its own. It is fine if another part of the program was first.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let address = info.addr().to_string();
        // RESP3, because it allows requests and subscriptions on one connection.
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let tcp = TcpSettings::default().set_nodelay(true);
        let info = info.set_redis_settings(settings).set_tcp_settings(tcp);
        let client = Client::open(info).map_err(|error| refused(error.to_string()))?;
        Ok(Self { client, address })
    }

    pub(crate) fn patient(&self) -> AsyncConnectionConfig {
        AsyncConnectionConfig::new()
            .set_connection_timeout(Some(REPLY_TIMEOUT))
            .set_response_timeout(Some(REPLY_TIMEOUT))
    }

    pub(crate) fn refused(&self, reason: impl ToString) -> ConnectError {
        ConnectError::Redis { address: self.address.clone(), reason: reason.to_string() }
    }
}
