//! Laws of `Turns` for the journal of a turn.

use ports::Fenced;
use ports::store::{JournalEntry, JournalRecord};
use protocol::message::{MessageRole, NewMessage};
use protocol::tool::ToolEffect;
use protocol::turn::TurnStatus;
use protocol::usage::Usage;

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! turn_journal_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, turn_journal:
            a_record_is_all_or_nothing,
            a_repeated_record_is_written_once,
            the_journal_counts_every_start,
            usage_adds_up,
        );
    };
}

pub async fn a_record_is_all_or_nothing(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    let record = |entries| ports.turns.record(&claim, JournalRecord::new(entries));
    let entries = vec![JournalEntry::Message(calls(&["a"])), JournalEntry::Result(result("a"))];
    assert_eq!(record(entries).await.expect("record"), Fenced::Done(()));
    let twice = vec![
        JournalEntry::Message(NewMessage::new(MessageRole::Assistant, "must not stay")),
        JournalEntry::Intent { call_id: "b".into(), effect: ToolEffect::Once },
        JournalEntry::StepEnded { usage: Usage { prompt_tokens: 9, ..Usage::default() } },
        JournalEntry::Result(result("a")),
    ];
    let refused = record(twice).await;
    assert!(matches!(refused, Err(ports::PortError::Broken(_))), "{refused:?}");
    let Ok(Fenced::Done(progress)) = ports.turns.progress(&claim).await else {
        panic!("the claim is current")
    };
    assert_eq!(texts(&progress.messages), ["hello", "", "result of a"]);
    assert_eq!((progress.steps_done, progress.calls.len()), (0, 0));
    assert_eq!(progress.usage, Usage::default());
}

pub async fn a_repeated_record_is_written_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    let usage = Usage { prompt_tokens: 7, ..Usage::default() };
    let record = JournalRecord::new(vec![
        JournalEntry::Message(calls(&["a"])),
        JournalEntry::Intent { call_id: "a".into(), effect: ToolEffect::Once },
        JournalEntry::Result(result("a")),
        JournalEntry::StepEnded { usage },
    ]);
    for _ in 0..3 {
        let recorded = ports.turns.record(&claim, record.clone()).await.expect("record");
        assert_eq!(recorded, Fenced::Done(()));
    }
    let Fenced::Done(progress) = ports.turns.progress(&claim).await.expect("progress") else {
        panic!("the claim is current")
    };
    assert_eq!((progress.steps_done, progress.usage.prompt_tokens), (1, 7));
    assert_eq!(progress.calls[0].starts, 1);
    finish(ports, &claim, "done").await;
    let after = ports.turns.record(&claim, record).await.expect("record");
    assert_eq!(after, Fenced::Stale, "not after the end");
    assert_eq!(history(ports, &ann, &mine.id).await.len(), 4);
}

pub async fn the_journal_counts_every_start(fixture: &mut impl BackendFixture) {
    let (_, _, turn) = first_turn(fixture.ports()).await;
    let intent = |call: &str, effect| JournalEntry::Intent { call_id: call.into(), effect };
    let first = claim_for(fixture.ports(), &turn.id, SHORT).await;
    let entries = vec![
        JournalEntry::Message(calls(&["z", "a"])),
        intent("z", ToolEffect::Idempotent),
        intent("a", ToolEffect::Once),
    ];
    fixture.ports().turns.record(&first, JournalRecord::new(entries)).await.expect("record");
    fixture.restart().await;
    let ports = fixture.ports();
    let second = claim(ports, &turn.id).await;
    ports
        .turns
        .record(&second, JournalRecord::new(vec![intent("z", ToolEffect::Idempotent)]))
        .await
        .expect("record");
    let Ok(Fenced::Done(progress)) = ports.turns.progress(&second).await else {
        panic!("the claim is current")
    };
    let journal: Vec<_> =
        progress.calls.iter().map(|c| (c.call_id.as_str(), c.effect, c.starts)).collect();
    assert_eq!(journal, [("z", ToolEffect::Idempotent, 2), ("a", ToolEffect::Once, 1)]);
}

pub async fn usage_adds_up(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    let free = Usage { prompt_tokens: 10, completion_tokens: 2, ..Usage::default() };
    let paid = Usage { cache_read_tokens: 5, cost_microdollars: Some(70), ..free };
    for usage in [free, paid] {
        ports
            .turns
            .record(&claim, JournalRecord::new(vec![JournalEntry::StepEnded { usage }]))
            .await
            .expect("record");
    }
    let Ok(Fenced::Done(progress)) = ports.turns.progress(&claim).await else {
        panic!("the claim is current")
    };
    assert_eq!(progress.steps_done, 2);
    let mut sum = free;
    sum += paid;
    assert_eq!(progress.usage, sum);
    let mut end = ending(TurnStatus::Completed, 0, Vec::new());
    end.usage = free;
    ports.turns.finish(&claim, end).await.expect("finish");
    sum += free;
    let found = ports.turns.get(&ann, &turn.id).await.expect("get").expect("it exists");
    assert_eq!(found.usage, sum);
    whole_turn(ports, &ann, &mine.id, "again").await;
    let session = ports.sessions.get(&ann, &mine.id).await.expect("get").expect("it exists");
    assert_eq!(session.total_prompt_tokens, 30);
    assert_eq!(session.total_completion_tokens, 6);
    assert_eq!(session.total_cost_microdollars, 70);
}
