//! Laws of `Library`.

mod entries;
mod folders;

pub use self::entries::*;
pub use self::folders::*;

#[macro_export]
macro_rules! library_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, library:
            a_user_has_one_entry_for_a_graph,
            a_library_has_no_more_agents_than_it_may,
            a_library_is_seen_by_its_user_only,
            an_entry_changes_only_where_asked,
            an_entry_follows_the_active_version,
            an_entry_is_not_pinned_to_what_its_user_does_not_see,
            a_removed_entry_leaves_the_graph,
            sibling_folders_have_different_names,
            a_folder_is_never_inside_itself,
            a_deleted_folder_leaves_its_agents_at_the_root,
            agents_are_moved_together,
            a_library_has_no_more_folders_than_it_may,
        );
    };
}
