//! Rows of the journal of a turn: its tool calls, and the background calls among them.

use ports::store::{BackgroundEnd, BackgroundRecord, JournaledCall};

use super::StoreRow;

macro_rules! journal_columns {
    () => {
        "call_id, effect, starts, background_id, outcome, output, taken"
    };
}

pub(crate) use journal_columns;

pub(crate) fn journaled_call<R: StoreRow>(row: &R) -> Result<JournaledCall, R::Error> {
    Ok(JournaledCall {
        call_id: row.id("call_id")?,
        effect: row.word("effect")?,
        starts: row.small("starts")?,
        background: background_record(row)?,
    })
}

fn background_record<R: StoreRow>(row: &R) -> Result<Option<BackgroundRecord>, R::Error> {
    let Some(id) = row.optional_id("background_id")? else { return Ok(None) };
    let (outcome, output) = (row.optional_word("outcome")?, row.optional_text("output")?);
    let end = outcome.zip(output).map(|(outcome, output)| BackgroundEnd { outcome, output });
    Ok(Some(BackgroundRecord { id, end, taken: row.flag("taken")? }))
}
