//! Tests of the embedded engine alone, whose store is a file of the process: the lock on the data directory, a damaged
//! file, a full disk. In the distributed engine the servers manage their own files.

mod completions;
mod data_directory;
mod demo;
mod disk_full;
mod eval;
mod generator_health;
mod stored_calls;
mod tools_file;

use crate::server::Engine;

const ENGINE: Engine = Engine::Embedded;
