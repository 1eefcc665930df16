//! Filters and sorts a user's library.

use std::cmp::Reverse;

use protocol::FolderId;
use protocol::library::LibraryAgent;
use serde::Deserialize;
use toolbox::search;

use super::body::LibraryListQuery;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum SortBy {
    CreatedAt,
    #[default]
    UpdatedAt,
    LastRunAt,
    Name,
}

#[derive(Debug, Default)]
pub(crate) struct LibraryFilter {
    words: Option<String>,
    sort_by: SortBy,
    folder: FolderFilter,
    hidden: bool,
}

#[derive(Debug, Default)]
enum FolderFilter {
    #[default]
    Anywhere,
    Root,
    Folder(FolderId),
}

impl From<LibraryListQuery> for LibraryFilter {
    fn from(query: LibraryListQuery) -> Self {
        let folder_filter = match query.folder_id {
            Some(id) => FolderFilter::Folder(id),
            None if query.include_root_only => FolderFilter::Root,
            None => FolderFilter::Anywhere,
        };
        Self {
            words: query.search_term,
            sort_by: query.sort_by.unwrap_or_default(),
            folder: folder_filter,
            hidden: query.is_hidden,
        }
    }
}

/// The agents that pass the filter: best match first in a search, otherwise in the requested order.
pub(crate) fn arrange(agents: Vec<LibraryAgent>, filter: &LibraryFilter) -> Vec<LibraryAgent> {
    let mut agents: Vec<_> = agents.into_iter().filter(|agent| filter.accepts(agent)).collect();
    match filter.sort_by {
        SortBy::CreatedAt => agents.sort_by_key(|agent| Reverse(agent.created_at)),
        SortBy::UpdatedAt => agents.sort_by_key(|agent| Reverse(agent.updated_at)),
        SortBy::LastRunAt => agents.sort_by_key(|agent| Reverse(agent.last_run_at)),
        SortBy::Name => agents.sort_by_key(|agent| agent.name.to_lowercase()),
    }
    let Some(words) = &filter.words else { return agents };
    let ranked = search::rank(words, agents, |agent: &LibraryAgent| {
        vec![&agent.name, &agent.description, agent.creator.as_deref().unwrap_or_default()]
    });
    ranked.into_iter().map(|(_, agent)| agent).collect()
}

impl LibraryFilter {
    fn accepts(&self, agent: &LibraryAgent) -> bool {
        let here = match &self.folder {
            FolderFilter::Anywhere => true,
            FolderFilter::Root => agent.folder_id.is_none(),
            FolderFilter::Folder(folder) => agent.folder_id.as_ref() == Some(folder),
        };
        here && agent.is_hidden == self.hidden
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use protocol::execution::SafeMode;

    use super::*;

    fn agent(name: &str, number: i64) -> LibraryAgent {
        let at = |second| Timestamp::from_second(second).expect("a time");
        LibraryAgent {
            id: name.into(),
            graph_id: name.into(),
            graph_version: 1,
            name: name.to_owned(),
            description: String::new(),
            creator: None,
            folder_id: (number == 1).then(|| "f".into()),
            is_favorite: false,
            is_created_by_user: true,
            is_hidden: number == 4,
            use_graph_is_active_version: true,
            settings: SafeMode::default(),
            created_at: at(number),
            updated_at: at(10 - number),
            last_run_at: (number == 2).then(|| at(number)),
        }
    }

    #[test]
    fn agents_are_filtered_and_sorted_as_requested() {
        let all =
            vec![agent("banana", 1), agent("Apple mail", 2), agent("mail", 3), agent("gone", 4)];
        let shown = |filter: LibraryFilter| {
            let names = arrange(all.clone(), &filter).into_iter().map(|agent| agent.name);
            names.collect::<Vec<_>>()
        };
        let by = |sort_by| shown(LibraryFilter { sort_by, ..LibraryFilter::default() });
        assert_eq!(by(SortBy::UpdatedAt), ["banana", "Apple mail", "mail"]);
        assert_eq!(by(SortBy::CreatedAt), ["mail", "Apple mail", "banana"]);
        assert_eq!(by(SortBy::LastRunAt)[0], "Apple mail", "one that never ran is last");
        assert_eq!(by(SortBy::Name), ["Apple mail", "banana", "mail"]);
        let folder = FolderFilter::Folder("f".into());
        assert_eq!(shown(LibraryFilter { folder, ..LibraryFilter::default() }), ["banana"]);
        let root = LibraryFilter { folder: FolderFilter::Root, ..LibraryFilter::default() };
        assert_eq!(shown(root), ["Apple mail", "mail"]);
        assert_eq!(shown(LibraryFilter { hidden: true, ..LibraryFilter::default() }), ["gone"]);
        let words = Some("mail".to_owned());
        assert_eq!(
            shown(LibraryFilter { words, ..LibraryFilter::default() }),
            ["mail", "Apple mail"]
        );
    }
}
