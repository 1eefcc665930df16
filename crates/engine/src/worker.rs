//! Takes deliveries and runs the turns they name. The only place where a delivery is settled.

use std::sync::Arc;
use std::time::Duration;

use ports::leases::Claimed;
use ports::queue::Delivery;
use protocol::WorkerId;

use crate::tasks::Kind;
use crate::turn;
use crate::{Engine, Inner, sweep};

/// How long to leave a queue or store alone that has just failed.
const PAUSE: Duration = Duration::from_secs(1);

impl Engine {
    /// Starts the workers, the sweeper and the listener. They run until `shutdown`.
    pub fn start(&self) {
        let inner = &self.inner;
        metrics::gauge!("copilot_executor_pool_size").set(inner.options.workers as f64);
        for _ in 0..inner.options.workers {
            inner.tasks.spawn(Kind::Worker, work(inner.clone()));
        }
        inner.tasks.spawn(Kind::Sweeper, sweep::sweep(inner.clone()));
        inner.tasks.spawn(Kind::Listener, turn::registry::listen(inner.clone()));
    }
}

async fn work(inner: Arc<Inner>) {
    let worker = WorkerId::fresh();
    loop {
        let delivery = tokio::select! {
            () = inner.phase.stopping() => return,
            delivery = inner.ports.queue.pop() => delivery,
        };
        match delivery {
            Ok(delivery) => handle(&inner, &worker, delivery).await,
            Err(error) => {
                tracing::warn!(%error, "the queue gives no deliveries");
                tokio::select! {
                    () = inner.phase.stopping() => return,
                    () = tokio::time::sleep(PAUSE) => {}
                }
            }
        }
    }
}

async fn handle(inner: &Arc<Inner>, worker: &WorkerId, delivery: Delivery) {
    let turn_id = delivery.turn_id.clone();
    let claimed = inner.ports.leases.claim(&turn_id, worker, inner.options.lease).await;
    let (settled, run) = match claimed {
        Ok(Claimed::Won { claim, turn, log_at }) => {
            // The claim is committed, so the delivery has done its duty. Settling it is not worth waiting for.
            tokio::join!(delivery.ack(), turn::run(inner.clone(), claim, *turn, log_at))
        }
        Ok(Claimed::Held | Claimed::Waits | Claimed::Ended) => (delivery.ack().await, ()),
        Err(error) => {
            tracing::warn!(turn.id = %turn_id, %error, "a turn could not be claimed");
            (delivery.to_back(PAUSE).await, ())
        }
    };
    let () = run;
    if let Err(error) = settled {
        // It comes back, and the claim then says that there is nothing to do.
        tracing::warn!(turn.id = %turn_id, %error, "a delivery could not be settled");
    }
}
