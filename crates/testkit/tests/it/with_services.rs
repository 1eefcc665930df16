//! `with-services` passes the server URLs on, returns the exit code of the command, and leaves no process behind.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_with-services");

/// The servers need not exist: the program only passes their URLs on.
fn with_services(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments);
    command.env("DATABASE_URL", "postgres://there").env("REDIS_URL", "redis://there");
    command.env("RABBITMQ_URL", "amqp://there");
    command
}

#[test]
fn the_command_gets_the_given_urls_and_its_exit_code_is_returned() {
    let mut command =
        with_services(&["--", "sh", "-c", "echo $DATABASE_URL $REDIS_URL $RABBITMQ_URL; exit 7"]);
    let ran = command.output().expect("it runs");
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        "postgres://there redis://there amqp://there\n"
    );
    assert_eq!(ran.status.code(), Some(7));
}

#[test]
fn an_invalid_command_is_refused_with_a_message() {
    for (arguments, part) in [
        (&["--"][..], "usage: with-services"),
        (&["x"], "usage"),
        (&["--", "/no/such"], "could not start"),
    ] {
        let ran = with_services(arguments).output().expect("it runs");
        assert!(!ran.status.success());
        assert!(String::from_utf8_lossy(&ran.stderr).contains(part), "{ran:?}");
    }
}

#[test]
fn a_signal_is_forwarded_and_a_started_server_stops_after_the_command() {
    let mut command = with_services(&["--", "sh", "-c", "echo $REDIS_URL; exec sleep 600"]);
    let mut running =
        command.env_remove("REDIS_URL").stdout(Stdio::piped()).spawn().expect("it runs");
    let server = redis::Client::open(first_line(&mut running)).expect("a URL");
    server.get_connection().expect("it is there");
    kill_process(Pid::from_child(&running), Signal::TERM).expect("it runs");
    assert_eq!(running.wait().expect("it ends").code(), Some(128 + 15));
    assert!(server.get_connection().is_err(), "the server is gone");
}

#[test]
fn a_started_server_stops_when_the_program_is_killed() {
    // The killed program cannot remove the server's folder, so it is placed in one that the test removes.
    let folder = tempfile::TempDir::new().expect("a folder");
    // Nothing ends the command of a killed program, so it is one that ends with the test's side of its input.
    let mut command = with_services(&["--", "sh", "-c", "echo $REDIS_URL; exec cat"]);
    command.env("TMPDIR", folder.path()).env_remove("REDIS_URL");
    let mut running =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let server = redis::Client::open(first_line(&mut running)).expect("a URL");
    server.get_connection().expect("it is there");
    running.kill().expect("it runs");
    running.wait().expect("it ends");
    let deadline = Instant::now() + Duration::from_secs(10);
    while server.get_connection().is_ok() {
        assert!(Instant::now() < deadline, "the server is gone");
    }
    // `wait` has closed the input. The output ends with the command.
    let mut output = running.stdout.take().expect("piped");
    output.read_to_end(&mut Vec::new()).expect("the command ends");
}

/// The first line of the command's output.
fn first_line(running: &mut Child) -> String {
    let mut line = String::new();
    let output = running.stdout.as_mut().expect("piped");
    BufReader::new(output).read_line(&mut line).expect("text");
    line.trim().to_owned()
}
