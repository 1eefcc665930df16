//! Laws of `ApiKeys`.

use ports::store::NewApiKey;
use protocol::UserId;

use super::BackendFixture;

#[macro_export]
macro_rules! api_keys_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, api_keys:
            a_revoked_key_identifies_no_user,
            keys_are_seen_by_their_user_only,
            a_key_survives_a_restart,
        );
    };
}

fn key(name: &str) -> NewApiKey {
    NewApiKey { name: name.into(), digest: format!("digest of {name}"), head: "ph_ab".into() }
}

pub async fn a_revoked_key_identifies_no_user(fixture: &mut impl BackendFixture) {
    let keys = &fixture.ports().api_keys;
    let ann = UserId::from("ann");
    let made = keys.create(&ann, key("laptop")).await.expect("create");
    assert_eq!(keys.find("digest of laptop").await.expect("find"), Some(ann.clone()));
    assert_eq!(keys.find("digest of nothing").await.expect("find"), None);
    assert!(keys.revoke(&ann, &made.id).await.expect("revoke"));
    assert!(!keys.revoke(&ann, &made.id).await.expect("revoke"));
    assert_eq!(keys.find("digest of laptop").await.expect("find"), None);
    assert_eq!(keys.list(&ann).await.expect("list"), []);
}

pub async fn keys_are_seen_by_their_user_only(fixture: &mut impl BackendFixture) {
    let keys = &fixture.ports().api_keys;
    let (ann, bob) = (UserId::from("ann"), UserId::from("bob"));
    let first = keys.create(&ann, key("first")).await.expect("create");
    let second = keys.create(&ann, key("second")).await.expect("create");
    let other = keys.create(&bob, key("other")).await.expect("create");
    assert!(!keys.revoke(&bob, &first.id).await.expect("revoke"));
    assert_eq!(keys.list(&ann).await.expect("list"), [first, second]);
    assert_eq!(keys.list(&bob).await.expect("list"), [other]);
}

pub async fn a_key_survives_a_restart(fixture: &mut impl BackendFixture) {
    let ann = UserId::from("ann");
    fixture.ports().api_keys.create(&ann, key("laptop")).await.expect("create");
    fixture.restart().await;
    let found = fixture.ports().api_keys.find("digest of laptop").await.expect("find");
    assert_eq!(found, Some(ann));
}
