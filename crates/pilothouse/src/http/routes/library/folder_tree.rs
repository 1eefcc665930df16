//! Folders with counts of their contents, and as a tree.

use std::collections::HashMap;

use protocol::FolderId;
use protocol::library::{Folder, LibraryAgent};
use serde::Serialize;

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct FolderView {
    #[serde(flatten)]
    pub(crate) folder: Folder,
    /// Agents directly in it.
    agent_count: usize,
    subfolder_count: usize,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct FolderNode {
    #[serde(flatten)]
    folder: FolderView,
    #[schema(no_recursion)]
    children: Vec<FolderNode>,
}

/// Every folder, with the numbers of agents and folders directly in it.
pub(crate) fn counted(folders: Vec<Folder>, agents: &[LibraryAgent]) -> Vec<FolderView> {
    let agent_counts = count(agents.iter().filter_map(|agent| agent.folder_id.as_ref()));
    let subfolder_counts = count(folders.iter().filter_map(|folder| folder.parent_id.as_ref()));
    let view = |folder: Folder| FolderView {
        agent_count: agent_counts.get(&folder.id).copied().unwrap_or(0),
        subfolder_count: subfolder_counts.get(&folder.id).copied().unwrap_or(0),
        folder,
    };
    folders.into_iter().map(view).collect()
}

fn count<'a>(ids: impl Iterator<Item = &'a FolderId>) -> HashMap<FolderId, usize> {
    let mut counts = HashMap::new();
    for id in ids {
        *counts.entry(id.clone()).or_default() += 1;
    }
    counts
}

/// The folders as a tree.
pub(crate) fn nested(folders: Vec<FolderView>) -> Vec<FolderNode> {
    let mut by_parent: HashMap<Option<FolderId>, Vec<FolderView>> = HashMap::new();
    for view in folders {
        by_parent.entry(view.folder.parent_id.clone()).or_default().push(view);
    }
    children(None, &mut by_parent)
}

/// Recurses as deep as the tree, which has at most as many levels as a library has folders.
fn children(
    parent: Option<FolderId>,
    by_parent: &mut HashMap<Option<FolderId>, Vec<FolderView>>,
) -> Vec<FolderNode> {
    let here = by_parent.remove(&parent).unwrap_or_default();
    here.into_iter()
        .map(|folder| {
            let children = children(Some(folder.folder.id.clone()), by_parent);
            FolderNode { folder, children }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn folder(id: &str, parent: Option<&str>) -> Folder {
        Folder {
            id: id.into(),
            name: id.to_owned(),
            icon: None,
            color: None,
            parent_id: parent.map(Into::into),
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn every_folder_is_inside_its_parent() {
        let folders = ["a", "b", "c", "d"].map(|id| match id {
            "b" | "c" => folder(id, Some("a")),
            "d" => folder(id, Some("c")),
            _ => folder(id, None),
        });
        let tree = nested(counted(folders.into(), &[]));
        let tree = serde_json::to_value(tree).expect("JSON");
        assert_eq!(tree.as_array().map(Vec::len), Some(1));
        assert_eq!(tree[0]["subfolder_count"], 2);
        assert_eq!(tree[0]["children"][1]["children"][0]["name"], "d");
    }
}
