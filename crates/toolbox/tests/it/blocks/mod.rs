//! All blocks, run as the engine runs them: by name, with JSON inputs.

mod examples;
mod services;
mod timer;
mod world;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pilothouse_toolbox::blocks;
use ports::Block;
use ports::block::{BlockContext, BlockError, OutputSink};
use serde_json::Value;

fn all() -> Vec<Arc<dyn Block>> {
    blocks::all(&world::dependencies())
}

fn block(name: &str) -> Arc<dyn Block> {
    all().into_iter().find(|block| block.spec().name == name).expect(name)
}

/// The emitted outputs, in order.
async fn run(
    block: &dyn Block,
    input: Value,
    context: BlockContext,
) -> Result<Vec<(String, Value)>, BlockError> {
    let Value::Object(input) = input else { panic!("{input} is not an object") };
    let out = Collected::default();
    block.run(input, context, &out).await?;
    Ok(out.0.into_inner().expect("the lock is not poisoned"))
}

#[derive(Default)]
struct Collected(Mutex<Vec<(String, Value)>>);

#[async_trait]
impl OutputSink for Collected {
    async fn emit(&self, pin: &str, value: Value) -> Result<(), BlockError> {
        self.0.lock().expect("the lock is not poisoned").push((pin.to_owned(), value));
        Ok(())
    }
}
