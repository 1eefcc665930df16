//! Laws of `Sessions`.

use ports::store::{ListSessions, NewSession, SessionAssigned, TitleChange};
use ports::stream_log::LogRead;
use protocol::UserId;
use protocol::session::{ChatStatus, Owner};
use serde_json::json;

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! sessions_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, sessions:
            a_session_of_another_owner_looks_missing,
            a_generated_title_never_replaces_a_users,
            an_anonymous_session_is_claimed_once,
            a_deleted_session_leaves_nothing,
            every_field_of_a_session_survives_a_restart,
            sessions_are_listed_newest_first_with_pinned_on_top,
            a_session_reports_whether_a_turn_is_running,
            a_session_with_a_given_id_is_created_once,
            sessions_are_found_by_the_words_of_their_title,
        );
    };
}

const ALL: ListSessions =
    ListSessions { limit: 100, offset: 0, pinned_first: false, words: Vec::new() };

pub async fn a_session_of_another_owner_looks_missing(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    for stranger in [user("bob"), Owner::Anonymous] {
        let sessions = &ports.sessions;
        assert_eq!(sessions.get(&stranger, &mine.id).await.expect("get"), None);
        assert_eq!(sessions.list(&stranger, ALL).await.expect("list").total, 0);
        let title = TitleChange::ByUser("stolen".into());
        assert!(!sessions.set_title(&stranger, &mine.id, title).await.expect("title"));
        assert!(!sessions.set_pinned(&stranger, &mine.id, true).await.expect("pin"));
        assert!(!sessions.delete(&stranger, &mine.id).await.expect("delete"));
        assert_eq!(ports.turns.get(&stranger, &turn.id).await.expect("turn"), None);
        assert_eq!(ports.turns.current(&stranger, &mine.id).await.expect("current"), None);
        assert_eq!(ports.turns.request_cancel(&stranger, &mine.id).await.expect("cancel"), []);
        assert_eq!(ports.messages.page(&stranger, &mine.id, 10, None).await.expect("page"), None);
        let open = ports.turns.open(&stranger, submission(&mine.id, "mine now", None)).await;
        assert_eq!(open.expect("open"), ports::store::TurnOpened::NoSession);
    }
    let seen = ports.sessions.get(&ann, &mine.id).await.expect("get").expect("its owner sees it");
    assert_eq!((seen.title, seen.is_pinned), (None, false));
    let turn = ports.turns.get(&ann, &turn.id).await.expect("get").expect("its owner sees it");
    assert!(!turn.cancel_requested);
    assert_eq!(history(ports, &ann, &mine.id).await.len(), 1);
}

pub async fn a_generated_title_never_replaces_a_users(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let id = session(ports, &ann).await.id;
    let set = |title: TitleChange| ports.sessions.set_title(&ann, &id, title);
    assert!(set(TitleChange::Generated("first".into())).await.expect("title"));
    assert!(!set(TitleChange::Generated("second".into())).await.expect("title"));
    assert!(set(TitleChange::ByUser("mine".into())).await.expect("title"));
    assert!(!set(TitleChange::Generated("third".into())).await.expect("title"));
    let title = ports.sessions.get(&ann, &id).await.expect("get").and_then(|s| s.title);
    assert_eq!(title.as_deref(), Some("mine"));
}

pub async fn an_anonymous_session_is_claimed_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let id = session(ports, &Owner::Anonymous).await.id;
    let (ann, bob) = (UserId::from("ann"), UserId::from("bob"));
    let assign = |user| ports.sessions.assign(user, &id);
    assert!(ports.sessions.get(&Owner::Anonymous, &id).await.expect("get").is_some());
    let (a, b) = tokio::join!(assign(&ann), assign(&bob));
    let mut outcomes = [a.expect("assign"), b.expect("assign")];
    let winner = if outcomes[0] == SessionAssigned::Done { &ann } else { &bob };
    outcomes.sort_by_key(|outcome| *outcome != SessionAssigned::Done);
    assert_eq!(outcomes, [SessionAssigned::Done, SessionAssigned::NotFound]);
    assert_eq!(assign(winner).await.expect("assign"), SessionAssigned::Already);
    assert_eq!(ports.sessions.get(&Owner::Anonymous, &id).await.expect("get"), None);
    let list = ports.sessions.list(&Owner::User(winner.clone()), ALL).await.expect("list");
    assert_eq!(list.total, 1);
    let none = ports.sessions.assign(&ann, &"no such session".into()).await.expect("assign");
    assert_eq!(none, SessionAssigned::NotFound);
}

pub async fn a_deleted_session_leaves_nothing(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, gone, turn) = first_turn(ports).await;
    let child = NewSession { parent_session_id: Some(gone.id.clone()), ..NewSession::default() };
    let child = ports.sessions.create(&ann, child).await.expect("create");
    let claim = claim(ports, &turn.id).await;
    let task = turn.id.task();
    ports.log.append(&task, claim.fence, segment(0, &["a"])).await.expect("append");
    let mut watching = ports.log.watch(&task);
    assert!(ports.sessions.delete(&ann, &gone.id).await.expect("delete"));
    watching.changed(SHORT).await;

    assert!(!ports.sessions.delete(&ann, &gone.id).await.expect("delete"));
    assert_eq!(ports.sessions.get(&ann, &gone.id).await.expect("get"), None);
    assert_eq!(ports.turns.get(&ann, &turn.id).await.expect("turn"), None);
    assert_eq!(ports.messages.page(&ann, &gone.id, 10, None).await.expect("page"), None);
    assert_eq!(ports.log.read(&task, 0, 1000).await.expect("read"), LogRead::Missing);
    assert_eq!(ports.log.read(&task, 1, 1000).await.expect("read"), LogRead::Missing);
    assert_eq!(due(ports).await, []);
    let late = ports.log.append(&task, claim.fence, segment(1, &["b"])).await.expect("append");
    assert_eq!(late, ports::stream_log::SegmentAppended::Stale);
    let child = ports.sessions.get(&ann, &child.id).await.expect("get").expect("it stays");
    assert_eq!(child.parent_session_id, None);
}

pub async fn every_field_of_a_session_survives_a_restart(fixture: &mut impl BackendFixture) {
    let ann = user("ann");
    let new = NewSession {
        dry_run: true,
        metadata: json!({"page": {"url": "https://example.org/ä"}, "n": [1, null]})
            .as_object()
            .cloned()
            .expect("an object"),
        parent_session_id: Some("parent".into()),
        depth: 2,
        ..NewSession::default()
    };
    let created = fixture.ports().sessions.create(&ann, new).await.expect("create");
    fixture.ports().sessions.set_pinned(&ann, &created.id, true).await.expect("pin");
    fixture.restart().await;
    let found = fixture.ports().sessions.get(&ann, &created.id).await.expect("get");
    let expected = protocol::session::Session { is_pinned: true, ..created };
    assert_eq!(found, Some(expected));
}

pub async fn sessions_are_listed_newest_first_with_pinned_on_top(
    fixture: &mut impl BackendFixture,
) {
    let ports = fixture.ports();
    let ann = user("ann");
    let (old, pinned, new) =
        (session(ports, &ann).await, session(ports, &ann).await, session(ports, &ann).await);
    ports.sessions.set_pinned(&ann, &pinned.id, true).await.expect("pin");
    turn(ports, &ann, &old.id, "wake up").await;
    let listed = async |wanted: ListSessions| {
        let page = ports.sessions.list(&ann, wanted).await.expect("list");
        assert_eq!(page.total, 3);
        page.sessions.into_iter().map(|session| session.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(ALL).await, [old.id.clone(), new.id.clone(), pinned.id.clone()]);
    let page = ListSessions { limit: 2, offset: 1, pinned_first: true, words: Vec::new() };
    assert_eq!(listed(page).await, [old.id, new.id]);
}

pub async fn a_session_reports_whether_a_turn_is_running(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    let status = || async {
        ports.sessions.get(&ann, &mine.id).await.expect("get").expect("it exists").chat_status
    };
    assert_eq!(mine.chat_status, ChatStatus::Idle);
    assert_eq!(status().await, ChatStatus::Queued);
    let claim = claim(ports, &turn.id).await;
    assert_eq!(status().await, ChatStatus::Running);
    finish(ports, &claim, "done").await;
    assert_eq!(status().await, ChatStatus::Idle);
}

pub async fn a_session_with_a_given_id_is_created_once(fixture: &mut impl BackendFixture) {
    let ann = user("ann");
    let chosen = |dry_run| NewSession { id: Some("s-1".into()), dry_run, ..NewSession::default() };
    let ports = fixture.ports();
    let creates = (0..10).map(|_| ports.sessions.create(&ann, chosen(true)));
    let made = futures::future::join_all(creates).await;
    let first = made[0].clone().expect("create");
    assert_eq!(first.id.as_str(), "s-1");
    assert!(made.iter().all(|made| made.as_ref().is_ok_and(|made| *made == first)));
    fixture.restart().await;
    let sessions = &fixture.ports().sessions;
    let again = sessions.create(&ann, chosen(false)).await.expect("create");
    assert_eq!(again, first, "unchanged");
    for stranger in [user("bob"), Owner::Anonymous] {
        let refused = sessions.create(&stranger, chosen(true)).await;
        assert!(matches!(refused, Err(ports::PortError::Broken(_))), "{refused:?}");
    }
    assert_eq!(sessions.list(&ann, ALL).await.expect("list").total, 1);
}

pub async fn sessions_are_found_by_the_words_of_their_title(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, bob) = (user("ann"), user("bob"));
    let named = async |owner: &Owner, title: &str| {
        let id = session(ports, owner).await.id;
        let title = TitleChange::ByUser(title.to_owned());
        assert!(ports.sessions.set_title(owner, &id, title).await.expect("title"));
    };
    let titles =
        ["Invoices of May", "Ärger mit ÖPNV", "100% [sure]*?", "a_b \\ (c|d)", "100 invoices"];
    for title in titles {
        named(&ann, title).await;
    }
    named(&bob, "Invoices of bob").await;
    session(ports, &ann).await;
    for (search, found) in [
        ("invoices", vec!["100 invoices", "Invoices of May"]),
        ("MAY inv", vec!["Invoices of May"]),
        ("voices june", vec![]),
        ("ärger öpnv", vec!["Ärger mit ÖPNV"]),
        ("100%", vec!["100% [sure]*?"]),
        ("[SURE]*?", vec!["100% [sure]*?"]),
        ("[a-z]", vec![]),
        ("0.*s", vec![]),
        ("_", vec!["a_b \\ (c|d)"]),
        ("\\", vec!["a_b \\ (c|d)"]),
        ("(C|D)", vec!["a_b \\ (c|d)"]),
    ] {
        let words = search.split_whitespace().map(str::to_owned).collect();
        let page = ports.sessions.list(&ann, ListSessions { words, ..ALL }).await.expect("list");
        assert_eq!(page.total, found.len() as u64, "{search}");
        let mut seen: Vec<_> = page.sessions.into_iter().filter_map(|s| s.title).collect();
        seen.sort();
        assert_eq!(seen, found, "{search}");
    }
    let words = vec!["invoices".to_owned()];
    let page = ListSessions { limit: 1, offset: 1, words, ..ALL };
    let page = ports.sessions.list(&ann, page).await.expect("list");
    assert_eq!((page.total, page.sessions.len()), (2, 1), "a page of what was found");
    assert_eq!(ports.sessions.list(&ann, ALL).await.expect("list").total, 6);
}
