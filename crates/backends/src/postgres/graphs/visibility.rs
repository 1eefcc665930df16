//! Visibility of graph versions to users, and the default version of a graph.

/// Whether the user `$1` may see the version `g`: all versions of an own graph; for another user's graph the versions
/// listed in the marketplace and the one held by the library. The active version is not visible to others: an edit is
/// active at once, but stays private until it is listed.
macro_rules! is_visible {
    () => {
        "(g.user_id = $1
          OR EXISTS (SELECT 1 FROM library_agent AS held
                     WHERE held.user_id = $1 AND held.graph_id = g.id
                       AND held.graph_version = g.version)
          OR EXISTS (SELECT 1 FROM listing_version AS listed
                     WHERE listed.graph_id = g.id AND listed.graph_version = g.version))"
    };
}

/// Whether the version `g` is the default for the user `$1`: the active one of an own graph; for another user's graph
/// the one held by the library, or else the one listed last.
macro_rules! is_default_version {
    () => {
        "CASE WHEN g.user_id = $1 THEN g.is_active ELSE g.version = coalesce(
             (SELECT held.graph_version FROM library_agent AS held
              WHERE held.user_id = $1 AND held.graph_id = g.id
                AND NOT held.use_graph_is_active_version),
             (SELECT listed.graph_version FROM listing_version AS listed
              WHERE listed.graph_id = g.id
              ORDER BY listed.created_at DESC, listed.graph_version DESC LIMIT 1)) END"
    };
}

pub(in super::super) use {is_default_version, is_visible};
