//! Conformance laws of the queue. The other ports are those of the embedded backend, which these laws do not use.

use ports::Ports;
use protocol::limits::UserLimits;
use protocol::{Seq, TaskId};
use tempfile::TempDir;
use testkit::conformance;
use testkit::conformance::BackendFixture;

use std::sync::Arc;

use super::scratch::Scratch;
use crate::connect::{ConnectedBackend, connect};
use crate::options::ConnectOptions;
use crate::rabbitmq::RabbitBroker;

conformance::queue!(Brokered);

struct Brokered {
    connected: ConnectedBackend,
    rabbit: RabbitBroker,
    scratch: Scratch,
    _folder: TempDir,
}

impl BackendFixture for Brokered {
    async fn start_with(caps: UserLimits) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let options = ConnectOptions { caps, ..ConnectOptions::embedded(folder.path()) };
        let mut connected = connect(&options).await.expect("it opens");
        let scratch = Scratch::new();
        let rabbit = scratch.process().await;
        connected.ports.queue = Arc::new(rabbit.queue());
        Self { connected, rabbit, scratch, _folder: folder }
    }

    fn ports(&self) -> &Ports {
        &self.connected.ports
    }

    async fn restart(&mut self) {
        self.rabbit.close().await;
        self.rabbit = self.scratch.process().await;
        self.connected.ports.queue = Arc::new(self.rabbit.queue());
    }

    async fn trim(&mut self, _: &TaskId, _: Seq) {
        unreachable!("no law of the queue trims a log");
    }
}
