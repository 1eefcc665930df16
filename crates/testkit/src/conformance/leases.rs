//! Laws of `Leases`. Unless they say otherwise, they hold for every kind of job.

use futures::future::join_all;
use ports::leases::{JobClaimed, LeaseRenewal};
use ports::{Fenced, Ports};
use protocol::JobClaim;

use super::job_scene::*;
use super::scene::{LONG, SHORT, first_turn, turn, worker};
use super::{BackendFixture, agent_scene, scene};

#[macro_export]
macro_rules! leases_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, leases:
            a_job_has_one_holder,
            a_claim_repeated_by_its_worker_is_the_same_claim,
            every_claim_raises_the_fence,
            a_renewal_after_a_new_claim_fails,
            a_renewed_lease_stays_valid,
            a_session_runs_one_turn_at_a_time,
            a_handed_back_job_does_not_count_as_crashed,
            a_renewal_reports_a_stop,
            an_ended_job_cannot_be_claimed,
            a_job_of_a_dead_process_can_be_claimed_at_once,
        );
    };
}

const HELD: LeaseRenewal = LeaseRenewal::Held { stop_requested: false };

fn claim_of(claimed: &JobClaimed) -> JobClaim {
    claimed.claim().expect("the job is claimed")
}

async fn renew(ports: &Ports, claimed: &JobClaimed) -> LeaseRenewal {
    ports.leases.renew(&claim_of(claimed), LONG).await.expect("renewing succeeds")
}

async fn hand_back(ports: &Ports, claimed: &JobClaimed) -> Fenced<()> {
    ports.leases.hand_back(&claim_of(claimed)).await.expect("handing back succeeds")
}

pub async fn a_job_has_one_holder<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    for kind in F::JOB_KINDS {
        let job = kind.queued(ports).await;
        let claims = join_all((0..20).map(|_| try_claim_job(ports, &job))).await;
        let (granted, refused): (Vec<_>, Vec<_>) =
            claims.into_iter().partition(|claimed| claimed.claim().is_some());
        assert!(refused.iter().all(|refused| *refused == JobClaimed::Held), "{refused:?}");
        let [granted] = granted.as_slice() else { panic!("one holder, not {granted:?}") };
        let claim = claim_of(granted);
        assert_eq!(claim.job, job);
        let stored = row(ports, &job).await;
        assert_eq!((stored.is_running, stored.attempt, stored.fence), (true, 1, claim.fence));
        assert!(stored.started_at.is_some());
        match granted {
            JobClaimed::Turn(granted) => {
                let stored = scene::found(ports, &scene::user("ann"), &granted.turn.id).await;
                assert_eq!(stored, granted.turn);
            }
            JobClaimed::Execution(granted) => {
                let stored = agent_scene::found(ports, &granted.execution.id).await;
                assert_eq!(stored, granted.execution);
            }
            other => panic!("{other:?}"),
        }
    }
}

pub async fn a_claim_repeated_by_its_worker_is_the_same_claim<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    for kind in F::JOB_KINDS {
        let (job, me) = (kind.queued(ports).await, worker());
        let first = claim_as(ports, &job, &me).await;
        assert!(first.claim().is_some(), "{first:?}");
        assert_eq!(claim_as(ports, &job, &me).await, first);
        assert_eq!(try_claim_job(ports, &job).await, JobClaimed::Held);
    }
}

pub async fn every_claim_raises_the_fence<F: BackendFixture>(fixture: &mut F) {
    for kind in F::JOB_KINDS {
        let job = kind.queued(fixture.ports()).await;
        let (mut before, mut started_at) = (0, None);
        for attempt in 1..=4 {
            let claim = claim_of(&claim_job(fixture.ports(), &job, SHORT).await);
            assert!(claim.fence > before);
            before = claim.fence;
            let found = row(fixture.ports(), &job).await;
            assert_eq!((found.attempt, found.fence), (attempt, claim.fence));
            let first_start = *started_at.get_or_insert(found.started_at);
            assert_eq!(found.started_at, first_start, "set by the first claim");
            if attempt == 2 {
                fixture.restart().await;
            }
        }
    }
}

pub async fn a_renewal_after_a_new_claim_fails<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    for kind in F::JOB_KINDS {
        let job = kind.queued(ports).await;
        let old = claim_job(ports, &job, SHORT).await;
        let new = claim_job(ports, &job, LONG).await;
        assert_eq!(renew(ports, &old).await, LeaseRenewal::Lost);
        assert_eq!(hand_back(ports, &old).await, Fenced::Stale);
        assert_eq!(renew(ports, &new).await, HELD);
        end_job(ports, &new).await;
        assert_eq!(renew(ports, &new).await, LeaseRenewal::Lost);
    }
}

pub async fn a_renewed_lease_stays_valid<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    for kind in F::JOB_KINDS {
        let job = kind.queued(ports).await;
        let claimed = claim_job(ports, &job, SHORT).await;
        assert_eq!(renew(ports, &claimed).await, HELD);
        tokio::time::sleep(2 * SHORT).await;
        assert_eq!(try_claim_job(ports, &job).await, JobClaimed::Held);
        assert_eq!(due_jobs(ports).await, []);
    }
}

pub async fn a_session_runs_one_turn_at_a_time(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    let second = turn(ports, &ann, &mine.id, "second").await;
    let claim_second = || scene::try_claim(ports, &second.id);
    assert_eq!(claim_second().await, JobClaimed::NotReady, "the first turn was accepted earlier");
    let first_claim = claim_job(ports, &first.id.clone().into(), SHORT).await;
    assert_eq!(claim_second().await, JobClaimed::NotReady);
    tokio::time::sleep(2 * SHORT).await;
    assert_eq!(claim_second().await, JobClaimed::NotReady, "an expired lease does not end a turn");
    assert_eq!(hand_back(ports, &first_claim).await, Fenced::Done(()));
    assert_eq!(claim_second().await, JobClaimed::NotReady, "nor does handing it back");
    let first_claim = claim_job(ports, &first.id.into(), LONG).await;
    end_job(ports, &first_claim).await;
    assert!(claim_second().await.claim().is_some());
    let (_, _, elsewhere) = first_turn(ports).await;
    scene::claim(ports, &elsewhere.id).await;
}

pub async fn a_handed_back_job_does_not_count_as_crashed<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    for kind in F::JOB_KINDS {
        let job = kind.queued(ports).await;
        let mut fence = 0;
        for _ in 0..5 {
            let claimed = claim_job(ports, &job, LONG).await;
            assert!(claim_of(&claimed).fence > fence);
            fence = claim_of(&claimed).fence;
            assert_eq!(hand_back(ports, &claimed).await, Fenced::Done(()));
            assert_eq!(hand_back(ports, &claimed).await, Fenced::Stale);
            assert_eq!(due_jobs(ports).await, std::slice::from_ref(&job));
            let found = row(ports, &job).await;
            assert_eq!((found.is_queued, found.attempt), (true, 0));
            assert_eq!(renew(ports, &claimed).await, LeaseRenewal::Lost);
        }
        let last = claim_job(ports, &job, LONG).await;
        end_job(ports, &last).await;
    }
}

pub async fn a_renewal_reports_a_stop<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    for kind in F::JOB_KINDS {
        let job = kind.queued(ports).await;
        let claimed = claim_job(ports, &job, LONG).await;
        request_stop(ports, &claimed).await;
        assert_eq!(renew(ports, &claimed).await, LeaseRenewal::Held { stop_requested: true });
    }
}

pub async fn an_ended_job_cannot_be_claimed<F: BackendFixture>(fixture: &mut F) {
    let ports = fixture.ports();
    for kind in F::JOB_KINDS {
        let job = kind.queued(ports).await;
        let claimed = claim_job(ports, &job, LONG).await;
        end_job(ports, &claimed).await;
        for gone in [job, kind.missing()] {
            assert_eq!(try_claim_job(ports, &gone).await, JobClaimed::Ended);
        }
    }
}

pub async fn a_job_of_a_dead_process_can_be_claimed_at_once<F: BackendFixture>(fixture: &mut F) {
    for kind in F::JOB_KINDS {
        let job = kind.queued(fixture.ports()).await;
        let old = claim_job(fixture.ports(), &job, SHORT).await;
        fixture.restart().await;
        let new = claim_job(fixture.ports(), &job, LONG).await;
        assert!(claim_of(&new).fence > claim_of(&old).fence);
        assert_eq!(renew(fixture.ports(), &old).await, LeaseRenewal::Lost);
    }
}
