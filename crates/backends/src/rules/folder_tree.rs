//! Validates library folders against all folders of their user.

use ports::store::FolderWritten;
use protocol::FolderId;
use protocol::library::Folder;
use protocol::limits::LIBRARY_FOLDERS;

/// Why the new folder is refused, if it is.
pub(crate) fn refusal_of_new(folders: &[Folder], given: &Folder) -> Option<FolderWritten> {
    let is_full = folders.len() >= LIBRARY_FOLDERS as usize;
    refusal(folders, given).or_else(|| is_full.then_some(FolderWritten::TooMany))
}

/// Why the changed folder is refused, if it is.
pub(crate) fn refusal_of_change(folders: &[Folder], given: &Folder) -> Option<FolderWritten> {
    if find(folders, &given.id).is_none() {
        return Some(FolderWritten::Missing);
    }
    refusal(folders, given)
}

fn refusal(folders: &[Folder], given: &Folder) -> Option<FolderWritten> {
    let parent = given.parent_id.as_ref();
    if parent.is_some_and(|parent| find(folders, parent).is_none()) {
        return Some(FolderWritten::NoParent);
    }
    if parent.is_some_and(|parent| is_within(folders, parent, &given.id)) {
        return Some(FolderWritten::Circular);
    }
    let taken = folders.iter().any(|other| {
        other.id != given.id && other.parent_id == given.parent_id && other.name == given.name
    });
    taken.then_some(FolderWritten::NameTaken)
}

/// The folder and all folders below it, at any depth.
pub(crate) fn with_all_inside<'a>(folders: &'a [Folder], id: &FolderId) -> Vec<&'a FolderId> {
    let inside = folders.iter().filter(|folder| is_within(folders, &folder.id, id));
    inside.map(|folder| &folder.id).collect()
}

/// Whether `id` is `outer` or below it. Folders form no cycles, so the path up is no longer than their number.
fn is_within(folders: &[Folder], id: &FolderId, outer: &FolderId) -> bool {
    let mut at = Some(id);
    for _ in 0..=folders.len() {
        match at {
            Some(here) if here == outer => return true,
            Some(here) => at = find(folders, here).and_then(|folder| folder.parent_id.as_ref()),
            None => return false,
        }
    }
    false
}

fn find<'a>(folders: &'a [Folder], id: &FolderId) -> Option<&'a Folder> {
    folders.iter().find(|folder| folder.id == *id)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn folder(id: &str, name: &str, parent: Option<&str>) -> Folder {
        let now = Timestamp::UNIX_EPOCH;
        Folder {
            id: id.into(),
            name: name.to_owned(),
            icon: None,
            color: None,
            parent_id: parent.map(FolderId::from),
            created_at: now,
            updated_at: now,
        }
    }

    #[test]
    fn a_folder_is_refused_in_an_invalid_position() {
        let folders = [
            folder("a", "work", None),
            folder("b", "mail", Some("a")),
            folder("c", "old", Some("b")),
        ];
        let cases = [
            (folder("d", "mail", None), None),
            (folder("d", "mail", Some("a")), Some(FolderWritten::NameTaken)),
            (folder("d", "mail", Some("x")), Some(FolderWritten::NoParent)),
            (folder("d", "mail", Some("d")), Some(FolderWritten::NoParent)),
            (folder("a", "work", Some("c")), Some(FolderWritten::Circular)),
            (folder("a", "work", Some("a")), Some(FolderWritten::Circular)),
            (folder("b", "mail", Some("a")), None),
            (folder("c", "old", Some("a")), None),
        ];
        for (given, expected) in cases {
            assert_eq!(refusal(&folders, &given), expected, "{given:?}");
        }
        assert_eq!(with_all_inside(&folders, &"b".into()), [&"b".into(), &"c".into()]);
        assert!(with_all_inside(&folders, &"x".into()).is_empty());
    }
}
