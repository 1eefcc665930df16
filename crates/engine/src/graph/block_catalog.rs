//! The blocks of this server, by id.

use std::collections::HashMap;
use std::sync::Arc;

use graphs::catalog::BlockSpecs;
use ports::Block;
use protocol::BlockId;
use protocol::block::BlockSpec;

#[derive(Clone, Default)]
pub struct BlockCatalog {
    blocks: Vec<Arc<dyn Block>>,
    by_id: HashMap<&'static str, usize>,
}

impl BlockCatalog {
    pub fn new(blocks: Vec<Arc<dyn Block>>) -> Self {
        let by_id = blocks.iter().enumerate().map(|(at, block)| (block.spec().id, at)).collect();
        Self { blocks, by_id }
    }

    pub fn get(&self, id: &BlockId) -> Option<&Arc<dyn Block>> {
        self.by_id.get(id.as_str()).map(|at| &self.blocks[*at])
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Block>> {
        self.blocks.iter()
    }
}

impl BlockSpecs for BlockCatalog {
    fn spec(&self, id: &BlockId) -> Option<&BlockSpec> {
        self.get(id).map(|block| block.spec())
    }

    fn specs(&self) -> Box<dyn Iterator<Item = &BlockSpec> + '_> {
        Box::new(self.blocks.iter().map(|block| block.spec()))
    }
}
