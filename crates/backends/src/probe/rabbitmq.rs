//! Checks that RabbitMQ is reachable and supports quorum queues, which survive the loss of a node.

use lapin::options::{QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Connection, ConnectionProperties, ErrorKind};
use uuid::Uuid;

use super::{ServerProbe, TIMEOUT};

const NAME: &str = "RabbitMQ";
/// Expiry of the probe queue, in case its deletion fails.
const EXPIRES_MS: i32 = 60_000;
const ACCESS_REFUSED: u16 = 403;
const NOT_ALLOWED: u16 = 530;

pub(crate) async fn probe(url: &str, prefix: &str) -> ServerProbe {
    match tokio::time::timeout(TIMEOUT, look(url, prefix)).await {
        Ok(probe) => probe,
        Err(_) => ServerProbe::bad(
            NAME,
            format!("no response within {} s", TIMEOUT.as_secs()),
            "Check host and port, and that no firewall drops the connection.",
        ),
    }
}

async fn look(url: &str, prefix: &str) -> ServerProbe {
    let properties =
        ConnectionProperties::default().with_connection_name("pilothouse doctor".into());
    let connection = match Connection::connect(url, properties).await {
        Ok(connection) => connection,
        Err(error) => return no_connection(&error),
    };
    let made = make_a_queue(&connection, prefix).await;
    // The result is known; a connection that does not close cleanly ends with the process.
    let _ = connection.close(200, "done".into()).await;
    match made {
        Ok(()) => ServerProbe::good(NAME, "connected, quorum queues can be created"),
        Err(error) => ServerProbe::bad(
            NAME,
            format!("a quorum queue cannot be created ({})", describe(&error)),
            "Use RabbitMQ 3.8 or newer, and let the user configure, write and read in its virtual host: `rabbitmqctl set_permissions -p VHOST USER '.*' '.*' '.*'`.",
        ),
    }
}

async fn make_a_queue(connection: &Connection, prefix: &str) -> Result<(), lapin::Error> {
    let channel = connection.create_channel().await?;
    let name = format!("{prefix}pilothouse_doctor_{}", Uuid::new_v4().simple());
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    arguments.insert("x-expires".into(), AMQPValue::LongInt(EXPIRES_MS));
    let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    channel.queue_declare(name.as_str().into(), options, arguments).await?;
    channel.queue_delete(name.as_str().into(), QueueDeleteOptions::default()).await?;
    Ok(())
}

fn no_connection(error: &lapin::Error) -> ServerProbe {
    let (found, advice) = match error.kind() {
        ErrorKind::ProtocolError(said) if said.get_id() == ACCESS_REFUSED => (
            "it refuses user or password".to_owned(),
            "Check both; the user guest may only connect from the broker's own machine.",
        ),
        ErrorKind::ProtocolError(said) if said.get_id() == NOT_ALLOWED => (
            "the virtual host does not exist, or this user may not use it".to_owned(),
            "The virtual host is the path of the address (/%2f for the first one). Create it with `rabbitmqctl add_vhost VHOST` and `rabbitmqctl set_permissions -p VHOST USER '.*' '.*' '.*'`.",
        ),
        ErrorKind::IOError(_) => (
            format!("no connection ({})", describe(error)),
            "Check that RabbitMQ runs, host and port, and amqps:// for TLS.",
        ),
        _ => (
            format!("no connection ({})", describe(error)),
            "Check that this is the AMQP port of RabbitMQ, usually 5672.",
        ),
    };
    ServerProbe::bad(NAME, found, advice)
}

fn describe(error: &lapin::Error) -> String {
    match error.kind() {
        ErrorKind::ProtocolError(said) => said.get_message().to_string(),
        ErrorKind::IOError(error) => error.to_string(),
        _ => error.to_string(),
    }
}
