//! Recorded streams: `fixtures/streams/NAME.jsonl` holds the chunks that the server sends in a situation, one per line.
//! The tests of the web page read the same files, so they work with what the server really sends.

mod normalize;

use std::path::PathBuf;

use protocol::chunk::Chunk;
use serde_json::Value;

use crate::contract::{assert_complete, assert_replay};
use crate::events::ReceivedEvent;
use crate::server::Engine;

/// If set to any value, the test rewrites the files instead of comparing.
const WRITE: &str = "WRITE_STREAMS";

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/streams"))
}

/// Asserts that the stream equals the file of this name, except for ids and times.
#[expect(clippy::disallowed_methods, reason = "a test is told by its environment what to do")]
pub(crate) fn assert_recorded(engine: Engine, name: &str, events: &[ReceivedEvent]) {
    assert_replay(events);
    let said: String = normalize::lines(events).iter().map(|chunk| format!("{chunk}\n")).collect();
    let path = folder().join(format!("{name}.jsonl"));
    // Only one engine writes the files; the other one must send the same.
    if engine == Engine::Embedded && std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, said).expect("the file can be written");
        return;
    }
    let file = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = said.lines().zip(file.lines()).position(|(said, file)| said != file);
    assert!(
        said == file,
        "{name}: the server says something else than {}, first in line {}. If it should, write the \
         files anew with {WRITE}=1.\nIt says:\n{said}",
        path.display(),
        1 + differs.unwrap_or(said.lines().count().min(file.lines().count())),
    );
}

#[test]
fn every_recorded_stream_is_a_complete_turn_of_protocol_chunks() {
    let files =
        std::fs::read_dir(folder()).expect("a folder").map(|entry| entry.expect("one").path());
    let files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|is| is == "jsonl")).collect();
    assert!(files.len() > 10, "{files:?}");
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a file");
        let lines = text.lines().enumerate().map(|(index, line)| {
            let chunk: Value = serde_json::from_str(line).expect("JSON");
            let read: Chunk = serde_json::from_value(chunk.clone())
                .unwrap_or_else(|error| panic!("{}, line {}: {error}", path.display(), index + 1));
            assert_eq!(serde_json::to_value(read).expect("JSON"), chunk, "nothing is lost");
            ReceivedEvent { id: index as u64 + 1, chunk }
        });
        assert_complete(&lines.collect::<Vec<_>>());
    }
}
