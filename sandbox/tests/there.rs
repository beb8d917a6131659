//! Runs every attack against both rooms of a running server, for example in a container. It runs only if it is named:
//!
//! ```console
//! $ SANDBOX_ADDRESS=127.0.0.1:8080 cargo test -p pegboard-sandbox --test there
//! ```
//!
//! From here the test cannot search for traces of an attack; it can only make calls after it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "it/attacks.rs"]
mod attacks;
#[path = "it/client.rs"]
#[expect(dead_code, reason = "`it` says more to its servers")]
mod client;
#[path = "it/file_attacks.rs"]
mod file_attacks;
#[path = "it/generated.rs"]
mod generated;

use attacks::{Attack, Targets, attacks};
use client::Client;
use file_attacks::{attacks_on_both, file_attacks};
use serde_json::{Value, json};

#[test]
fn every_attack_is_stopped() {
    let server = client();
    let health = server.health();
    let attacks = attacks(targets(&health["zygote"], &health["layers"]));
    must_all_be_stopped(&attacks, &health["layers"], |attack| attack.run(&server));
    assert_eq!(server.health()["queue"]["running"], 0);
}

#[test]
fn every_attack_is_stopped_in_the_second_room() {
    let server = client();
    let first = json!({"share": "plain", "code": "def run(): pass", "function": "run"});
    let (status, told, _) = server.exchange("/files/run", &first);
    if told["error"]["details"]["reason"] == "unavailable" {
        eprintln!("SKIPPED, for this server has no second room: {}", told["error"]["message"]);
        return;
    }
    assert_eq!(status, 200, "{told}");
    let files = server.health()["files"].clone();
    let targets = targets(&files["zygote"], &files["layers"]);
    let attacks: Vec<Attack> = file_attacks(targets).into_iter().chain(attacks_on_both(targets)).collect();
    must_all_be_stopped(&attacks, &files["layers"], |attack| {
        wait_until_idle(&server);
        attack.run_on_files(&server)
    });
    wait_until_idle(&server);
    let files = server.health()["files"].clone();
    assert_eq!((&files["queue"]["running"], &files["folders"]), (&json!(0), &json!(0)), "{files}");
}

/// A call holds its slot until its folder is removed. On the busy disk of a container that takes minutes for the folder of an
/// attack which has made as many files as it could.
fn wait_until_idle(server: &Client) {
    for _ in 0..3000 {
        if server.health()["files"]["queue"]["running"] == 0 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("a call does not end: {}", server.health()["files"]);
}

fn client() -> Client {
    Client::of(std::env::var("SANDBOX_ADDRESS").expect("SANDBOX_ADDRESS says where the server is"))
}

/// The process ids are the supervisor's. In a container the first process is the keeper, which stands for the
/// supervisor.
fn targets(zygote: &Value, layers: &Value) -> Targets {
    Targets::of(zygote["pid"].as_i64().unwrap().try_into().unwrap(), 1, layers)
}

fn must_all_be_stopped(attacks: &[Attack], layers: &Value, run: impl Fn(&Attack) -> Result<(), String>) {
    let broken = attacks.iter().filter_map(|attack| run(attack).err().map(|how| format!("{}: {how}", attack.name)));
    let broken: Vec<String> = broken.collect();
    println!("{} attacks, layers {layers}", attacks.len());
    assert!(broken.is_empty(), "{} attacks:\n{}", broken.len(), broken.join("\n"));
}
