//! Runs a single block outside a graph. The run is recorded once under its key, together with its charge, even if the
//! caller stops waiting.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::block::{
    BlockContext, BlockError, BlockServices, ChildAgent, ChildAgents, CopilotAnswer, CopilotAsk,
    CopilotTurns, NodePlace, UsageMeter,
};
use ports::call_services::{BlockCall, BlockCallEnd};
use ports::store::{BlockOutcome, BlockRunBegun, NewBlockRun};
use ports::{Block, PortError, PortResult};
use protocol::block::{BlockSpec, MeteredUsage};
use protocol::credit::CreditCharge;
use protocol::permissions::Permissions;
use protocol::review::{Review, block_node_id, session_execution_id};
use protocol::tool::ToolEffect;
use protocol::{GraphId, ReviewId, SessionId, UserId};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::collected_outputs::CollectedOutputs;
use super::rehearsal::{self, NodeAnswers, Question};
use super::reviews::waiting_review;
use super::{billing, node_task};
use crate::tasks::TaskKind;
use crate::{Engine, EngineInner, deterministic_id};
use graphs::schema;

/// How long a block may take to stop after it was canceled.
const STOP_GRACE: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
pub struct BlockRequest {
    /// Idempotency key: the same for every repetition of this request.
    pub key: String,
    /// The session that requests the run. `None` for a direct request, which never asks for a review.
    pub session: Option<SessionId>,
    pub permissions: Permissions,
    pub call: BlockCall,
}

/// Why a block run was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockRefused {
    Unknown,
    NotAllowed,
    Input(String),
}

impl Engine {
    /// Ends soon after `cancel`; outputs emitted until then are recorded and charged.
    pub async fn run_block(
        &self,
        user: &UserId,
        request: BlockRequest,
        cancel: CancellationToken,
    ) -> PortResult<Result<BlockCallEnd, BlockRefused>> {
        let Some(block) = self.inner.catalog.get(&request.call.block_id).cloned() else {
            return Ok(Err(BlockRefused::Unknown));
        };
        let spec = block.spec();
        if !request.permissions.allow_block(spec.id, spec.name) {
            return Ok(Err(BlockRefused::NotAllowed));
        }
        let inputs = match node_task::prepare_inputs(&*block, request.call.input.clone()) {
            Ok(inputs) => inputs,
            Err(error) => return Ok(Err(BlockRefused::Input(error.to_string()))),
        };
        // Check before asking for a review and before recording anything.
        if let Some(why) = input_problem(spec, &inputs) {
            return Ok(Err(BlockRefused::Input(why)));
        }
        let run = SingleBlockRun { inner: self.inner.clone(), user: user.clone(), block, request };
        Ok(Ok(run.execute(inputs, cancel).await?))
    }
}

struct SingleBlockRun {
    inner: Arc<EngineInner>,
    user: UserId,
    block: Arc<dyn Block>,
    request: BlockRequest,
}

impl SingleBlockRun {
    async fn execute(
        mut self,
        mut inputs: Map<String, Value>,
        cancel: CancellationToken,
    ) -> PortResult<BlockCallEnd> {
        let spec = self.block.spec();
        if self.request.call.dry_run {
            return Ok(BlockCallEnd::Done(self.rehearse(&inputs, cancel).await));
        }
        if let Some(review) = &self.request.call.review {
            // One decision allows one run, however many calls refer to it.
            self.request.key = format!("review/{review}");
        }
        if let Some(decision) = self.request.call.decision.take() {
            match node_task::approved_inputs(decision) {
                Ok(approved) => inputs = approved,
                Err(error) => return Ok(BlockCallEnd::Done(failed(&error))),
            }
        } else if let (true, Some(session)) = (spec.sensitive, &self.request.session) {
            let review = self.ask(session, inputs).await?;
            return Ok(BlockCallEnd::Review(Box::new(review)));
        }
        if !spec.costs.is_empty() && !billing::can_pay(&self.inner, &self.user).await? {
            return Ok(BlockCallEnd::NoFunds);
        }
        match self.begin().await? {
            BlockRunBegun::Ended(outcome) => return Ok(BlockCallEnd::Done(outcome)),
            BlockRunBegun::Open if spec.effect == ToolEffect::Once => {
                return Ok(BlockCallEnd::Interrupted);
            }
            BlockRunBegun::Open | BlockRunBegun::New => {}
        }
        // A separate task, so that the run is recorded and charged even when the caller stops waiting.
        let tasks = self.inner.tasks.clone();
        let work = tasks.spawn(TaskKind::Block, self.run_and_record(inputs, cancel));
        work.await.unwrap_or_else(|_| Err(PortError::Broken("a block run panicked".into())))
    }

    async fn begin(&self) -> PortResult<BlockRunBegun> {
        let new = NewBlockRun {
            user_id: self.user.clone(),
            key: self.request.key.clone(),
            block_id: self.request.call.block_id.clone(),
            session_id: self.request.session.clone(),
        };
        self.inner.ports.block_runs.begin(&new).await
    }

    async fn run_and_record(
        self,
        inputs: Map<String, Value>,
        cancel: CancellationToken,
    ) -> PortResult<BlockCallEnd> {
        let began = Instant::now();
        let meter = Arc::new(UsageMeter::default());
        let stop_block = CancellationToken::new();
        let context = self.context(&meter, stop_block.clone());
        let collected = CollectedOutputs::default();
        let mut work = std::pin::pin!(self.block.run(inputs, context, &collected));
        let limit = self.inner.options.max_tool_wait;
        let ended = tokio::select! {
            biased;
            ended = &mut work => Some(ended),
            () = cancel.cancelled() => None,
            () = tokio::time::sleep(limit) => None,
        };
        let ended = match ended {
            Some(ended) => Some(ended),
            None => {
                stop_block.cancel();
                tokio::time::timeout(STOP_GRACE, &mut work).await.ok().filter(Result::is_ok)
            }
        };
        let timed_out = ended.is_none() && !cancel.is_cancelled();
        let outputs = collected.take();
        let error = match &ended {
            Some(Ok(())) => None,
            Some(Err(error)) => Some(error.to_string()),
            None if timed_out => Some(format!("It took longer than {} s.", limit.as_secs())),
            None => Some("It was stopped.".to_owned()),
        };
        let seconds = began.elapsed().as_secs();
        let charge = self.bill(&outputs, MeteredUsage { seconds, ..meter.total() });
        let outcome = BlockOutcome { outputs, error };
        self.record(&outcome, charge.as_ref()).await?;
        Ok(if timed_out { BlockCallEnd::TimedOut } else { BlockCallEnd::Done(outcome) })
    }

    /// Retries for as long as a typical store outage lasts.
    async fn record(
        &self,
        outcome: &BlockOutcome,
        charge: Option<&CreditCharge>,
    ) -> PortResult<()> {
        const TRIES: u32 = 20;
        const PAUSE: Duration = Duration::from_millis(500);
        let mut tries = 1;
        loop {
            let runs = &self.inner.ports.block_runs;
            match runs.end(&self.user, &self.request.key, outcome, charge).await {
                Ok(_) => return Ok(()),
                Err(PortError::Unavailable(_)) if tries < TRIES => {
                    tries += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => {
                    tracing::error!(%error, charge = charge.map(|charge| charge.amount), "could not record a block run; nothing was charged for it");
                    return Err(error);
                }
            }
        }
    }

    fn bill(&self, outputs: &[(String, Value)], used: MeteredUsage) -> Option<CreditCharge> {
        if !self.inner.options.credits {
            return None;
        }
        let spec = self.block.spec();
        let amount = billing::run_price(spec, !outputs.is_empty(), &used);
        let key = format!("block/{}", self.request.key);
        (amount > 0).then(|| CreditCharge { key, amount, what: spec.name.to_owned() })
    }

    fn context(&self, meter: &Arc<UsageMeter>, cancel: CancellationToken) -> BlockContext {
        BlockContext {
            user: self.user.clone(),
            node: None,
            session: self.request.session.clone(),
            idempotency_key: self.request.key.clone(),
            dry_run: self.request.call.dry_run,
            cancel,
            permissions: self.request.permissions.clone(),
            decision: None,
            ask_first: false,
            meter: meter.clone(),
            tools: [].into(),
            services: BlockServices {
                agents: Arc::new(NoBlockServices),
                copilot: Arc::new(NoBlockServices),
            },
        }
    }

    async fn rehearse(
        &self,
        inputs: &Map<String, Value>,
        cancel: CancellationToken,
    ) -> BlockOutcome {
        let collected = CollectedOutputs::default();
        let context = self.context(&Arc::default(), cancel);
        let answers = NodeAnswers::of_block(&self.inner);
        let spec = self.block.spec();
        let ended = match answers.answered_by(spec, None, inputs) {
            Some(by) => {
                let question = Question { spec, answers: &answers, inputs, by };
                rehearsal::answer(&self.inner, question, &context, &collected).await
            }
            None => self.block.run(inputs.clone(), context, &collected).await,
        };
        let error = ended.err().map(|error| error.to_string());
        BlockOutcome { outputs: collected.take(), error }
    }

    async fn ask(&self, session: &SessionId, inputs: Map<String, Value>) -> PortResult<Review> {
        let spec = self.block.spec();
        let node_id = block_node_id(&self.request.call.block_id);
        let ask = node_task::review_request(spec.name, inputs);
        let suffix: String =
            deterministic_id::uuid("review", &self.request.key).chars().take(8).collect();
        let id = ReviewId(format!("{node_id}:{suffix}"));
        let place = NodePlace {
            graph_id: GraphId("copilot".to_owned()),
            graph_version: 1,
            execution_id: session_execution_id(session),
            node_id,
        };
        let now = self.inner.ports.clock.now();
        let review = waiting_review(id, self.user.clone(), place, ask, now);
        self.inner.ports.reviews.ask(&review).await
    }
}

/// Describes the first input that does not match its schema.
fn input_problem(spec: &BlockSpec, inputs: &Map<String, Value>) -> Option<String> {
    inputs.iter().find_map(|(pin, value)| {
        let why = schema::value_problem(value.clone(), spec.input(pin)?)?;
        Some(format!("The value of `{pin}` does not fit: {why}."))
    })
}

fn failed(error: &BlockError) -> BlockOutcome {
    BlockOutcome { outputs: Vec::new(), error: Some(error.to_string()) }
}

/// A block that runs outside a graph cannot start executions or turns.
struct NoBlockServices;

#[async_trait]
impl ChildAgents for NoBlockServices {
    async fn run(&self, _: ChildAgent) -> Result<Vec<(String, Value)>, BlockError> {
        Err(BlockError::failed("Only a block of an agent can run another agent."))
    }
}

#[async_trait]
impl CopilotTurns for NoBlockServices {
    async fn ask(&self, _: CopilotAsk) -> Result<CopilotAnswer, BlockError> {
        Err(BlockError::failed("Only a block of an agent can ask the copilot."))
    }
}
