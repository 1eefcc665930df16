//! How the engine behaves. The defaults are what `protocol::limits` and the guarantees promise; tests
//! set some of them low.

use std::time::Duration;

use protocol::limits;

#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// What this process is called where people see who works on what.
    pub process: String,
    /// Turns that run at the same time in this process.
    pub workers: usize,
    pub lease: Duration,
    pub renew: Duration,
    /// How often the outbox is read.
    pub sweep: Duration,
    /// How often what is stored is looked at even when no hint comes.
    pub poll: Duration,
    pub max_tool_wait: Duration,
    /// Budget of a tool that names none of its own.
    pub tool_budget: Duration,
    /// Limits of one turn, each with its own failure code.
    pub max_steps: u32,
    pub max_tool_calls: u32,
    pub max_tokens: u64,
    pub max_cost_microdollars: u64,
    pub max_time: Duration,
    /// Tries of one model call before anything of the step was shown, the first included.
    pub model_tries: u32,
    /// The first wait between two tries; doubled each time, with jitter, unless the provider names one.
    pub retry_base: Duration,
    pub shutdown: Duration,
    /// How far turns may delegate.
    pub tree: limits::DelegationLimits,
    /// How long an operation may take.
    pub operation_time: Duration,
    /// Executions that this process works on at the same time.
    pub executions: usize,
    /// Limits of one execution.
    pub execution_time: Duration,
    pub node_time: Duration,
    pub node_runs: u64,
    /// Whether work is paid for.
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
    /// How long the model may be silent while no tool runs.
    pub fn stream_idle(&self) -> Duration {
        limits::stream_idle_timeout(self.max_tool_wait)
    }
}
