//! Laws of `Credits`.

use futures::future::join_all;
use ports::Ports;
use protocol::UserId;
use protocol::credit::TransactionKind;

use super::BackendFixture;
use super::agent_scene::{ann, bob};

#[macro_export]
macro_rules! credits_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, credits:
            a_transaction_key_is_booked_once,
            the_balance_is_the_sum_of_the_ledger,
            the_ledger_adds_up_under_concurrency,
            a_ledger_is_seen_by_its_user_only,
        );
    };
}

async fn book(ports: &Ports, user: &UserId, key: &str, amount: i64) -> i64 {
    let kind = if amount < 0 { TransactionKind::Usage } else { TransactionKind::TopUp };
    let booked = ports.credits.book(user, key, amount, kind, &format!("for {key}")).await;
    booked.expect("booking succeeds")
}

async fn balance(ports: &Ports, user: &UserId) -> i64 {
    ports.credits.balance(user).await.expect("the read succeeds")
}

pub async fn a_transaction_key_is_booked_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, bob) = (ann(), bob());
    let all = join_all((0..20).map(|n| book(ports, &ann, "k", 100 + n))).await;
    let booked = balance(ports, &ann).await;
    assert!(all.iter().all(|balance| *balance == booked), "{all:?}");
    let ledger = ports.credits.transactions(&ann, 10, 0).await.expect("transactions");
    assert_eq!((ledger.len(), ledger[0].amount), (1, booked));
    assert_eq!(book(ports, &bob, "k", 7).await, 7, "keys are separate per user");
    assert_eq!(book(ports, &ann, "k", 5).await, booked);
}

pub async fn the_balance_is_the_sum_of_the_ledger(fixture: &mut impl BackendFixture) {
    let ann = ann();
    assert_eq!(balance(fixture.ports(), &ann).await, 0);
    let mut sum = 0;
    for (n, amount) in [500, -120, -500, 33].into_iter().enumerate() {
        sum += amount;
        assert_eq!(book(fixture.ports(), &ann, &format!("k{n}"), amount).await, sum);
    }
    fixture.restart().await;
    let ports = fixture.ports();
    assert_eq!(balance(ports, &ann).await, sum);
    let ledger = ports.credits.transactions(&ann, 10, 0).await.expect("transactions");
    let running: Vec<_> = ledger.iter().map(|one| (one.amount, one.running_balance)).collect();
    assert_eq!(running, [(33, -87), (-500, -120), (-120, 380), (500, 500)], "newest first");
    assert_eq!(ledger[3].transaction_type, TransactionKind::TopUp);
    assert_eq!((ledger[3].transaction_key.as_str(), &*ledger[3].description), ("k0", "for k0"));
    let page = ports.credits.transactions(&ann, 2, 1).await.expect("transactions");
    assert_eq!(page, ledger[1..3]);
}

pub async fn the_ledger_adds_up_under_concurrency(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let users = [ann(), bob()];
    let bookings = (0..200).map(|n| {
        let (user, amount) = (&users[n % 2], n as i64 - 50);
        // Every key is booked twice.
        let key = format!("k{}", n / 4);
        async move { book(ports, user, &key, amount).await }
    });
    join_all(bookings).await;
    for user in &users {
        let ledger = ports.credits.transactions(user, 1000, 0).await.expect("transactions");
        assert_eq!(ledger.len(), 50);
        let mut sum = 0;
        for one in ledger.iter().rev() {
            sum += one.amount;
            assert_eq!(one.running_balance, sum);
        }
        assert_eq!(balance(ports, user).await, sum);
    }
}

pub async fn a_ledger_is_seen_by_its_user_only(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    book(ports, &ann(), "k", 10).await;
    assert_eq!(balance(ports, &bob()).await, 0);
    assert_eq!(ports.credits.transactions(&bob(), 10, 0).await.expect("transactions"), []);
}
