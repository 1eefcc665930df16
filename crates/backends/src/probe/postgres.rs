//! Checks that Postgres is reachable, new enough, writable and has enough connections.

use tokio_postgres::Client;

use super::dial::{self, describe};
use super::{ServerProbe, TIMEOUT};

const NAME: &str = "Postgres";
const SCHEMA: &str = "Schema";
/// Version 13.0 as a Postgres version number.
const OLDEST: i32 = 130_000;
const MIGRATE: &str = "Run `pilothouse migrate`; starting a server does the same.";

pub(crate) async fn probe(url: &str, connections: usize) -> Vec<ServerProbe> {
    let (client, connection) = match dial::dial(url, TIMEOUT).await {
        Ok(line) => line,
        Err(no) => return vec![ServerProbe::bad(NAME, no.reason, no.advice)],
    };
    let looking = async {
        tokio::select! {
            seen = look(&client, connections) => seen,
            ended = connection => match ended {
                Ok(()) => Ok(vec![ServerProbe::bad(NAME, "it closed the connection", "Read its log.")]),
                Err(error) => Err(error),
            },
        }
    };
    match tokio::time::timeout(TIMEOUT, looking).await {
        Ok(Ok(probes)) => probes,
        Ok(Err(error)) => {
            vec![ServerProbe::bad(NAME, describe(&error), "Read the log of Postgres.")]
        }
        Err(_) => vec![ServerProbe::bad(NAME, "it responds too slowly", "Check its load.")],
    }
}

async fn look(
    client: &Client,
    connections: usize,
) -> Result<Vec<ServerProbe>, tokio_postgres::Error> {
    let seen = client
        .query_one(
            "SELECT current_setting('server_version_num')::int, current_setting('server_version'),
                 pg_is_in_recovery(), current_setting('max_connections')::int,
                 coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)",
            &[],
        )
        .await?;
    let (number, version): (i32, String) = (seen.get(0), seen.get(1));
    if number < OLDEST {
        let found = format!("version {version} is too old");
        return Ok(vec![ServerProbe::bad(NAME, found, "Use Postgres 13 or newer.")]);
    }
    if seen.get(2) {
        return Ok(vec![ServerProbe::bad(
            NAME,
            "it is a read-only replica",
            "Use the address of the primary.",
        )]);
    }
    let room: i32 = seen.get(3);
    let server = match usize::try_from(room).is_ok_and(|room| connections * 4 <= room) {
        true => ServerProbe::good(NAME, format!("version {version}, {room} connections")),
        false => ServerProbe::note(
            NAME,
            format!("version {version}, but only {room} connections"),
            format!(
                "One process may use {connections} of them: raise max_connections, or lower what a process uses."
            ),
        ),
    };
    Ok(vec![server, schema(client, seen.get(4)).await?])
}

async fn schema(client: &Client, may_create: bool) -> Result<ServerProbe, tokio_postgres::Error> {
    let known = crate::postgres::schema::VERSION;
    let found = match client.query_one("SELECT to_regclass('meta')::text", &[]).await?.get(0) {
        Some::<String>(_) => {
            let rows = client.query("SELECT value FROM meta WHERE name = 'schema'", &[]).await?;
            rows.first().and_then(|row| row.get::<_, String>(0).parse::<i64>().ok())
        }
        None => None,
    };
    Ok(match found {
        Some(found) if found == known => {
            ServerProbe::good(SCHEMA, format!("up to date (version {found})"))
        }
        Some(found) if found > known => ServerProbe::bad(
            SCHEMA,
            format!("it was made by a newer version ({found}, this program knows {known})"),
            "Use that version, or restore a backup made with this one.",
        ),
        _ if !may_create => ServerProbe::bad(
            SCHEMA,
            "this user may not create tables",
            "Run `GRANT CREATE ON SCHEMA public TO the user`, or make the user owner of the database.",
        ),
        Some(found) => ServerProbe::note(SCHEMA, format!("version {found} of {known}"), MIGRATE),
        None => ServerProbe::note(SCHEMA, "not created yet", MIGRATE),
    })
}
