//! Chores of the repository: `tidy` checks what no compiler checks, `gen` writes generated documents.

mod arrows;
mod documents;
mod generate;
mod lengths;
mod licenses;
mod names;
mod source_files;
