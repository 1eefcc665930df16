//! `pilothouse chat`: a conversation in the terminal. It is a client like any other: it knows the API and
//! nothing of the server's inside.

mod api;
mod follow;
mod follow_up;
mod keyboard;
mod message;
mod prompt;
mod screen;

use std::process::ExitCode;

use clap::Args;
use protocol::SessionId;

use self::api::Api;
use self::follow::{Begin, Ended, Follower};
use self::keyboard::Keyboard;
use self::prompt::AtPrompt;
use self::screen::Screen;
use super::client::{Client, Failure, Server};
use crate::config::Settings;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Go on with this session.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    server: Server,
}

pub(crate) async fn run(settings: &Settings, arguments: Arguments) -> anyhow::Result<ExitCode> {
    let api = Api { client: Client::new(settings, arguments.server)? };
    let mut screen = Screen::new();
    let keyboard = Keyboard::listen()?;
    match converse(&api, arguments.session.map(SessionId), &mut screen, keyboard).await {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(failure) => {
            screen.complain(&api.client.explain(&failure));
            Ok(ExitCode::FAILURE)
        }
    }
}

async fn converse(
    api: &Api,
    session: Option<SessionId>,
    screen: &mut Screen,
    keyboard: Keyboard,
) -> Result<(), Failure> {
    let (session, under_way) = match session {
        None => (api.create_session().await?, false),
        Some(session) => {
            let opened = api.read_session(&session).await?;
            screen.show_history(&opened.messages);
            (session, opened.active_stream.is_some())
        }
    };
    let mut follower = Follower::new(api, session.clone(), screen, keyboard);
    if under_way {
        if follower.follow(Begin::Resume).await? == Ended::Leave {
            return Ok(());
        }
    } else {
        // What has just ended is in the history that was shown.
        follower.shown = api.newest_turn(&session).await?;
    }
    follower.screen.welcome(&session);
    loop {
        let begin = match follower.at_prompt().await {
            AtPrompt::Say(message) => Begin::Send(message),
            AtPrompt::Spoken => {
                follower.screen.note("the session goes on by itself");
                Begin::Resume
            }
            AtPrompt::Leave => break,
        };
        match follower.follow(begin).await {
            Ok(Ended::Leave) => break,
            Ok(Ended::Turn) => {}
            // What one message did wrong must not end the conversation.
            Err(Failure::Refused { status, detail, .. }) if status != 401 && status != 404 => {
                follower.screen.complain(&detail);
            }
            Err(failure) => return Err(failure),
        }
    }
    follower.screen.farewell(&session);
    Ok(())
}
