//! Settings of the engine. The defaults match `protocol::limits` and the guarantees; tests lower some of them.

use std::time::Duration;

use protocol::limits;

#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The name of this process, as shown to operators.
    pub process: String,
    /// How many turns run at the same time in this process.
    pub workers: usize,
    pub lease: Duration,
    pub renew: Duration,
    /// How often the outbox is read.
    pub sweep: Duration,
    /// How often stored state is polled even when no hint arrives.
    pub poll: Duration,
    pub max_tool_wait: Duration,
    /// Time budget of a tool that does not set its own.
    pub tool_budget: Duration,
    /// Limits of one turn, each with its own failure code.
    pub max_steps: u32,
    pub max_tool_calls: u32,
    pub max_tokens: u64,
    pub max_cost_microdollars: u64,
    pub max_time: Duration,
    /// Attempts of one model call, including the first, before anything of the step was shown.
    pub model_tries: u32,
    /// The first delay between two attempts; doubled each time, with jitter, unless the provider names one.
    pub retry_base: Duration,
    pub shutdown: Duration,
    /// How deep and how wide turns may delegate.
    pub tree: limits::DelegationLimits,
    /// How long an operation may take.
    pub operation_time: Duration,
    /// How many executions this process runs at the same time.
    pub executions: usize,
    /// Limits of one execution.
    pub execution_time: Duration,
    pub node_time: Duration,
    pub node_runs: u64,
    /// Whether users pay for work with credits.
    pub credits: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            process: "engine".to_owned(),
            workers: 5,
            lease: Duration::from_secs(15),
            renew: Duration::from_secs(5),
            sweep: Duration::from_secs(2),
            poll: Duration::from_secs(1),
            max_tool_wait: limits::MAX_TOOL_WAIT,
            tool_budget: limits::TOOL_BUDGET,
            max_steps: 100,
            max_tool_calls: 500,
            max_tokens: 5_000_000,
            max_cost_microdollars: 10_000_000,
            max_time: Duration::from_secs(6 * 3600),
            model_tries: 4,
            retry_base: Duration::from_secs(1),
            shutdown: limits::SHUTDOWN,
            tree: limits::DelegationLimits::default(),
            operation_time: limits::OPERATION_TIME,
            executions: 50,
            execution_time: limits::EXECUTION_TIME,
            node_time: limits::NODE_TIME,
            node_runs: limits::NODE_RUNS,
            credits: false,
        }
    }
}

impl EngineOptions {
    /// How long the model may send nothing while no tool runs.
    pub fn stream_idle(&self) -> Duration {
        limits::stream_idle_timeout(self.max_tool_wait)
    }
}
