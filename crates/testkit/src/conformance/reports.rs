//! Laws of `Reports`.

use std::time::Duration;

use jiff::SignedDuration;
use ports::store::{JournalEntry, LiveTurn};
use protocol::WorkerId;
use protocol::execution::ExecutionStatus;
use protocol::limits::STEP_CALLS;
use protocol::tool::ToolEffect;
use protocol::turn::TurnStatus;
use protocol::usage::Usage;

use super::scene::*;
use super::{BackendFixture, agent_scene};

const DAY: Duration = Duration::from_secs(24 * 3600);

#[macro_export]
macro_rules! reports_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, reports:
            usage_is_summed_by_day,
            open_turns_are_listed_with_their_holders,
            open_executions_are_listed_with_their_holders,
            a_turn_is_listed_with_the_tool_it_waits_for,
            open_turns_and_executions_are_listed_oldest_first,
            claims_are_counted_by_process,
        );
    };
}

pub async fn usage_is_summed_by_day(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    assert_eq!(ports.reports.usage(&agent_scene::ann()).await.expect("usage"), []);
    let step = |prompt_tokens, cost_microdollars| JournalEntry::StepEnded {
        usage: Usage {
            prompt_tokens,
            completion_tokens: 2,
            cache_read_tokens: 3,
            cache_write_tokens: 4,
            cost_microdollars,
        },
    };
    let (first, second) = (session(ports, &ann).await.id, session(ports, &ann).await.id);
    let third = session(ports, &ann).await.id;
    let mut turns = Vec::new();
    for (session, cost) in [(&first, Some(7)), (&second, None), (&third, None)] {
        let turn = turn(ports, &ann, session, "work").await;
        let claim = claim(ports, &turn.id).await;
        record(ports, &claim, vec![step(10, cost)]).await;
        record(ports, &claim, vec![step(100, cost)]).await;
        finish(ports, &claim, "done").await;
        turns.push(turn.id);
    }
    // Turns of another user and of an anonymous session.
    whole_turn(ports, &user("bob"), &session(ports, &user("bob")).await.id, "his").await;
    let anonymous = protocol::session::Owner::Anonymous;
    whole_turn(ports, &anonymous, &session(ports, &anonymous).await.id, "nobody's").await;

    for turn in &turns[..2] {
        fixture.backdate(turn, 3 * DAY).await;
    }

    let ports = fixture.ports();
    let days = ports.reports.usage(&agent_scene::ann()).await.expect("usage");
    let [then, now] = days.as_slice() else { panic!("two days: {days:?}") };
    let used = |turns: u64, cost_microdollars| Usage {
        prompt_tokens: 110 * turns,
        completion_tokens: 4 * turns,
        cache_read_tokens: 6 * turns,
        cache_write_tokens: 8 * turns,
        cost_microdollars,
    };
    assert_eq!((then.turns, then.usage), (2, used(2, Some(14))));
    assert_eq!((now.turns, now.usage), (1, used(1, None)));
    let today = ports.clock.now().to_zoned(jiff::tz::TimeZone::UTC).date();
    // Midnight may have passed meanwhile.
    assert!([today, today.yesterday().expect("a day before")].contains(&now.date), "{days:?}");
    assert!(then.date < now.date, "oldest first: {days:?}");
    assert!(ports.sessions.delete(&ann, &first).await.expect("delete"));
    let left = ports.reports.usage(&agent_scene::ann()).await.expect("usage");
    let left: Vec<u64> = left.iter().map(|day| day.turns).collect();
    assert_eq!(left, [1, 1], "usage is deleted with its session");
}

async fn live(fixture: &impl BackendFixture) -> Vec<LiveTurn> {
    fixture.ports().reports.live_turns(100).await.expect("live turns")
}

pub async fn open_turns_are_listed_with_their_holders(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    let bobs = session(ports, &user("bob")).await.id;
    let second = turn(ports, &user("bob"), &bobs, "his").await;
    whole_turn(ports, &ann, &session(ports, &ann).await.id, "it has ended").await;
    let holder = worker();
    let won = ports.leases.claim(&(&second.id).into(), &holder, LONG).await.expect("claim");
    assert!(won.claim().is_some(), "{won:?}");

    let live = live(fixture).await;
    let [waits, runs] = live.as_slice() else { panic!("two turns: {live:?}") };
    assert_eq!((&waits.id, &waits.session_id), (&first.id, &mine.id));
    assert_eq!(waits.user_id.as_ref(), ann.user());
    assert_eq!(
        (waits.status, waits.job.attempt, &waits.job.holder),
        (TurnStatus::Queued, 0, &None)
    );
    assert_eq!((&runs.id, runs.status, runs.job.attempt), (&second.id, TurnStatus::Running, 1));
    assert_eq!(runs.job.holder.as_ref(), Some(&holder));
    assert!(waits.job.age >= runs.job.age && waits.job.age < LAW, "{live:?}");
    assert_eq!((&waits.tool, &runs.tool), (&None, &None));
}

pub async fn open_executions_are_listed_with_their_holders(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let empty = ports.reports.live_executions(100).await.expect("live executions");
    assert_eq!((empty.runs.len(), empty.oldest_queued), (0, None));
    let (first, second) =
        (agent_scene::queued_execution(ports).await, agent_scene::queued_execution(ports).await);
    let ended = agent_scene::queued_execution(ports).await;
    let claim = agent_scene::claim(ports, &ended.id).await;
    agent_scene::end(ports, &claim, ExecutionStatus::Failed).await;
    let holder = worker();
    let won = ports.leases.claim(&(&first.id).into(), &holder, LONG).await.expect("claim");
    assert!(won.claim().is_some(), "{won:?}");

    let live = ports.reports.live_executions(100).await.expect("live executions");
    let [runs, waits] = live.runs.as_slice() else { panic!("two executions: {live:?}") };
    assert_eq!((&runs.id, &runs.graph_id), (&first.id, &first.graph_id));
    assert_eq!((&runs.user_id, runs.job.attempt), (&agent_scene::ann(), 1));
    assert_eq!((runs.status, waits.status), (ExecutionStatus::Running, ExecutionStatus::Queued));
    assert_eq!(runs.job.holder.as_ref(), Some(&holder));
    assert_eq!((&waits.id, &waits.job.holder), (&second.id, &None));
    assert!(live.oldest_queued.is_some_and(|age| age < LAW), "{live:?}");
}

pub async fn a_turn_is_listed_with_the_tool_it_waits_for(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    let intent = |id: &str| JournalEntry::Intent { call_id: id.into(), effect: ToolEffect::None };
    let mut asked = calls(&["c-1", "c-2"]);
    asked.tool_calls[1].name = "wait\u{0}".into();
    record(ports, &claim, vec![JournalEntry::Message(asked), intent("c-1"), intent("c-2")]).await;
    let tool = async || live(fixture).await.pop().and_then(|turn| turn.tool);
    assert_eq!(tool().await.as_deref(), Some("look"));
    record(ports, &claim, vec![JournalEntry::Result(result("c-1"))]).await;
    assert!(tool().await.is_some_and(|name| name.starts_with("wait")));
    record(ports, &claim, vec![JournalEntry::Result(result("c-2"))]).await;
    assert_eq!(tool().await, None);

    // The maximum number of calls, of which only the last has no result.
    let ids: Vec<String> = (0..STEP_CALLS).map(|n| format!("m-{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    record(ports, &claim, vec![JournalEntry::Message(calls(&ids))]).await;
    let (_, answered) = ids.split_last().expect("calls");
    let results = answered.iter().map(|id| JournalEntry::Result(result(id))).collect();
    record(ports, &claim, results).await;
    assert_eq!(tool().await.as_deref(), Some("look"));
}

pub async fn open_turns_and_executions_are_listed_oldest_first(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let (mut turns, mut runs) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let id = session(ports, &ann).await.id;
        turns.push(turn(ports, &ann, &id, "one").await.id);
        runs.push(agent_scene::queued_execution(ports).await.id);
    }
    claim_for(ports, &turns[4], Duration::ZERO).await;
    let live = ports.reports.live_turns(3).await.expect("live turns");
    assert_eq!(live.into_iter().map(|turn| turn.id).collect::<Vec<_>>(), turns[..3]);
    let live = ports.reports.live_executions(3).await.expect("live executions").runs;
    assert_eq!(live.into_iter().map(|run| run.id).collect::<Vec<_>>(), runs[..3]);
}

pub async fn claims_are_counted_by_process(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let workloads = async || ports.reports.workloads().await.expect("workloads");
    assert_eq!(workloads().await, []);
    let ann = user("ann");
    let claim = async |process: &str, ttl| {
        let id = session(ports, &ann).await.id;
        let turn = turn(ports, &ann, &id, "work").await;
        let won = ports
            .leases
            .claim(&(&turn.id).into(), &WorkerId::of(process), ttl)
            .await
            .expect("claim");
        assert!(won.claim().is_some(), "{won:?}");
    };
    claim("sloop", SHORT).await;
    claim("brig", SHORT).await;
    claim("brig", LONG).await;
    let run = agent_scene::queued_execution(ports).await;
    let won =
        ports.leases.claim(&(&run.id).into(), &WorkerId::of("brig"), SHORT).await.expect("claim");
    assert!(won.claim().is_some(), "{won:?}");
    // Waiting and ended turns have no lease.
    turn(ports, &ann, &session(ports, &ann).await.id, "it waits").await;
    whole_turn(ports, &ann, &session(ports, &ann).await.id, "it has ended").await;

    let held = workloads().await;
    let [brig, sloop] = held.as_slice() else { panic!("two processes: {held:?}") };
    assert_eq!((brig.process.as_str(), brig.turns, brig.executions), ("brig", 2, 1));
    assert_eq!((sloop.process.as_str(), sloop.turns, sloop.executions), ("sloop", 1, 0));
    let long = SignedDuration::try_from(LONG).expect("a short time");
    assert!(brig.lease_left.is_some_and(|left| left > long / 2 && left <= long), "{brig:?}");
    // The lease is not renewed, so the time since its expiry grows.
    for ago in [50, 100] {
        let ago = SignedDuration::from_millis(-ago);
        eventually("the lease expired longer ago", || async {
            let sloop = workloads().await.pop().expect("it holds a turn");
            (sloop.lease_left.expect("a lease") < ago).then_some(())
        })
        .await;
    }
}
