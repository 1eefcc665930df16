//! `pilothouse chat`: a chat in the terminal. It is an ordinary client of the API and does not use server internals.

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

use self::api::ChatApi;
use self::follow::{FollowEnd, TurnFollower, TurnStart};
use self::keyboard::Keyboard;
use self::prompt::AtPrompt;
use self::screen::ChatScreen;
use super::client::{ApiClient, ClientError, ServerFlags};
use crate::config::Settings;

#[derive(Args)]
pub(crate) struct ChatArguments {
    /// Continue this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    server: ServerFlags,
}

pub(crate) async fn run(settings: &Settings, arguments: ChatArguments) -> anyhow::Result<ExitCode> {
    let api = ChatApi { client: ApiClient::new(settings, arguments.server)? };
    let mut screen = ChatScreen::new();
    let keyboard = Keyboard::listen()?;
    match run_chat(&api, arguments.session.map(SessionId), &mut screen, keyboard).await {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(failure) => {
            screen.complain(&api.client.explain(&failure));
            Ok(ExitCode::FAILURE)
        }
    }
}

async fn run_chat(
    api: &ChatApi,
    session: Option<SessionId>,
    screen: &mut ChatScreen,
    keyboard: Keyboard,
) -> Result<(), ClientError> {
    let (session, is_running) = match session {
        None => (api.create_session().await?, false),
        Some(session) => {
            let opened = api.read_session(&session).await?;
            screen.show_history(&opened.messages);
            (session, opened.active_stream.is_some())
        }
    };
    let mut follower = TurnFollower::new(api, session.clone(), screen, keyboard);
    if is_running {
        if follower.follow(TurnStart::Resume).await? == FollowEnd::Leave {
            return Ok(());
        }
    } else {
        // A turn that has just ended is already part of the history.
        follower.shown = api.newest_turn(&session).await?;
    }
    follower.screen.welcome(&session);
    loop {
        let start = match follower.at_prompt().await {
            AtPrompt::Send(message) => TurnStart::Send(message),
            AtPrompt::NewTurn => {
                follower.screen.note("the chat continues automatically");
                TurnStart::Resume
            }
            AtPrompt::Leave => break,
        };
        match follower.follow(start).await {
            Ok(FollowEnd::Leave) => break,
            Ok(FollowEnd::Turn) => {}
            // One refused message must not end the chat.
            Err(ClientError::Refused { status, detail, .. }) if status != 401 && status != 404 => {
                follower.screen.complain(&detail);
            }
            Err(failure) => return Err(failure),
        }
    }
    follower.screen.farewell(&session);
    Ok(())
}
