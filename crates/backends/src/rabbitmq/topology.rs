//! Declares the exchanges and queues. Declaring something that exists with the same properties changes nothing, so
//! every process does it every time it connects.

use lapin::options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Channel, ExchangeKind};

use super::topology_names::{ROUTING_KEY, TopologyNames};

/// How often a message may be redelivered because its process went away. Set explicitly because the default depends on
/// the broker: older versions have no limit, newer ones drop the message after twenty.
const DELIVERY_LIMIT: i64 = 20;
/// The oldest are dropped first. A dead letter is only a trace: its job is in the database.
const DEAD_LETTERS_KEPT: i64 = 10_000;

pub(crate) async fn declare(channel: &Channel, names: &TopologyNames) -> lapin::Result<()> {
    // Dead letters come first: the queue must never exist without their exchange.
    exchange(channel, &names.dead_exchange, ExchangeKind::Fanout).await?;
    queue(
        channel,
        &names.dead_queue,
        &[("x-max-length", AMQPValue::LongLongInt(DEAD_LETTERS_KEPT))],
    )
    .await?;
    bind(channel, &names.dead_queue, &names.dead_exchange, "").await?;

    exchange(channel, &names.execution, ExchangeKind::Direct).await?;
    let dead_exchange = AMQPValue::LongString(names.dead_exchange.as_str().into());
    let arguments = [
        ("x-delivery-limit", AMQPValue::LongLongInt(DELIVERY_LIMIT)),
        ("x-dead-letter-exchange", dead_exchange),
    ];
    queue(channel, &names.queue, &arguments).await?;
    bind(channel, &names.queue, &names.execution, ROUTING_KEY).await?;

    exchange(channel, &names.cancel, ExchangeKind::Fanout).await
}

/// Queue of this process for cancellations. The broker names it and removes it with the connection.
pub(crate) async fn declare_own_queue(
    channel: &Channel,
    names: &TopologyNames,
) -> lapin::Result<String> {
    let options = QueueDeclareOptions {
        exclusive: true,
        auto_delete: true,
        ..QueueDeclareOptions::default()
    };
    let queue = channel.queue_declare("".into(), options, FieldTable::default()).await?;
    let name = queue.name().to_string();
    bind(channel, &name, &names.cancel, "").await?;
    Ok(name)
}

async fn exchange(channel: &Channel, name: &str, kind: ExchangeKind) -> lapin::Result<()> {
    let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
    channel.exchange_declare(name.into(), kind, options, FieldTable::default()).await
}

/// A quorum queue, which survives the loss of a broker node and counts deliveries.
async fn queue(
    channel: &Channel,
    name: &str,
    arguments: &[(&str, AMQPValue)],
) -> lapin::Result<()> {
    let mut table = FieldTable::default();
    table.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    for (argument, value) in arguments {
        table.insert((*argument).into(), value.clone());
    }
    let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    channel.queue_declare(name.into(), options, table).await?;
    Ok(())
}

async fn bind(channel: &Channel, queue: &str, exchange: &str, key: &str) -> lapin::Result<()> {
    let (options, arguments) = (QueueBindOptions::default(), FieldTable::default());
    channel.queue_bind(queue.into(), exchange.into(), key.into(), options, arguments).await
}
