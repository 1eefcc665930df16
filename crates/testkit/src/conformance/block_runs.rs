//! Laws of `BlockRuns`.

use futures::future::join_all;
use ports::store::{BlockOutcome, BlockRunBegun, NewBlockRun};
use protocol::UserId;
use protocol::credit::CreditCharge;
use serde_json::json;

use super::BackendFixture;
use super::agent_scene::{ann, bob};

#[macro_export]
macro_rules! block_runs_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, block_runs:
            a_block_run_is_started_once,
            a_block_run_ends_once_with_its_charge,
        );
    };
}

fn new(user: &UserId) -> NewBlockRun {
    NewBlockRun {
        user_id: user.clone(),
        key: "call-1".to_owned(),
        block_id: "b".into(),
        session_id: Some("s".into()),
    }
}

fn outcome(text: &str) -> BlockOutcome {
    let outputs = vec![("out".to_owned(), json!({"said": text})), ("out".to_owned(), json!(null))];
    BlockOutcome { outputs, error: Some("it failed late".to_owned()) }
}

pub async fn a_block_run_is_started_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let mine = new(&ann());
    let begun = join_all((0..10).map(|_| ports.block_runs.begin(&mine))).await;
    let mut states: Vec<_> = begun.into_iter().map(|one| one.expect("begin")).collect();
    states.retain(|state| *state != BlockRunBegun::Open);
    assert_eq!(states, [BlockRunBegun::New]);
    let his = ports.block_runs.begin(&new(&bob())).await.expect("begin");
    assert_eq!(his, BlockRunBegun::New, "keys are separate per user");
    fixture.restart().await;
    let again = fixture.ports().block_runs.begin(&new(&ann())).await.expect("begin");
    assert_eq!(again, BlockRunBegun::Open);
}

pub async fn a_block_run_ends_once_with_its_charge(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, bob) = (ann(), bob());
    ports.block_runs.begin(&new(&ann)).await.expect("begin");
    let charge = CreditCharge { key: "call-1".into(), amount: 9, what: "a block".into() };
    let end = async |user: &UserId, text: &str| {
        let outcome = outcome(text);
        ports.block_runs.end(user, "call-1", &outcome, Some(&charge)).await.expect("end")
    };
    assert!(!end(&bob, "nobody's").await, "it was never started");
    let texts: Vec<String> = (0..10).map(|n| format!("end {n}")).collect();
    let ended = join_all(texts.iter().map(|text| end(&ann, text))).await;
    let won: Vec<usize> = (0..10).filter(|n| ended[*n]).collect();
    let [won] = won.as_slice() else { panic!("one of them, not {won:?}") };
    let known = ports.block_runs.begin(&new(&ann)).await.expect("begin");
    assert_eq!(known, BlockRunBegun::Ended(outcome(&texts[*won])));
    assert_eq!(ports.credits.balance(&ann).await.expect("balance"), -9, "charged once");
    assert_eq!(ports.credits.balance(&bob).await.expect("balance"), 0);
    let free = NewBlockRun { key: "call-2".into(), ..new(&ann) };
    ports.block_runs.begin(&free).await.expect("begin");
    let nothing = BlockOutcome { outputs: Vec::new(), error: None };
    assert!(ports.block_runs.end(&ann, "call-2", &nothing, None).await.expect("end"));
    let known = ports.block_runs.begin(&free).await.expect("begin");
    assert_eq!(known, BlockRunBegun::Ended(nothing));
    assert_eq!(ports.credits.balance(&ann).await.expect("balance"), -9);
}
