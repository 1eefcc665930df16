//! An execution with all executions below it, at any depth. An ended execution may have started others that still run,
//! so the traversal includes ended ones.

/// The common table expression `tree` with the ids at and below the execution `$1` of the user `$2`.
macro_rules! tree {
    () => {
        "WITH RECURSIVE tree (id) AS (
             SELECT id FROM execution WHERE id = $1 AND user_id = $2
             UNION
             SELECT c.id FROM tree AS b JOIN execution AS c ON c.parent_id = b.id) "
    };
}

pub(crate) use tree;
