//! The blocks that graphs are made of, a folder for each subject and a file for each block or close family of blocks.
//! To add one: write its type, and add its line to the `all` of its folder.

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

/// What blocks are built with.
#[derive(Clone)]
pub struct Parts {
    pub model: Arc<dyn ModelProvider>,
    pub clock: Arc<dyn Clock>,
    pub egress: egress::EgressClient,
    pub files: Arc<dyn Files>,
    pub values: Arc<dyn Values>,
    pub library: Arc<dyn Library>,
    pub listings: Arc<dyn Listings>,
}

/// Every block, folder by folder.
pub fn all(parts: &Parts) -> Vec<Arc<dyn Block>> {
    let folders = [
        agents::all(parts),
        ai::all(parts),
        basic::all(),
        dictionaries::all(),
        files::all(parts),
        interface::all(parts),
        lists::all(),
        logic::all(),
        memory::all(parts),
        text::all(),
        time::all(parts),
        web::all(parts),
    ];
    folders.into_iter().flatten().collect()
}
