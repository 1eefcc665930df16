//! What only the embedded engine can meet, because its store is a file of the process itself: the lock on the data
//! directory, a damaged file, a full disk below it. The servers of the distributed engine look after their own files.

mod data_directory;
mod disk_full;

use crate::embedded::guarantees;
use crate::server::Engine;

const ENGINE: Engine = Engine::Embedded;
