//! One simulated server process. Every port call goes through `SimNode::call`, which may refuse it, delay it, drop its
//! reply, or crash the node.

use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use ports::{PortError, PortResult};
use tokio::sync::{broadcast, oneshot};
use tokio::time::Instant;

use super::Simulation;
use super::backend::BackendState;
use super::fault_schedule::{CLIENT_TIMEOUT, OutageKind, SimService};

/// Latency of a call without a fault, at most.
const NORMAL_LATENCY: Duration = Duration::from_millis(4);
const SIGNAL_BUFFER: usize = 256;

pub struct SimNode {
    pub number: u32,
    pub(crate) sim: Arc<Simulation>,
    /// For values that outlive a call, such as a delivery.
    pub(crate) this: Weak<Self>,
    lifecycle: Mutex<NodeLifecycle>,
    pub(crate) signals: broadcast::Sender<ports::BusSignal>,
}

struct NodeLifecycle {
    state: NodeState,
    calls: u64,
    fault: NodeFault,
}

#[derive(Clone, Copy)]
enum NodeState {
    Running,
    PausedUntil(Instant),
    /// None of its calls ever returns. Its unsettled deliveries return to the queue; its leases expire.
    Crashed,
}

/// The fault that a node will have, at the given number of its calls.
#[derive(Clone, Copy, Debug)]
pub enum NodeFault {
    None,
    Crashes {
        at_call: u64,
        phase: CallPhase,
    },
    /// Its calls wait, but its timers keep running.
    Pauses {
        at_call: u64,
        phase: CallPhase,
        duration: Duration,
    },
    /// The clock of all nodes jumps ahead, as on a suspended machine: all timers are late at once.
    Suspends {
        at_call: u64,
        phase: CallPhase,
        duration: Duration,
    },
}

/// The moment of a node fault, relative to the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPhase {
    Before,
    /// The request was sent, and takes effect much later.
    InFlight,
    After,
}

/// Whether the node fault occurred now.
enum FaultHit {
    None,
    Fault,
    Suspended(Duration),
}

/// What happens to the reply of one call, and after how long.
enum ReplyOutcome {
    Delivered(Duration),
    Lost(Duration),
    /// The call itself takes effect only after this time.
    Delayed(Duration),
}

/// A port call, as the trace describes it.
pub(crate) struct PortCall {
    service: SimService,
    name: &'static str,
    about: String,
}

impl PortCall {
    pub(crate) fn new(service: SimService, name: &'static str, about: impl ToString) -> Self {
        Self { service, name, about: about.to_string() }
    }
}

impl SimNode {
    pub fn start(sim: &Arc<Simulation>, fault: NodeFault) -> Arc<Self> {
        let mut nodes = sim.nodes();
        let number = nodes.len() as u32 + 1;
        sim.trace_event(|| format!("node {number} starts, {fault:?}"));
        let signals = broadcast::Sender::new(SIGNAL_BUFFER);
        let lifecycle = Mutex::new(NodeLifecycle { state: NodeState::Running, calls: 0, fault });
        let node = Arc::new_cyclic(|this| Self {
            number,
            sim: sim.clone(),
            this: this.clone(),
            lifecycle,
            signals,
        });
        nodes.push(node.this.clone());
        node
    }

    pub fn is_crashed(&self) -> bool {
        matches!(self.lifecycle().state, NodeState::Crashed)
    }

    /// Neither crashed nor paused.
    pub(crate) fn is_running(&self) -> bool {
        match self.lifecycle().state {
            NodeState::Running => true,
            NodeState::PausedUntil(until) => until <= Instant::now(),
            NodeState::Crashed => false,
        }
    }

    pub fn crash(&self) {
        self.lifecycle().state = NodeState::Crashed;
        let mut state = self.sim.backend.state();
        let now = state.now;
        state.queue.return_all(self.number, now);
        state.completions.return_all(self.number);
        drop(state);
        self.sim.backend.job_queued.notify_waiters();
        self.sim.backend.completion_sent.notify_waiters();
        self.sim.trace_event(|| format!("node {} crashes", self.number));
    }

    /// Makes one port call. `effect` runs atomically on the shared state.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        call: PortCall,
        effect: impl FnOnce(&mut BackendState) -> PortResult<T> + Send + 'static,
        describe: fn(&T) -> String,
    ) -> PortResult<T> {
        let reply = match (
            self.send_request(call.service).await?,
            self.trigger_node_fault(CallPhase::InFlight),
        ) {
            (reply, FaultHit::None) => reply,
            (_, FaultHit::Fault | FaultHit::Suspended(_)) => {
                ReplyOutcome::Delayed(self.sim.longer_than_a_lease())
            }
        };
        let (service, sim, number) = (call.service, self.sim.clone(), self.number);
        let run = move || {
            let result = {
                let mut state = sim.backend.state();
                let result = effect(&mut state);
                sim.check_permits(&state);
                result
            };
            sim.trace_event(|| {
                let reply = result.as_ref().map_or_else(ToString::to_string, describe);
                format!("node {number} {} {} {reply}", call.name, call.about)
            });
            result
        };
        if let ReplyOutcome::Delayed(wait) = reply {
            return self.run_delayed(service, wait, run).await;
        }
        let result = run();
        self.receive_reply(service, reply).await?;
        result
    }

    /// Runs a request after a long delay, whether or not its sender still waits.
    async fn run_delayed<T: Send + 'static>(
        &self,
        service: SimService,
        wait: Duration,
        run: impl FnOnce() -> PortResult<T> + Send + 'static,
    ) -> PortResult<T> {
        let (reply, answered) = oneshot::channel();
        self.sim.delayed_requests.spawn(async move {
            tokio::time::sleep(wait).await;
            // The caller may have timed out.
            let _ = reply.send(run());
        });
        let answered = tokio::time::timeout(CLIENT_TIMEOUT, answered).await;
        self.wait_until_running().await;
        match answered {
            Ok(Ok(result)) => result,
            _ => Err(self.unavailable(service, "late")),
        }
    }

    /// Waits while the node is paused; never returns when it has crashed.
    pub(crate) async fn wait_until_running(&self) {
        loop {
            let state = self.lifecycle().state;
            match state {
                NodeState::Running => return,
                NodeState::PausedUntil(until) if until <= Instant::now() => return,
                NodeState::PausedUntil(until) => tokio::time::sleep_until(until).await,
                NodeState::Crashed => std::future::pending().await,
            }
        }
    }

    /// A point in a model call or tool call where a node fault may occur.
    pub(crate) async fn fault_point(&self) {
        self.apply_node_fault(CallPhase::Before).await;
    }

    async fn send_request(&self, service: SimService) -> PortResult<ReplyOutcome> {
        self.wait_until_running().await;
        self.apply_node_fault(CallPhase::Before).await;
        let now = self.sim.backend.now();
        let faults = &self.sim.faults;
        if faults.has_ended(now) {
            let usual = self.sim.rng().up_to(NORMAL_LATENCY);
            return Ok(ReplyOutcome::Delivered(usual));
        }
        if let Some(outage) = faults.outage(service, self.number, now) {
            return self.apply_outage(service, outage.kind).await;
        }
        let (fault, wait) = {
            let mut rng = self.sim.rng();
            let longest = if rng.chance(faults.slow) { faults.max_latency } else { NORMAL_LATENCY };
            (rng.below(1000), rng.up_to(longest))
        };
        if fault < faults.refused {
            self.sleep(wait).await;
            return Err(self.unavailable(service, "refused"));
        }
        if fault < faults.refused + faults.reply_lost {
            return Ok(ReplyOutcome::Lost(wait));
        }
        if fault < faults.refused + faults.reply_lost + faults.delayed {
            let wait = self.sim.rng().up_to(2 * self.sim.lease);
            return Ok(ReplyOutcome::Delayed(wait));
        }
        // Half of the latency is on the way there.
        self.sleep(wait / 2).await;
        Ok(ReplyOutcome::Delivered(wait / 2))
    }

    async fn apply_outage(
        &self,
        service: SimService,
        manner: OutageKind,
    ) -> PortResult<ReplyOutcome> {
        match manner {
            OutageKind::Refused => {
                self.sleep(Duration::from_millis(1)).await;
                Err(self.unavailable(service, "down"))
            }
            // The request may have arrived and only its reply be lost.
            OutageKind::NoReply if self.sim.rng().chance(100) => {
                Ok(ReplyOutcome::Lost(CLIENT_TIMEOUT))
            }
            OutageKind::NoReply => {
                self.sleep(CLIENT_TIMEOUT).await;
                Err(self.unavailable(service, "timed out"))
            }
        }
    }

    async fn receive_reply(&self, service: SimService, reply: ReplyOutcome) -> PortResult<()> {
        self.apply_node_fault(CallPhase::After).await;
        match reply {
            ReplyOutcome::Delivered(wait) => {
                self.sleep(wait).await;
                Ok(())
            }
            ReplyOutcome::Lost(wait) | ReplyOutcome::Delayed(wait) => {
                self.sleep(wait).await;
                Err(self.unavailable(service, "reply lost"))
            }
        }
    }

    async fn sleep(&self, wait: Duration) {
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
            self.wait_until_running().await;
        }
    }

    fn unavailable(&self, service: SimService, how: &str) -> PortError {
        self.sim.trace_event(|| format!("node {} {service:?} {how}", self.number));
        PortError::Unavailable(format!("{service:?} {how}"))
    }

    async fn apply_node_fault(&self, now: CallPhase) {
        if let FaultHit::Suspended(asleep) = self.trigger_node_fault(now) {
            self.sim.observations().resumed_at = self.sim.backend.now() + asleep;
            tokio::time::advance(asleep).await;
        }
        self.wait_until_running().await;
    }

    fn trigger_node_fault(&self, now: CallPhase) -> FaultHit {
        if self.sim.faults.has_ended(self.sim.backend.now()) {
            return FaultHit::None;
        }
        let mut lifecycle = self.lifecycle();
        if !matches!(lifecycle.state, NodeState::Running) {
            return FaultHit::None;
        }
        if now == CallPhase::Before {
            lifecycle.calls += 1;
        }
        match lifecycle.fault {
            NodeFault::Crashes { at_call, phase } if phase == now && lifecycle.calls == at_call => {
                drop(lifecycle);
                self.crash();
                FaultHit::Fault
            }
            NodeFault::Pauses { at_call, phase, duration }
                if phase == now && lifecycle.calls == at_call =>
            {
                lifecycle.state = NodeState::PausedUntil(Instant::now() + duration);
                lifecycle.fault = NodeFault::None;
                drop(lifecycle);
                self.sim.trace_event(|| format!("node {} pauses for {duration:?}", self.number));
                FaultHit::Fault
            }
            NodeFault::Suspends { at_call, phase, duration }
                if phase == now && lifecycle.calls == at_call =>
            {
                lifecycle.fault = NodeFault::None;
                drop(lifecycle);
                self.sim.trace_event(|| format!("everything is suspended for {duration:?}"));
                FaultHit::Suspended(duration)
            }
            _ => FaultHit::None,
        }
    }

    fn lifecycle(&self) -> MutexGuard<'_, NodeLifecycle> {
        self.lifecycle.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
