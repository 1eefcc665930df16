//! What only the embedded engine can meet, because its store is a file of the process itself: the lock on the data
//! directory, a damaged file, a full disk below it. The servers of the distributed engine look after their own files.

mod completions;
mod data_directory;
mod demo;
mod disk_full;
mod tools_file;

use crate::embedded::guarantees;
use crate::server::Engine;

const ENGINE: Engine = Engine::Embedded;
