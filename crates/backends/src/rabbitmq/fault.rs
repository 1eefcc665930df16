//! Maps the broker's errors to start-up errors for the operator and port errors for callers.

use lapin::ErrorKind;
use lapin::protocol::{AMQPErrorKind, AMQPHardError, AMQPSoftError};
use lapin::uri::AMQPUri;
use ports::PortError;

use super::dial::DialError;
use crate::connect::ConnectError;

pub(crate) fn unavailable(reason: impl Into<String>) -> PortError {
    PortError::Unavailable(format!("RabbitMQ: {}", reason.into()))
}

pub(crate) fn lost(error: &lapin::Error) -> PortError {
    unavailable(error.to_string())
}

/// Why connecting failed, for the person who starts the program.
pub(crate) fn at_start(error: DialError, uri: &AMQPUri) -> ConnectError {
    let broker = format!("{}:{}", uri.authority.host, uri.authority.port);
    let error = match error {
        DialError::TooSlow => {
            let reason = "it does not answer".to_owned();
            return ConnectError::BrokerUnreachable { broker, reason };
        }
        DialError::Failed(error) => error,
    };
    let refused = match error.kind() {
        ErrorKind::ProtocolError(refused) => refused,
        ErrorKind::IOError(failure) => {
            return ConnectError::BrokerUnreachable { broker, reason: failure.to_string() };
        }
        _ => return ConnectError::Broker { broker, reason: error.to_string() },
    };
    let reason = refused.get_message().to_string();
    match refused.kind() {
        AMQPErrorKind::Soft(AMQPSoftError::ACCESSREFUSED) => {
            ConnectError::BrokerRefused { broker, user: uri.authority.userinfo.username.clone() }
        }
        AMQPErrorKind::Hard(AMQPHardError::NOTALLOWED) => {
            ConnectError::BrokerVhost { broker, vhost: uri.vhost.clone(), reason }
        }
        AMQPErrorKind::Soft(AMQPSoftError::PRECONDITIONFAILED) => {
            ConnectError::BrokerTopology { broker, reason }
        }
        _ => ConnectError::Broker { broker, reason },
    }
}
