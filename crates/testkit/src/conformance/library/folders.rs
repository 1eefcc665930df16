//! Laws of `Library`: its folders.

use futures::stream::{self, StreamExt};
use ports::Ports;
use ports::store::FolderWritten;
use protocol::library::Folder;
use protocol::limits::LIBRARY_FOLDERS;
use protocol::{FolderId, LibraryAgentId};

use crate::conformance::BackendFixture;
use crate::conformance::agent_scene::*;

fn folder(name: &str, parent: Option<&Folder>) -> Folder {
    Folder {
        id: FolderId::fresh(),
        name: name.to_owned(),
        icon: Some("box".to_owned()),
        color: None,
        parent_id: parent.map(|parent| parent.id.clone()),
        created_at: some_time(),
        updated_at: some_time(),
    }
}

async fn try_add(ports: &Ports, folder: &Folder) -> FolderWritten {
    ports.library.add_folder(&ann(), folder).await.expect("adding succeeds")
}

async fn add(ports: &Ports, name: &str, parent: Option<&Folder>) -> Folder {
    match try_add(ports, &folder(name, parent)).await {
        FolderWritten::Done(folder) => *folder,
        other => panic!("a new folder was expected, not {other:?}"),
    }
}

async fn update(ports: &Ports, folder: &Folder) -> FolderWritten {
    ports.library.update_folder(&ann(), folder).await.expect("changing succeeds")
}

async fn all(ports: &Ports) -> Vec<Folder> {
    ports.library.folders(&ann()).await.expect("the read succeeds")
}

pub async fn sibling_folders_have_different_names(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let work = add(ports, "work", None).await;
    let home = add(ports, "home", None).await;
    let inner = add(ports, "work", Some(&work)).await;
    assert_eq!(try_add(ports, &folder("work", None)).await, FolderWritten::NameTaken);
    assert_eq!(try_add(ports, &folder("work", Some(&work))).await, FolderWritten::NameTaken);
    let renamed = Folder { name: "work".into(), ..home.clone() };
    assert_eq!(update(ports, &renamed).await, FolderWritten::NameTaken);
    let to_root = Folder { parent_id: None, ..inner.clone() };
    assert_eq!(update(ports, &to_root).await, FolderWritten::NameTaken);
    assert_eq!(all(ports).await.len(), 3);
    let changed = Folder {
        name: "house".into(),
        icon: None,
        color: Some("red".into()),
        parent_id: Some(work.id.clone()),
        ..home.clone()
    };
    let FolderWritten::Done(stored) = update(ports, &changed).await else {
        panic!("the name is free")
    };
    assert_eq!(*stored, Folder { updated_at: stored.updated_at, ..changed });
    assert!(matches!(update(ports, &stored).await, FolderWritten::Done(_)), "its own name is free");
    let his = ports.library.add_folder(&bob(), &folder("work", None)).await.expect("add");
    assert!(matches!(his, FolderWritten::Done(_)), "{his:?}");
    assert_eq!(ports.library.folders(&bob()).await.expect("folders").len(), 1);
    let stolen = ports.library.update_folder(&bob(), &work).await.expect("change");
    assert_eq!(stolen, FolderWritten::Missing);
}

pub async fn a_folder_is_never_inside_itself(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let top = add(ports, "top", None).await;
    let middle = add(ports, "middle", Some(&top)).await;
    let leaf = add(ports, "leaf", Some(&middle)).await;
    for parent in [&top, &middle, &leaf] {
        let moved = Folder { parent_id: Some(parent.id.clone()), ..top.clone() };
        assert_eq!(update(ports, &moved).await, FolderWritten::Circular);
    }
    let own = folder("own", None);
    let own = Folder { parent_id: Some(own.id.clone()), ..own };
    assert_eq!(try_add(ports, &own).await, FolderWritten::NoParent);
    let lost = Folder { parent_id: Some("no such folder".into()), ..leaf.clone() };
    assert_eq!(update(ports, &lost).await, FolderWritten::NoParent);
    assert_eq!(update(ports, &folder("none", None)).await, FolderWritten::Missing);
    let up = Folder { parent_id: Some(top.id.clone()), ..leaf.clone() };
    assert!(matches!(update(ports, &up).await, FolderWritten::Done(_)));
    let under = Folder { parent_id: Some(leaf.id.clone()), ..middle };
    assert!(matches!(update(ports, &under).await, FolderWritten::Done(_)), "no cycle any more");
}

pub async fn a_deleted_folder_leaves_its_agents_at_the_root(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let top = add(ports, "top", None).await;
    let inner = add(ports, "inner", Some(&top)).await;
    let lowest = add(ports, "lowest", Some(&inner)).await;
    let kept = add(ports, "kept", None).await;
    let mut agents = Vec::new();
    for folder in [&top, &lowest, &kept] {
        let (_, entry) = created(ports, &ann(), &folder.name).await;
        let ids = [entry.id.clone()];
        let moved = ports.library.move_agents(&ann(), &ids, Some(&folder.id)).await.expect("move");
        assert_eq!(moved, Some(1));
        agents.push(entry.id);
    }
    assert!(!ports.library.remove_folder(&bob(), &top.id).await.expect("remove"));
    assert!(ports.library.remove_folder(&ann(), &top.id).await.expect("remove"));
    assert!(!ports.library.remove_folder(&ann(), &top.id).await.expect("remove"));
    assert_eq!(all(ports).await, std::slice::from_ref(&kept));
    for (agent, folder) in agents.iter().zip([None, None, Some(kept.id)]) {
        let entry = ports.library.get(&ann(), agent).await.expect("get").expect("it is kept");
        assert_eq!(entry.folder_id, folder);
    }
}

pub async fn agents_are_moved_together(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let top = add(ports, "top", None).await;
    let mut ids = Vec::new();
    for name in ["a", "b"] {
        ids.push(created(ports, &ann(), name).await.1.id);
    }
    ids.push(created(ports, &bob(), "his").await.1.id);
    ids.push(LibraryAgentId::from("no such agent"));
    let nowhere = FolderId::from("no such folder");
    let missing = ports.library.move_agents(&ann(), &ids, Some(&nowhere)).await;
    assert_eq!(missing.expect("move"), None);
    let moved = ports.library.move_agents(&ann(), &ids, Some(&top.id)).await.expect("move");
    assert_eq!(moved, Some(2), "only the user's own agents");
    let folders = async || {
        let list = ports.library.list(&ann()).await.expect("list");
        list.into_iter().map(|entry| entry.folder_id).collect::<Vec<_>>()
    };
    assert_eq!(folders().await, [Some(top.id.clone()), Some(top.id.clone())]);
    assert_eq!(ports.library.move_agents(&ann(), &ids[..1], None).await.expect("move"), Some(1));
    assert_eq!(folders().await.iter().filter(|folder| folder.is_none()).count(), 1);
    let stolen = ports.library.move_agents(&bob(), &ids, Some(&top.id)).await.expect("move");
    assert_eq!(stolen, None, "the folder is not bob's");
}

pub async fn library_folders_are_limited_per_user(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let folders: Vec<Folder> =
        (0..LIBRARY_FOLDERS).map(|n| folder(&format!("folder {n}"), None)).collect();
    let added = stream::iter(&folders).map(|one| try_add(ports, one)).buffer_unordered(32);
    let done = added.filter(|one| std::future::ready(matches!(one, FolderWritten::Done(_))));
    assert_eq!(done.count().await, folders.len());
    assert_eq!(try_add(ports, &folder("one more", None)).await, FolderWritten::TooMany);
    assert_eq!(all(ports).await.len(), LIBRARY_FOLDERS as usize);
}
