//! All blocks, run as the engine runs them: by name, with JSON inputs.

mod block_check;
mod document;
mod examples;
mod services;
mod timer;
pub(crate) mod world;

use std::sync::Arc;

use pilothouse_toolbox::blocks;
use ports::Block;

use block_check::{Collected, context, run};

fn all() -> Vec<Arc<dyn Block>> {
    blocks::all(&world::dependencies())
}

fn block(name: &str) -> Arc<dyn Block> {
    all().into_iter().find(|block| block.spec().name == name).expect(name)
}
