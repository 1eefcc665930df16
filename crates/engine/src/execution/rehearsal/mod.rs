//! Rehearsals: an agent runs as always, but what would act or reach outside is answered for. Nothing leaves the process,
//! and the report says what ran, which branches were taken and which outputs were filled.

mod answer;
mod model_answer;
mod report;
mod run;

pub(crate) use answer::{Question, answer, answered_by};
pub use run::{RehearsalRefused, RehearseAgent};
