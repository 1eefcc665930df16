//! The consumers that are open on the queue, heard as one stream, and the channels they are on.

use std::task::Poll;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, FuturesUnordered, SelectAll};
use lapin::message::Delivery;
use lapin::options::{BasicCancelOptions, BasicConsumeOptions};
use lapin::types::{FieldTable, ShortString};
use lapin::{Channel, Consumer};

use super::book::ConsumerId;

pub(super) enum News {
    Delivery(Delivery),
    Failed(lapin::Error),
    Ended,
}

enum Answer {
    Opened(Consumer),
    Cancelled,
}

type Answered = (ConsumerId, lapin::Result<Answer>);

pub(super) struct Consumers {
    channels: Vec<Channel>,
    queue: String,
    /// Requests that were sent, and not answered yet.
    asked: FuturesUnordered<BoxFuture<'static, Answered>>,
    streams: SelectAll<BoxStream<'static, (ConsumerId, News)>>,
}

impl Consumers {
    pub(super) fn new(channels: Vec<Channel>, queue: String) -> Self {
        Self { channels, queue, asked: FuturesUnordered::new(), streams: SelectAll::new() }
    }

    /// Where everything of this consumer is said: within a channel the broker keeps the order.
    pub(super) fn channel_of(&self, id: ConsumerId) -> &Channel {
        &self.channels[id as usize % self.channels.len()]
    }

    /// The next thing any of them says. Waits for ever while there are none.
    pub(super) async fn next(&mut self) -> (ConsumerId, News) {
        loop {
            tokio::select! {
                Some((id, answer)) = self.asked.next() => match answer {
                    Ok(Answer::Opened(consumer)) => self.streams.push(news(id, consumer)),
                    Ok(Answer::Cancelled) => {}
                    Err(error) => return (id, News::Failed(error)),
                },
                Some(news) = self.streams.next() => return news,
                else => std::future::pending().await,
            }
        }
    }

    /// Not with the flag that asks for no answer: the client would know the consumer only after the broker, which may be
    /// quick enough to send it a message first, and that message would be lost in the client.
    pub(super) async fn open(&mut self, id: ConsumerId) {
        let (channel, queue) = (self.channel_of(id).clone(), self.queue.as_str().into());
        self.ask(Box::pin(async move {
            let (options, arguments) = (BasicConsumeOptions::default(), FieldTable::default());
            let opened = channel.basic_consume(queue, tag(id), options, arguments).await;
            (id, opened.map(Answer::Opened))
        }))
        .await;
    }

    /// An idle one may have a message on its way, which is heard before its end: the broker's answer comes behind it.
    pub(super) async fn cancel(&mut self, id: ConsumerId) {
        let channel = self.channel_of(id).clone();
        self.ask(Box::pin(async move {
            let cancelled = channel.basic_cancel(tag(id), BasicCancelOptions::default()).await;
            (id, cancelled.map(|()| Answer::Cancelled))
        }))
        .await;
    }

    /// Sends a request before it returns, so that it has its place before what is said next, and leaves the answer to
    /// `next`: the broker needs its disks for one.
    async fn ask(&mut self, mut request: BoxFuture<'static, Answered>) {
        match futures::poll!(&mut request) {
            Poll::Pending => self.asked.push(request),
            Poll::Ready(answered) => self.asked.push(Box::pin(std::future::ready(answered))),
        }
    }
}

fn news(id: ConsumerId, consumer: Consumer) -> BoxStream<'static, (ConsumerId, News)> {
    let news = consumer.map(move |item| match item {
        Ok(delivery) => (id, News::Delivery(delivery)),
        Err(error) => (id, News::Failed(error)),
    });
    news.chain(stream::once(async move { (id, News::Ended) })).boxed()
}

fn tag(id: ConsumerId) -> ShortString {
    format!("worker-{id}").into()
}
