//! Who sees a version of a graph.

/// Whether the user `$1` sees the version `g`: all of their own; of others the active one and those that their library
/// holds or the marketplace lists.
macro_rules! sees {
    () => {
        "(g.user_id = $1
          OR EXISTS (SELECT 1 FROM library_agent AS held
                     WHERE held.user_id = $1 AND held.graph_id = g.id
                       AND (g.is_active OR held.graph_version = g.version))
          OR EXISTS (SELECT 1 FROM listing_version AS listed
                     WHERE listed.graph_id = g.id
                       AND (g.is_active OR listed.graph_version = g.version)))"
    };
}

pub(in super::super) use sees;
