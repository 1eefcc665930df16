//! Normalizes a stream for comparison: ids and times get stable values, deltas are split in one way, and results of
//! parallel calls are sorted.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::events::ReceivedEvent;

/// Fields whose value depends on the machine or on the length of the prompt, and their replacement.
const VARYING: [(&str, u64); 5] = [
    ("elapsed_seconds", 2),
    ("waited_seconds", 1),
    ("age_seconds", 1),
    ("tokensBefore", 36_000),
    ("tokensAfter", 9_000),
];

/// The chunks of a turn, ready for comparison. The line number of a chunk is its id.
pub(crate) fn lines(events: &[ReceivedEvent]) -> Vec<Value> {
    let mut pieces = recut(events);
    order_results(&mut pieces);
    let ids: Vec<u64> = pieces.iter().map(|got| got.id).collect();
    let lines_before = |id: u64| ids.iter().filter(|one| **one < id).count();
    let mut names = StableIds::default();
    for (index, got) in pieces.iter_mut().enumerate() {
        names.part(&got.chunk, index + 1);
        if let Some(range) = got.chunk.pointer_mut("/data/supersedes") {
            let (from, to) = (range["from"].as_u64(), range["to"].as_u64());
            let (from, to) = (from.expect("an id"), to.expect("an id"));
            *range = json!({"from": lines_before(from) + 1, "to": lines_before(to + 1)});
        }
        names.replace(&mut got.chunk);
    }
    pieces.into_iter().map(|got| got.chunk).collect()
}

/// Removes transient parts and splits deltas between words, however they were received.
fn recut(events: &[ReceivedEvent]) -> Vec<ReceivedEvent> {
    let mut pieces: Vec<ReceivedEvent> = Vec::new();
    for got in events.iter().filter(|got| got.chunk["transient"] != true) {
        match (pieces.last_mut(), delta_of(&got.chunk)) {
            (Some(last), Some((field, more))) if is_same_part(&last.chunk, &got.chunk) => {
                let text = last.chunk[field].as_str().expect("text").to_owned() + more;
                last.chunk[field] = json!(text);
                last.id = got.id;
            }
            _ => pieces.push(got.clone()),
        }
    }
    pieces.into_iter().flat_map(words).collect()
}

fn words(got: ReceivedEvent) -> Vec<ReceivedEvent> {
    let Some((field, text)) = delta_of(&got.chunk) else { return vec![got] };
    let word = |word: &str| {
        let mut chunk = got.chunk.clone();
        chunk[field] = json!(word);
        ReceivedEvent { id: got.id, chunk }
    };
    text.split_inclusive(' ').map(word).collect()
}

fn delta_of(chunk: &Value) -> Option<(&'static str, &str)> {
    ["delta", "inputTextDelta"].into_iter().find_map(|field| Some((field, chunk[field].as_str()?)))
}

fn is_same_part(one: &Value, other: &Value) -> bool {
    ["type", "id", "toolCallId"].iter().all(|field| one[field] == other[field])
}

/// Sorts the results of parallel calls in the order of the calls.
fn order_results(pieces: &mut [ReceivedEvent]) {
    let calls: Vec<Value> = pieces
        .iter()
        .filter(|got| got.chunk["type"] == "tool-input-available")
        .map(|got| got.chunk["toolCallId"].clone())
        .collect();
    let is_result = |got: &ReceivedEvent| {
        got.chunk["type"].as_str().is_some_and(|is| is.starts_with("tool-output"))
    };
    for run in pieces.chunk_by_mut(|one, other| is_result(one) && is_result(other)) {
        run.sort_by_key(|got| calls.iter().position(|call| *call == got.chunk["toolCallId"]));
    }
}

/// Stable replacements of ids, numbered in the order of their first occurrence.
#[derive(Default)]
struct StableIds {
    ids: BTreeMap<String, String>,
    parts: BTreeMap<String, String>,
}

impl StableIds {
    /// Names a text or reasoning part after the line in which it starts.
    fn part(&mut self, chunk: &Value, line: usize) {
        let letter = match chunk["type"].as_str() {
            Some("text-start") => 't',
            Some("reasoning-start") => 'r',
            _ => return,
        };
        let id = chunk["id"].as_str().expect("an id").to_owned();
        self.parts.insert(id, format!("{letter}{line}"));
    }

    fn replace(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.words(text),
            Value::Array(list) => list.iter_mut().for_each(|one| self.replace(one)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match VARYING.iter().find(|(varying, _)| varying == name) {
                        Some((_, stable)) => *value = json!(stable),
                        None => self.replace(value),
                    }
                }
            }
            _ => {}
        }
    }

    fn words(&mut self, text: &str) -> String {
        if let Some(part) = self.parts.get(text) {
            return part.clone();
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let found = id_at_start(rest);
            let (taken, left) = rest.split_at(found.unwrap_or(next.len_utf8()));
            match found {
                Some(_) => out.push_str(&self.name(taken)),
                None => out.push_str(taken),
            }
            rest = left;
        }
        out
    }

    fn name(&mut self, id: &str) -> String {
        let count = self.ids.len() + 1;
        let stable = match id.strip_prefix("bg-") {
            Some(_) => format!("bg-{count:012x}"),
            None => format!("00000000-0000-7000-8000-{count:012x}"),
        };
        self.ids.entry(id.to_owned()).or_insert(stable).clone()
    }
}

/// The length of the id at the start of the text.
fn id_at_start(text: &str) -> Option<usize> {
    const UUID: &str = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
    const BACKGROUND: &str = "bg-hhhhhhhhhhhh";
    let is_like = |shape: &str| {
        let fits = |(byte, shape)| match shape {
            b'h' => u8::is_ascii_hexdigit(&byte),
            other => byte == other,
        };
        text.len() >= shape.len() && text.bytes().zip(shape.bytes()).all(fits)
    };
    [UUID, BACKGROUND].into_iter().find(|shape| is_like(shape)).map(str::len)
}
