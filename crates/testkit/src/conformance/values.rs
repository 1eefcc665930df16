//! Laws of `Values`.

use futures::stream::{self, StreamExt};
use protocol::UserId;
use protocol::limits::VALUES;
use serde_json::{Value, json};

use super::BackendFixture;
use super::agent_scene::{ann, bob};

#[macro_export]
macro_rules! values_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, values:
            a_read_returns_the_last_value_written,
            a_value_is_seen_by_its_user_only,
            values_are_limited_per_user,
        );
    };
}

async fn set(fixture: &impl BackendFixture, user: &UserId, key: &str, value: Value) -> bool {
    fixture.ports().values.set(user, key, &value).await.expect("setting succeeds")
}

async fn get(fixture: &impl BackendFixture, user: &UserId, key: &str) -> Option<Value> {
    fixture.ports().values.get(user, key).await.expect("the read succeeds")
}

pub async fn a_read_returns_the_last_value_written(fixture: &mut impl BackendFixture) {
    let ann = ann();
    assert_eq!(get(fixture, &ann, "k").await, None);
    let values = [json!(1), json!(null), json!({"b": ["ü\u{0}", 1.5], "a": false}), json!("x")];
    for value in values {
        assert!(set(fixture, &ann, "k", value.clone()).await);
        assert_eq!(get(fixture, &ann, "k").await, Some(value));
    }
    assert!(set(fixture, &ann, "K", json!("another key")).await);
    fixture.restart().await;
    assert_eq!(get(fixture, &ann, "k").await, Some(json!("x")));
}

pub async fn a_value_is_seen_by_its_user_only(fixture: &mut impl BackendFixture) {
    let (ann, bob) = (ann(), bob());
    set(fixture, &ann, "k", json!("hers")).await;
    assert_eq!(get(fixture, &bob, "k").await, None);
    set(fixture, &bob, "k", json!("his")).await;
    assert_eq!(get(fixture, &ann, "k").await, Some(json!("hers")));
}

pub async fn values_are_limited_per_user(fixture: &mut impl BackendFixture) {
    let (ann, bob) = (ann(), bob());
    let fixture = &*fixture;
    let one = async |n: u32| set(fixture, &ann, &format!("key {n}"), json!(n)).await;
    // A few more than the limit, partly concurrent; at most 8 at once, so that on a slow machine no write times out
    // waiting for a connection.
    let all = stream::iter(0..VALUES + 5).map(one).buffer_unordered(8);
    let kept = all.filter(|kept| std::future::ready(*kept)).count().await;
    assert_eq!(kept, VALUES as usize);
    assert!(!set(fixture, &ann, "one more", json!(1)).await);
    assert_eq!(get(fixture, &ann, "one more").await, None);
    assert!(
        set(fixture, &ann, "key 7", json!("changed")).await,
        "an existing value can be changed"
    );
    assert_eq!(get(fixture, &ann, "key 7").await, Some(json!("changed")));
    assert!(set(fixture, &bob, "k", json!(1)).await);
}
