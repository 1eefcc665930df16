//! The rows of one turn, read directly from the database.

use tokio_postgres::{NoTls, SimpleQueryMessage};

use crate::server::Cluster;

/// Every row that belongs to the turn, as text: the turn, its log, its segments with all bytes, its messages and its
/// journal.
pub(crate) async fn rows_of(cluster: &Cluster, turn: &str) -> Vec<String> {
    let mut all = Vec::new();
    for statement in [
        format!("SELECT t::text FROM turn t WHERE id = '{turn}'"),
        format!("SELECT l::text FROM log l WHERE task_id = '{turn}'"),
        format!(
            "SELECT s::text FROM segment s JOIN log l ON l.id = s.log_id \
             WHERE l.task_id = '{turn}' ORDER BY s.first_seq"
        ),
        format!("SELECT m::text FROM message m WHERE turn_id = '{turn}' ORDER BY sequence"),
        format!("SELECT j::text FROM journal j WHERE turn_id = '{turn}' ORDER BY id"),
    ] {
        all.extend(ask(cluster, &statement).await);
    }
    assert!(all.len() >= 4, "a turn has a row, a log, segments and messages: {}", all.len());
    all
}

/// The first column of each row of the result.
pub(crate) async fn ask(cluster: &Cluster, statement: &str) -> Vec<String> {
    let url = &cluster.storage().urls().database;
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("it is there");
    let asking = async {
        let answers = client.simple_query(statement).await.expect("the statement is good");
        let rows = answers.iter().filter_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        rows.collect()
    };
    tokio::select! {
        rows = asking => rows,
        ended = connection => panic!("Postgres hung up: {ended:?}"),
    }
}
