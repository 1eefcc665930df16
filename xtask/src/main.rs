//! Chores of the repository: `tidy` checks what no compiler checks, `gen` writes generated documents.

mod arrows;
mod cargo;
mod documents;
mod generate;
mod lengths;
mod licenses;
mod names;
mod rooms;
mod source_files;
mod store_twins;
mod unused_dependencies;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => {
            arrows::check(&root)?;
            rooms::check(&root)?;
            documents::check(&root)?;
            unused_dependencies::check(&root)?;
            store_twins::check(&root)?;
            lengths::print(&root)?;
            names::print(&root)
        }
        Some("gen") => {
            licenses::write(&root)?;
            generate::all(&root)
        }
        _ => bail!("usage: cargo xtask tidy | gen"),
    }
}
