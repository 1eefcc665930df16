//! Whether RabbitMQ is there and makes the kind of queue that survives the loss of a node.

use lapin::options::{QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Connection, ConnectionProperties, ErrorKind};
use uuid::Uuid;

use super::{PATIENCE, Probe};

const NAME: &str = "RabbitMQ";
/// A probe queue whose deletion was not heard goes by itself.
const EXPIRES_MS: i32 = 60_000;
const ACCESS_REFUSED: u16 = 403;
const NOT_ALLOWED: u16 = 530;

pub(super) async fn probe(url: &str, prefix: &str) -> Probe {
    match tokio::time::timeout(PATIENCE, look(url, prefix)).await {
        Ok(probe) => probe,
        Err(_) => Probe::bad(
            NAME,
            format!("no answer within {} s", PATIENCE.as_secs()),
            "Check host and port, and that no firewall drops the connection.",
        ),
    }
}

async fn look(url: &str, prefix: &str) -> Probe {
    let properties =
        ConnectionProperties::default().with_connection_name("pilothouse doctor".into());
    let connection = match Connection::connect(url, properties).await {
        Ok(connection) => connection,
        Err(error) => return no_connection(&error),
    };
    let made = make_a_queue(&connection, prefix).await;
    // The answer is known; a connection that does not close in order is closed by the end of the process.
    let _ = connection.close(200, "done".into()).await;
    match made {
        Ok(()) => Probe::good(NAME, "connected, quorum queues can be made"),
        Err(error) => Probe::bad(
            NAME,
            format!("a quorum queue cannot be made ({})", told(&error)),
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

fn no_connection(error: &lapin::Error) -> Probe {
    let (found, advice) = match error.kind() {
        ErrorKind::ProtocolError(said) if said.get_id() == ACCESS_REFUSED => (
            "it refuses user or password".to_owned(),
            "Check both; the user guest may only connect from the broker's own machine.",
        ),
        ErrorKind::ProtocolError(said) if said.get_id() == NOT_ALLOWED => (
            "this user may not use this virtual host, or there is none of that name".to_owned(),
            "The virtual host is the path of the address (/%2f for the first one). Make it with `rabbitmqctl add_vhost VHOST` and `rabbitmqctl set_permissions -p VHOST USER '.*' '.*' '.*'`.",
        ),
        ErrorKind::IOError(_) => (
            format!("no connection ({})", told(error)),
            "Check that RabbitMQ runs, host and port, and amqps:// for TLS.",
        ),
        _ => (
            format!("no connection ({})", told(error)),
            "Check that this is the AMQP port of RabbitMQ, usually 5672.",
        ),
    };
    Probe::bad(NAME, found, advice)
}

fn told(error: &lapin::Error) -> String {
    match error.kind() {
        ErrorKind::ProtocolError(said) => said.get_message().to_string(),
        ErrorKind::IOError(error) => error.to_string(),
        _ => error.to_string(),
    }
}
