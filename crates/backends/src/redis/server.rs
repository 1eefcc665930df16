//! Which Redis to talk to, and how: no waiting for more bytes before sending, and no wait without a bound.

use std::time::Duration;

use redis::io::tcp::TcpSettings;
use redis::{AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion};

use crate::connect::ConnectError;

/// A server that has not answered by then is not there.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(super) struct Server {
    pub(super) client: Client,
    /// Host and port, without any secret.
    address: String,
}

impl Server {
    pub(super) fn new(url: &str) -> Result<Self, ConnectError> {
        let refused =
            |reason: String| ConnectError::Redis { address: "its address".into(), reason };
        let info = url.into_connection_info().map_err(|error| refused(error.to_string()))?;
        if matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
            // The client brings no cryptography of its own. That another part of the program was quicker is fine.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let address = info.addr().to_string();
        // The third version of the protocol, because it lets one connection both ask and listen.
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let tcp = TcpSettings::default().set_nodelay(true);
        let info = info.set_redis_settings(settings).set_tcp_settings(tcp);
        let client = Client::open(info).map_err(|error| refused(error.to_string()))?;
        Ok(Self { client, address })
    }

    pub(super) fn patient(&self) -> AsyncConnectionConfig {
        AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE))
    }

    pub(super) fn refused(&self, reason: impl ToString) -> ConnectError {
        ConnectError::Redis { address: self.address.clone(), reason: reason.to_string() }
    }
}
