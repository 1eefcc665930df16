//! Finding, filling, splitting, joining and translating texts.

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

/// The default of switches that are on unless they are turned off.
fn yes() -> bool {
    true
}
