//! Who sees a version of a graph, and which one is meant without a number.

/// Whether the user `$1` sees the version `g`: all of their own; of others those that the marketplace lists and the one
/// that their library holds. Being active shows a version to nobody else: an edit is active at once, and is its
/// author's own until it is listed.
macro_rules! sees {
    () => {
        "(g.user_id = $1
          OR EXISTS (SELECT 1 FROM library_agent AS held
                     WHERE held.user_id = $1 AND held.graph_id = g.id
                       AND held.graph_version = g.version)
          OR EXISTS (SELECT 1 FROM listing_version AS listed
                     WHERE listed.graph_id = g.id AND listed.graph_version = g.version))"
    };
}

/// Whether the version `g` is what the user `$1` means by the graph: the active one of their own; of another's the one
/// that their library holds, or else the one that was listed last.
macro_rules! means {
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

pub(in super::super) use {means, sees};
