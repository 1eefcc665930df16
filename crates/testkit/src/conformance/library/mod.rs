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
            library_agents_are_limited_per_user,
            a_library_is_seen_by_its_user_only,
            an_update_changes_only_the_given_fields,
            an_entry_follows_the_active_version,
            an_entry_cannot_be_pinned_to_an_invisible_version,
            a_removed_entry_leaves_the_graph,
            sibling_folders_have_different_names,
            a_folder_is_never_inside_itself,
            a_deleted_folder_leaves_its_agents_at_the_root,
            agents_are_moved_together,
            library_folders_are_limited_per_user,
        );
    };
}
