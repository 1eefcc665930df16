//! Blocks that search, fill, split, join and convert text.

mod code;
mod combine;
mod count;
mod escapes;
mod extract;
mod json;
mod matching;
mod pattern;
mod replace;
mod split;
mod template;
mod xml;
mod xml_tree;

use std::sync::Arc;

use ports::Block;

pub(super) fn all() -> Vec<Arc<dyn Block>> {
    vec![
        code::block(),
        combine::block(),
        count::block(),
        escapes::decoder(),
        escapes::encoder(),
        extract::block(),
        json::decoder(),
        json::encoder(),
        matching::block(),
        replace::block(),
        split::block(),
        template::block(),
        xml::block(),
    ]
}

/// Serde default of options that are on unless turned off.
fn yes() -> bool {
    true
}
