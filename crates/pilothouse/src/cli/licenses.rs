//! `pilothouse licenses`: the third-party software in this binary and in its page, with the license texts.

use std::io::Read;

use anyhow::Context;
use flate2::read::GzDecoder;

/// Compressed, because it is seldom read and would otherwise add most of a megabyte to the binary. `cargo xtask gen`
/// writes it.
const THIRD_PARTY: &[u8] = include_bytes!("../../licenses/third-party.txt.gz");

pub(crate) fn text() -> anyhow::Result<String> {
    let mut text = String::new();
    GzDecoder::new(THIRD_PARTY)
        .read_to_string(&mut text)
        .context("could not unpack the list of licenses")?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_list_names_crates_packages_and_texts() {
        let text = super::text().expect("the embedded list unpacks");
        for wanted in ["\ntokio 1.", "\nreact 19.", "Permission is hereby granted"] {
            assert!(text.contains(wanted), "{wanted:?} is missing");
        }
    }
}
