//! A run with all runs below it, over any number of hops. One that has ended may have left others at work, so the way
//! leads through those that have ended as well.

/// The table `tree` of their ids, below the run `$1` of the user `$2`.
macro_rules! tree {
    () => {
        "WITH RECURSIVE tree (id) AS (
             SELECT id FROM execution WHERE id = $1 AND user_id = $2
             UNION
             SELECT c.id FROM tree AS b JOIN execution AS c ON c.parent_id = b.id) "
    };
}

pub(super) use tree;
