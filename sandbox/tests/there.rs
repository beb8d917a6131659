//! Runs every attack against a running server, for example in a container. It runs only if it is named:
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
#[path = "it/generated.rs"]
mod generated;

use attacks::{Targets, attacks};
use client::Client;

#[test]
fn every_attack_is_stopped() {
    let address = std::env::var("SANDBOX_ADDRESS").expect("SANDBOX_ADDRESS says where the server is");
    let server = Client::of(address);
    let health = server.health();
    // These are the supervisor's process ids, which calls share if they have no pid namespace of their own. In a
    // container the first process is the keeper, which stands for the supervisor.
    let zygote = health["zygote"]["pid"].as_i64().unwrap().try_into().unwrap();
    let attacks = attacks(Targets { zygote, supervisor: 1 });
    let broken: Vec<String> = attacks
        .iter()
        .filter_map(|attack| attack.run(&server).err().map(|how| format!("{}: {how}", attack.name)))
        .collect();
    println!("{} attacks, layers {}", attacks.len(), health["layers"]);
    assert!(broken.is_empty(), "{} attacks:\n{}", broken.len(), broken.join("\n"));
    assert_eq!(server.health()["queue"]["running"], 0);
}
