//! Rehearsals: an agent runs as always, but what would act or reach outside is answered for. Nothing leaves the process,
//! and the report says what ran, which branches were taken and which outputs were filled.

mod answer;
mod coverage;
mod flow;
mod model_answer;
mod node_answers;
mod recording;
mod report;
mod run;
mod variations;

pub(crate) use answer::{Question, answer};
pub(crate) use node_answers::NodeAnswers;
pub(crate) use run::made_inputs;
pub use run::{RehearsalRefused, RehearseAgent};
