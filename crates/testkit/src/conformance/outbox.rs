//! Laws of `Outbox`. Unless they say otherwise, they hold for every kind of job.

use std::time::Duration;

use super::BackendFixture;
use super::job_scene::*;
use super::scene::{LONG, SHORT, due, eventually, first_turn, turn};

#[macro_export]
macro_rules! outbox_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, outbox:
            a_new_job_is_due_after_its_grace,
            a_due_job_is_given_to_one_caller,
            a_lost_push_is_due_again,
            a_claimed_job_is_not_due,
            a_job_with_an_expired_lease_is_due,
            a_turn_that_waits_for_another_is_not_due,
            open_jobs_are_due_after_a_restart,
            the_lag_is_the_age_of_the_oldest_due_job,
        );
    };
}

/// Long enough for one read before it has passed, even on a slow machine.
const NOT_YET: Duration = Duration::from_secs(1);

async fn pushed(ports: &ports::Ports, job: &protocol::Job, again_in: Duration) {
    ports.outbox.pushed(std::slice::from_ref(job), again_in).await.expect("the push is recorded");
}

pub async fn a_new_job_is_due_after_its_grace<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    for kind in F::JOB_KINDS {
        let job = kind.queued_with_grace(ports, NOT_YET).await;
        assert!(!due_jobs(ports).await.contains(&job));
        until_due(ports, &job).await;
    }
}

pub async fn a_due_job_is_given_to_one_caller<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    for kind in F::JOB_KINDS {
        let (first, second) = (kind.queued(ports).await, kind.queued(ports).await);
        assert_eq!(due_jobs(ports).await, [first.clone(), second.clone()], "oldest first");
        let taken = ports.outbox.due(1, LONG).await.expect("due");
        assert_eq!(taken, [first]);
        assert_eq!(ports.outbox.due(10, LONG).await.expect("due"), [second]);
        assert_eq!(due_jobs(ports).await, [], "they are held for their callers");
    }
}

pub async fn a_lost_push_is_due_again<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    for kind in F::JOB_KINDS {
        let job = kind.queued(ports).await;
        assert!(due_jobs(ports).await.contains(&job));
        pushed(ports, &job, NOT_YET).await;
        assert!(!due_jobs(ports).await.contains(&job));
        // No worker claims it, so it is due again.
        until_due(ports, &job).await;
    }
}

pub async fn a_claimed_job_is_not_due<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    for kind in F::JOB_KINDS {
        let job = kind.queued(ports).await;
        let claimed = claim_job(ports, &job, LONG).await;
        // A push reported late must not make it due again.
        for _ in 0..2 {
            assert_eq!(due_jobs(ports).await, []);
            pushed(ports, &job, Duration::ZERO).await;
        }
        end_job(ports, &claimed).await;
        pushed(ports, &job, Duration::ZERO).await;
        assert_eq!(due_jobs(ports).await, []);
    }
}

pub async fn a_job_with_an_expired_lease_is_due<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    for kind in F::JOB_KINDS {
        let job = kind.queued(ports).await;
        claim_job(ports, &job, SHORT).await;
        until_due(ports, &job).await;
        pushed(ports, &job, NOT_YET).await;
        assert_eq!(due_jobs(ports).await, []);
        until_due(ports, &job).await;
        claim_job(ports, &job, LONG).await;
        assert_eq!(row(ports, &job).await.attempt, 2, "the previous attempt counts as crashed");
        assert_eq!(due_jobs(ports).await, []);
    }
}

pub async fn a_turn_that_waits_for_another_is_not_due(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    let second = turn(ports, &ann, &mine.id, "second").await;
    assert_eq!(due(ports).await, [first.id]);
    pushed(ports, &second.id.clone().into(), Duration::ZERO).await;
    assert!(!due(ports).await.contains(&second.id));
}

pub async fn open_jobs_are_due_after_a_restart<F: BackendFixture>(fixture: &mut F) {
    let mut open = Vec::new();
    for kind in F::JOB_KINDS {
        let queued = kind.queued(fixture.ports()).await;
        let running = kind.queued(fixture.ports()).await;
        claim_job(fixture.ports(), &running, SHORT).await;
        let ended = kind.queued(fixture.ports()).await;
        let claimed = claim_job(fixture.ports(), &ended, LONG).await;
        end_job(fixture.ports(), &claimed).await;
        pushed(fixture.ports(), &queued, SHORT).await;
        open.extend([queued, running]);
    }
    let (ann, mine, first) = first_turn(fixture.ports()).await;
    turn(fixture.ports(), &ann, &mine.id, "waits").await;
    open.push(first.id.into());
    fixture.restart().await;
    for job in &open {
        until_due(fixture.ports(), job).await;
    }
    assert_eq!(due_jobs(fixture.ports()).await.len(), open.len());
}

pub async fn the_lag_is_the_age_of_the_oldest_due_job<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    let mut open = 0;
    assert_eq!(ports.outbox.lag().await.expect("lag"), (0, Duration::ZERO));
    for kind in F::JOB_KINDS {
        kind.queued(ports).await;
        kind.queued(ports).await;
        open += 2;
        let waited = Duration::from_millis(50);
        eventually("the jobs have waited", || async {
            let (count, oldest) = ports.outbox.lag().await.expect("lag");
            assert_eq!(count, open);
            (oldest >= waited).then_some(())
        })
        .await;
    }
}
