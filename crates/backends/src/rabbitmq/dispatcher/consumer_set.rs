//! The consumers that are open on the queue, merged into one stream of events, and their channels.

use std::task::Poll;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, FuturesUnordered, SelectAll};
use lapin::message::Delivery;
use lapin::options::{BasicCancelOptions, BasicConsumeOptions};
use lapin::types::{FieldTable, ShortString};
use lapin::{Channel, Consumer};

use super::consumer_ledger::ConsumerId;

pub(crate) enum ConsumerEvent {
    Delivery(Delivery),
    Failed(lapin::Error),
    Ended,
}

enum ConsumerReply {
    Opened(Consumer),
    Cancelled,
}

type RequestResult = (ConsumerId, lapin::Result<ConsumerReply>);

pub(crate) struct ConsumerSet {
    channels: Vec<Channel>,
    queue: String,
    /// Requests sent and not answered yet.
    requests: FuturesUnordered<BoxFuture<'static, RequestResult>>,
    streams: SelectAll<BoxStream<'static, (ConsumerId, ConsumerEvent)>>,
}

impl ConsumerSet {
    pub(crate) fn new(channels: Vec<Channel>, queue: String) -> Self {
        Self { channels, queue, requests: FuturesUnordered::new(), streams: SelectAll::new() }
    }

    /// The channel for everything about this consumer: the broker keeps the order within a channel.
    pub(crate) fn channel_of(&self, id: ConsumerId) -> &Channel {
        &self.channels[id as usize % self.channels.len()]
    }

    /// The next event of any consumer. Pending while there are no consumers.
    pub(crate) async fn next(&mut self) -> (ConsumerId, ConsumerEvent) {
        loop {
            tokio::select! {
                Some((id, answer)) = self.requests.next() => match answer {
                    Ok(ConsumerReply::Opened(consumer)) => self.streams.push(news(id, consumer)),
                    Ok(ConsumerReply::Cancelled) => {}
                    Err(error) => return (id, ConsumerEvent::Failed(error)),
                },
                Some(news) = self.streams.next() => return news,
                else => std::future::pending().await,
            }
        }
    }

    /// Not with `nowait`: the client would register the consumer only after the broker did, and a message sent in
    /// between would be lost in the client.
    pub(crate) async fn open(&mut self, id: ConsumerId) {
        let (channel, queue) = (self.channel_of(id).clone(), self.queue.as_str().into());
        self.send_request(Box::pin(async move {
            let (options, arguments) = (BasicConsumeOptions::default(), FieldTable::default());
            let opened = channel.basic_consume(queue, tag(id), options, arguments).await;
            (id, opened.map(ConsumerReply::Opened))
        }))
        .await;
    }

    /// An idle consumer may still receive a message, always before its end: the broker replies after the message.
    pub(crate) async fn cancel(&mut self, id: ConsumerId) {
        let channel = self.channel_of(id).clone();
        self.send_request(Box::pin(async move {
            let cancelled = channel.basic_cancel(tag(id), BasicCancelOptions::default()).await;
            (id, cancelled.map(|()| ConsumerReply::Cancelled))
        }))
        .await;
    }

    /// Sends a request before it returns, so that it precedes whatever is sent next, and leaves the reply to `next`:
    /// the broker writes to disk before it replies.
    async fn send_request(&mut self, mut request: BoxFuture<'static, RequestResult>) {
        match futures::poll!(&mut request) {
            Poll::Pending => self.requests.push(request),
            Poll::Ready(answered) => self.requests.push(Box::pin(std::future::ready(answered))),
        }
    }
}

fn news(id: ConsumerId, consumer: Consumer) -> BoxStream<'static, (ConsumerId, ConsumerEvent)> {
    let news = consumer.map(move |item| match item {
        Ok(delivery) => (id, ConsumerEvent::Delivery(delivery)),
        Err(error) => (id, ConsumerEvent::Failed(error)),
    });
    news.chain(stream::once(async move { (id, ConsumerEvent::Ended) })).boxed()
}

fn tag(id: ConsumerId) -> ShortString {
    format!("worker-{id}").into()
}
