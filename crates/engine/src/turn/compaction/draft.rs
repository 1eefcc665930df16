//! What a compaction would remove and keep, decided from stored state. Pure.

use std::collections::BTreeSet;

use ports::model::{ModelMessage, ModelRequest};
use ports::store::TurnProgress;
use protocol::message::{Message, MessageRole};
use protocol::turn::Turn;
use protocol::{MessageId, TurnId};

use super::cut::{self, CutCandidate};
use super::measure::{message_tokens, percent};
use super::open_items;
use super::record::{CompactionRecord, StoredCompaction};
use crate::turn::context::{SentRow, sent_rows, user_message};

/// Percent of the window that the kept user requests may take together. The newest is always kept.
const REQUESTS_PERCENT: u64 = 20;
/// Percent of the window that a summary may take, and its limit in tokens.
const SUMMARY_PERCENT: u64 = 5;
const SUMMARY_TOKENS: u64 = 4_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct CompactionTarget {
    /// Tokens that should remain.
    pub(crate) tokens_left: u64,
    /// Tokens that a compaction must gain.
    pub(crate) min_gain: u64,
}

#[derive(Debug)]
pub(crate) struct CompactionDraft<'a> {
    /// The summary of an earlier compaction, which the new one includes.
    pub(crate) earlier: Option<String>,
    /// The rows that are summarized.
    pub(crate) rows: Vec<&'a Message>,
    through: MessageId,
    folded: usize,
    handles: Vec<String>,
    kept: Vec<MessageId>,
    before: u64,
    /// Without the summary.
    left: u64,
}

impl CompactionDraft<'_> {
    pub(crate) fn record(&self, summary: String) -> CompactionRecord {
        let mut record = CompactionRecord {
            kind: CompactionRecord::kind(),
            through: self.through.clone(),
            folded: self.folded,
            tokens_before: self.before,
            tokens_after: 0,
            summary,
            handles: self.handles.clone(),
            kept: self.kept.clone(),
        };
        record.tokens_after = self.left + message_tokens(&record.message());
        record
    }
}

pub(crate) fn summary_tokens(window: u64) -> u64 {
    percent(window, SUMMARY_PERCENT).min(SUMMARY_TOKENS)
}

/// `request` is what would be sent without compaction; `None` if a compaction would not gain enough.
pub(crate) fn draft<'a>(
    progress: &'a TurnProgress,
    request: &ModelRequest,
    turn: &Turn,
    window: u64,
    target: CompactionTarget,
) -> Option<CompactionDraft<'a>> {
    let rows = &progress.messages;
    let earlier = StoredCompaction::newest(rows);
    let start = earlier.as_ref().map_or(0, |fold| fold.through + 1);
    let first = rows.iter().position(|row| row.role == MessageRole::User);
    let requests = requests(rows, &turn.id, window);
    let stays = |row: usize| Some(row) == first || requests.contains(&row);

    let sent = sent_rows(rows, start, &turn.id, window);
    let messages: Vec<&ModelMessage> = sent.iter().map(|sent| &sent.message).collect();
    let rows_kept = cut::allowed_cuts(&messages);
    let piece = |(SentRow { row, message }, may_end): (&SentRow, bool)| CutCandidate {
        tokens: message_tokens(message),
        stays: stays(*row),
        may_end,
    };
    let pieces: Vec<CutCandidate> = sent.iter().zip(rows_kept).map(piece).collect();

    // Requests kept by the earlier compaction: those of this turn stay, the others are summarized now.
    let kept_before: BTreeSet<&MessageId> =
        earlier.iter().flat_map(|fold| fold.kept(rows)).map(|row| &row.id).collect();
    let (staying, leaving): (Vec<usize>, Vec<usize>) =
        (0..start).filter(|row| kept_before.contains(&rows[*row].id)).partition(|row| stays(*row));
    let leaving_tokens =
        leaving.iter().map(|row| message_tokens(&user_message(&rows[*row], window)));
    let taken_away = pieces.iter().map(|piece| piece.tokens).sum::<u64>()
        + earlier.as_ref().map_or(0, |fold| message_tokens(&fold.summary()))
        + leaving_tokens.sum::<u64>();
    let before = super::measure::request_tokens(request);
    let fixed = before.saturating_sub(taken_away);

    let room = summary_tokens(window);
    let cut = cut::choose(&pieces, fixed + room, target.tokens_left)?;
    if before < cut.left.saturating_add(target.min_gain) {
        return None;
    }
    let through = sent[cut.last].row;
    let newly_kept = (start..=through).filter(|row| requests.contains(row));
    let kept = staying.iter().copied().chain(newly_kept).filter(|row| Some(*row) != first);
    let summarized = (start..=through).filter(|row| rows[*row].role != MessageRole::System);
    Some(CompactionDraft {
        earlier: earlier.map(|fold| fold.record.summary),
        rows: leaving.iter().copied().chain(summarized).map(|row| &rows[row]).collect(),
        through: rows[through].id.clone(),
        folded: rows[..=through].iter().filter(|row| row.role != MessageRole::System).count(),
        handles: open_items::open_items(progress, through),
        kept: kept.map(|row| rows[row].id.clone()).collect(),
        before,
        left: cut.left - room,
    })
}

/// Indexes of the user messages that the turn answers: its message and its follow-ups, the newest first, as many as
/// fit. A turn without a message of its own continues the last request.
fn requests(rows: &[Message], turn: &TurnId, window: u64) -> BTreeSet<usize> {
    let asked = |row: &&Message| row.role == MessageRole::User;
    let own = rows.iter().filter(asked).any(|row| row.turn_id == *turn);
    let mut room = percent(window, REQUESTS_PERCENT);
    let mut rows_kept = BTreeSet::new();
    for (at, row) in rows.iter().enumerate().rev().filter(|(_, row)| asked(row)) {
        if own && row.turn_id != *turn {
            continue;
        }
        let tokens = message_tokens(&user_message(row, window));
        if !rows_kept.is_empty() && (tokens > room || !own) {
            break;
        }
        room = room.saturating_sub(tokens);
        rows_kept.insert(at);
    }
    rows_kept
}
