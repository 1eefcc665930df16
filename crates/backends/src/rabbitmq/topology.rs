//! Declares the exchanges and queues. Declaring what is there with the same properties changes nothing, so every process
//! does it every time it connects.

use lapin::options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Channel, ExchangeKind};

use super::names::{Names, RUN_KEY};

/// How often a message may come back because the process that had it went away. Without a limit of our own, what happens
/// depends on the broker: older ones have none, newer ones drop the message after twenty.
const DELIVERIES: i64 = 20;
/// The oldest go first. A dead letter is only a trace: its job is in the database.
const DEAD_LETTERS_KEPT: i64 = 10_000;

pub(super) async fn declare(channel: &Channel, names: &Names) -> lapin::Result<()> {
    // What dead letters need comes first: the queue must never be there without it.
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
        ("x-delivery-limit", AMQPValue::LongLongInt(DELIVERIES)),
        ("x-dead-letter-exchange", dead_exchange),
    ];
    queue(channel, &names.queue, &arguments).await?;
    bind(channel, &names.queue, &names.execution, RUN_KEY).await?;

    exchange(channel, &names.cancel, ExchangeKind::Fanout).await
}

/// The queue of this process for cancellations. The broker names it, and removes it with the connection.
pub(super) async fn declare_own_queue(channel: &Channel, names: &Names) -> lapin::Result<String> {
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
