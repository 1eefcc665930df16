//! Start-up errors when the broker cannot be used.

use lapin::options::QueueDeclareOptions;
use lapin::types::FieldTable;
use tokio::sync::broadcast;
use url::Url;

use super::scratch::{Scratch, broker};
use crate::connect::ConnectError;
use crate::rabbitmq::RabbitBroker;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_refusal_has_its_own_error_and_none_repeats_the_password() {
    let changed = |change: &dyn Fn(&mut Url)| {
        let mut url = Url::parse(&broker()).expect("an address");
        url.set_password(Some("a-secret")).expect("a password");
        change(&mut url);
        url.to_string()
    };
    let refused = refusal(&changed(&|_| {}), "").await;
    assert!(matches!(refused, ConnectError::BrokerRefused { .. }), "{refused}");
    let unreachable = refusal(&changed(&|url| url.set_port(Some(1)).expect("a port")), "").await;
    assert!(matches!(unreachable, ConnectError::BrokerUnreachable { .. }), "{unreachable}");
    let unreadable = refusal("amqp://guest:a-secret@:::/", "").await;
    assert_eq!(unreadable, ConnectError::BrokerAddress);
    for error in [refused, unreachable, unreadable] {
        assert!(!error.to_string().contains("a-secret"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_virtual_host_is_named() {
    let mut url = Url::parse(&broker()).expect("an address");
    url.set_path("nowhere");
    match refusal(url.as_str(), "").await {
        ConnectError::BrokerVhost { vhost, .. } => assert_eq!(vhost, "nowhere"),
        other => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_without_tls_fails_at_once() {
    let url = broker().replacen("amqp://", "amqps://", 1);
    let error = refusal(&url, "").await;
    assert!(matches!(error, ConnectError::BrokerUnreachable { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_with_other_properties_is_an_error_that_says_what_to_do() {
    let scratch = Scratch::new();
    let (channel, name) = (scratch.channel().await, scratch.names.queue.as_str().into());
    let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    channel.queue_declare(name, options, FieldTable::default()).await.expect("declared");
    let error = refusal(&scratch.url, &scratch.prefix).await;
    assert!(matches!(error, ConnectError::BrokerTopology { .. }), "{error}");
}

async fn refusal(url: &str, prefix: &str) -> ConnectError {
    match RabbitBroker::connect(url, prefix, broadcast::Sender::new(1)).await {
        Ok(_) => panic!("it must not connect"),
        Err(error) => error,
    }
}
