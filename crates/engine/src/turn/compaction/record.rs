//! A stored compaction: a history row with a notice for the user and, in its metadata, what the model gets instead of
//! the earlier rows. The rows themselves stay.

use ports::model::ModelMessage;
use protocol::MessageId;
use protocol::chunk;
use protocol::message::{Message, MessageRole, NewMessage};
use serde::{Deserialize, Serialize};

const KIND: &str = "compaction";
const NOTICE: &str = "Earlier messages were summarized, because the conversation came close to what the model can read at once. All of them are still here.";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CompactionRecord {
    pub(crate) kind: String,
    /// The last row that the summary replaces.
    pub(crate) through: MessageId,
    /// How many rows it replaces.
    pub(crate) folded: usize,
    pub(crate) tokens_before: u64,
    pub(crate) tokens_after: u64,
    pub(crate) summary: String,
    /// Items that were open at that time, one line each.
    #[serde(default)]
    pub(crate) handles: Vec<String>,
    /// Summarized user messages that the model still gets unchanged.
    #[serde(default)]
    pub(crate) kept: Vec<MessageId>,
}

impl CompactionRecord {
    pub(crate) fn kind() -> String {
        KIND.to_owned()
    }

    pub(crate) fn row(&self) -> NewMessage {
        let mut row = NewMessage::new(MessageRole::System, NOTICE);
        row.metadata = serde_json::to_value(self).ok();
        row
    }

    pub(crate) fn chunk(self) -> chunk::Chunk {
        let Self { through, folded, tokens_before, tokens_after, summary, .. } = self;
        let data = chunk::CompactionData { folded, through, tokens_before, tokens_after, summary };
        chunk::Chunk::DataCompaction { data }
    }

    pub(crate) fn message(&self) -> ModelMessage {
        let mut text = format!(
            "[Summary of earlier messages]\nThe {} messages before this point no longer fit. These notes of what was said and done replace them. They are not a new request; user messages next to them are unchanged. Continue from here and do not repeat what is done.\n\n{}",
            self.folded,
            self.summary.trim(),
        );
        if !self.handles.is_empty() {
            text.push_str("\n\n[Open handles]\nOpen when the notes were made:");
            for handle in &self.handles {
                text.push_str(&format!("\n- {handle}"));
            }
        }
        ModelMessage::User { text }
    }
}

/// The compaction that a request starts from.
pub(crate) struct StoredCompaction {
    /// Index of the last summarized row.
    pub(crate) through: usize,
    pub(crate) record: CompactionRecord,
}

impl StoredCompaction {
    /// The newest compaction whose last row is still in the history: regenerating an answer removes rows.
    pub(crate) fn newest(rows: &[Message]) -> Option<Self> {
        rows.iter().enumerate().rev().find_map(|(at, row)| {
            let record = stored(row)?;
            let through = rows[..at].iter().rposition(|row| row.id == record.through)?;
            Some(Self { through, record })
        })
    }

    pub(crate) fn summary(&self) -> ModelMessage {
        self.record.message()
    }

    /// Summarized rows that are kept unchanged.
    pub(crate) fn kept<'a>(&'a self, rows: &'a [Message]) -> impl Iterator<Item = &'a Message> {
        rows[..=self.through].iter().filter(|row| self.record.kept.contains(&row.id))
    }
}

fn stored(row: &Message) -> Option<CompactionRecord> {
    let metadata = row.metadata.as_ref().filter(|_| row.role == MessageRole::System)?;
    if metadata.get("kind")? != KIND {
        return None;
    }
    serde_json::from_value(metadata.clone()).ok()
}
