//! Buffers the outputs of one node run until the scheduler takes them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use ports::block::{BlockError, OutputSink};
use serde_json::Value;
use tokio::sync::Notify;

/// How many outputs of one node run may wait; a block that emits more is suspended.
const CAPACITY: usize = 16;
/// Approximate size limit of one output.
const MAX_OUTPUT_BYTES: usize = 16 * 1024 * 1024;
/// Nesting limit of one output. The journal parser accepts 127 levels, including those around the value.
const MAX_LEVELS: usize = 100;

pub(crate) struct OutputBuffer {
    queue: Mutex<VecDeque<(String, Value)>>,
    room: Notify,
    /// Notifies the scheduler that an output was added.
    changed: Arc<Notify>,
}

impl OutputBuffer {
    pub(crate) fn new(changed: Arc<Notify>) -> Self {
        Self { queue: Mutex::default(), room: Notify::new(), changed }
    }

    /// Takes at most `most` of the oldest outputs, and says whether the buffer is then empty.
    pub(crate) fn take(&self, most: usize) -> (Vec<(String, Value)>, bool) {
        let mut queue = self.queue();
        let count = most.min(queue.len());
        let taken: Vec<_> = queue.drain(..count).collect();
        let all = queue.is_empty();
        drop(queue);
        if !taken.is_empty() {
            self.room.notify_one();
        }
        (taken, all)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue().is_empty()
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<(String, Value)>> {
        self.queue.lock().expect("no code panics while it holds this lock")
    }
}

#[async_trait]
impl OutputSink for OutputBuffer {
    async fn emit(&self, pin: &str, value: Value) -> Result<(), BlockError> {
        if json_size(&value) > MAX_OUTPUT_BYTES {
            return Err(BlockError::failed(format!(
                "The output {pin} is larger than {} MB, or nested more than {MAX_LEVELS} deep.",
                MAX_OUTPUT_BYTES / (1024 * 1024)
            )));
        }
        loop {
            {
                let mut queue = self.queue();
                if queue.len() < CAPACITY {
                    queue.push_back((pin.to_owned(), value));
                    self.changed.notify_one();
                    return Ok(());
                }
            }
            // A notification sent between the check and the wait is kept.
            self.room.notified().await;
        }
    }
}

/// Approximate size of a value in bytes when serialized. A value nested too deeply counts as infinite: it could be
/// stored but not parsed again.
pub(crate) fn json_size(value: &Value) -> usize {
    size_within(value, MAX_LEVELS)
}

fn size_within(value: &Value, levels: usize) -> usize {
    let Some(below) = levels.checked_sub(1) else {
        return usize::MAX;
    };
    let add = |sum: usize, part: usize| sum.saturating_add(part);
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => {
            items.iter().map(|item| size_within(item, below).saturating_add(1)).fold(2, add)
        }
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                size_within(value, below).saturating_add(key.len() + 4)
            };
            fields.iter().map(field).fold(2, add)
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_block_that_emits_faster_than_the_scheduler_takes_waits() {
        let buffer = OutputBuffer::new(Arc::default());
        for number in 0..CAPACITY {
            buffer.emit("item", json!(number)).await.expect("there is room");
        }
        let mut more = std::pin::pin!(buffer.emit("item", json!("more")));
        assert!(more.as_mut().now_or_never().is_none());
        let (taken, all) = buffer.take(1);
        assert_eq!((taken.len(), all), (1, false));
        more.await.expect("there is room again");
        assert_eq!(buffer.take(usize::MAX).0.len(), CAPACITY);
    }

    #[tokio::test]
    async fn an_output_that_is_too_large_fails_the_node() {
        let buffer = OutputBuffer::new(Arc::default());
        let refused = buffer.emit("big", json!("x".repeat(MAX_OUTPUT_BYTES + 1))).await;
        assert!(matches!(refused, Err(BlockError::Failed(_))));
    }

    #[tokio::test]
    async fn an_output_that_is_nested_too_deeply_fails_the_node() {
        let buffer = OutputBuffer::new(Arc::default());
        let nested = |levels: usize| (0..levels).fold(json!(1), |inside, _| json!([inside]));
        buffer.emit("deep", nested(MAX_LEVELS - 1)).await.expect("the nesting is allowed");
        let refused = buffer.emit("deeper", nested(MAX_LEVELS)).await;
        assert!(matches!(refused, Err(BlockError::Failed(_))));
    }
}
