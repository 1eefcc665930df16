//! The outputs of a block that runs outside a graph, collected until it ends.

use std::sync::Mutex;

use async_trait::async_trait;
use ports::block::{BlockError, OutputSink};
use serde_json::Value;

use super::output_buffer::json_size;

/// Limits on the number of outputs of one block run and on their approximate total bytes.
const MAX_OUTPUTS: usize = 10_000;
const MAX_OUTPUT_BYTES: usize = 16 * 1024 * 1024;

/// Outputs emitted by a block.
#[derive(Default)]
pub(crate) struct CollectedOutputs(Mutex<(Vec<(String, Value)>, usize)>);

impl CollectedOutputs {
    pub(crate) fn take(&self) -> Vec<(String, Value)> {
        let mut kept = self.0.lock().expect("no code panics while it holds this lock");
        std::mem::take(&mut kept.0)
    }
}

#[async_trait]
impl OutputSink for CollectedOutputs {
    async fn emit(&self, pin: &str, value: Value) -> Result<(), BlockError> {
        let mut kept = self.0.lock().expect("no code panics while it holds this lock");
        kept.1 += json_size(&value);
        if kept.0.len() >= MAX_OUTPUTS || kept.1 > MAX_OUTPUT_BYTES {
            return Err(BlockError::failed("The block emitted more than one call can take."));
        }
        kept.0.push((pin.to_owned(), value));
        Ok(())
    }
}
