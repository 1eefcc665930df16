//! The blocks that graphs are built from: one folder per subject, one file per block or family of blocks.
//! To add a block, write its type and add it to `all` in its folder.

mod agents;
mod ai;
mod basic;
mod comparison;
mod dictionaries;
mod failures;
mod files;
mod interface;
mod lists;
mod logic;
mod memory;
mod pure;
mod text;
mod time;
mod typed;
mod web;

use std::sync::Arc;

use ports::{Block, Clock, Files, Library, Listings, ModelProvider, Values};

use crate::egress;

/// The services that blocks use.
#[derive(Clone)]
pub struct BlockDependencies {
    pub model: Arc<dyn ModelProvider>,
    pub clock: Arc<dyn Clock>,
    pub egress: egress::EgressClient,
    pub files: Arc<dyn Files>,
    pub values: Arc<dyn Values>,
    pub library: Arc<dyn Library>,
    pub listings: Arc<dyn Listings>,
}

/// All blocks, by folder.
pub fn all(dependencies: &BlockDependencies) -> Vec<Arc<dyn Block>> {
    let folders = [
        agents::all(dependencies),
        ai::all(dependencies),
        basic::all(),
        dictionaries::all(),
        files::all(dependencies),
        interface::all(dependencies),
        lists::all(),
        logic::all(),
        memory::all(dependencies),
        text::all(),
        time::all(dependencies),
        web::all(dependencies),
    ];
    folders.into_iter().flatten().collect()
}
