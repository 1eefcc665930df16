//! Blocks that search, fill, split, join and convert text.

mod pattern;
mod xml_tree;

blocks! {
    code,
    combine,
    count,
    escapes,
    extract,
    json,
    matching,
    replace,
    split,
    template,
    xml,
}
