//! Remote clients made by others: the programs of `e2e/remote`, each against a server of its own.
//! Needs Node and pip; without them these tests fail.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e")
}

#[allow(clippy::disallowed_methods, reason = "clients for the tests")]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder());
    command
}

pub fn install(what: &str) {
    let installed = command("./install").arg(what).status().unwrap();
    assert!(installed.success(), "e2e/install {what}: {installed}");
}

/// Runs one file of tests with the real client.
pub fn clients(name: &str) {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| install("node"));
    program(&format!("remote/{name}"));
}

/// Runs one file of tests, as Node does.
pub fn program(name: &str) {
    let file = format!("{name}.test.mjs");
    let run = command("node")
        .args(["--test", &file])
        .env("CALLGATE", env!("CARGO_BIN_EXE_callgate"))
        .output()
        .unwrap();
    let said = [run.stdout, run.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(run.status.success(), "{file}\n{said}");
}

#[test]
fn calls_come_over_every_transport() {
    clients("transports");
}

#[test]
fn function_calls_are_as_documented() {
    clients("function_call");
}

#[test]
fn the_shipped_extension_connects_step_by_step() {
    clients("extension");
}

#[test]
fn the_shipped_extension_enters_a_server_that_was_never_used() {
    clients("fresh");
}

#[test]
fn an_id_is_its_owners_and_a_key_does_what_it_is_made_for() {
    clients("ids");
}

#[test]
fn bytes_go_both_ways_as_bytes() {
    clients("binary");
}

#[test]
fn packets_that_ended_the_original_end_nothing() {
    clients("crash");
}

#[test]
fn nothing_is_dropped_or_overtaken_under_load() {
    clients("load");
}

#[test]
fn code_calls_what_a_client_offers() {
    clients("offers");
}

#[test]
fn rooms_keep_their_members_and_rights() {
    clients("rooms");
}

#[test]
fn what_waits_for_an_administrator_is_said_to_the_client() {
    clients("approvals");
}

#[test]
fn requests_are_answered_in_order_by_whom_they_were_put_to() {
    clients("llm");
}

#[test]
fn the_client_of_another_language_works() {
    install("python");
    clients("python");
}
