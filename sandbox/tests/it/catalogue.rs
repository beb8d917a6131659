//! Runs every attack in every configuration. No attack may leave a trace.

use crate::attacks::{PLAIN, Targets, attacks};
use crate::processes;
use crate::server::{Server, in_every_configuration};

#[test]
fn every_attack_is_stopped_in_every_configuration() {
    // A zygote that is replaced after its usual number of calls would look like one that an attack has killed.
    in_every_configuration(&["--recycle-calls", "100000"], run_all);
}

fn run_all(configuration: &str, server: &Server) {
    let layers = server.health()["layers"].clone();
    server.run_code(PLAIN);
    let (supervisor, zygote) = (server.supervisor(), server.zygote());
    let attacks = attacks(Targets::of(zygote, supervisor, &layers));
    let before = (processes::resident_kib(zygote), processes::resident_kib(supervisor));
    let mut broken = Vec::new();
    for (done, attack) in attacks.iter().enumerate() {
        if let Err(how) = attack.run(server) {
            broken.push(format!("{}: {how}", attack.name));
        }
        // A process that an attack leaves behind would be a child of the zygote. A search of the whole machine takes
        // longer, and follows later.
        let children = || processes::children(u32::try_from(zygote).unwrap());
        processes::eventually(&format!("nobody is left after {}", attack.name), || children().is_empty());
        if done % 16 == 0 || done + 1 == attacks.len() {
            server.assert_clean(&attack.name);
        }
    }
    println!("{configuration}: {} attacks, layers {layers}", attacks.len());
    assert!(broken.is_empty(), "{configuration}: {} attacks:\n{}", broken.len(), broken.join("\n"));
    assert_eq!((server.supervisor(), server.zygote()), (supervisor, zygote), "one was lost: {}", server.log());
    let after = (processes::resident_kib(zygote), processes::resident_kib(supervisor));
    assert!(after.0 < before.0 + 4096 && after.1 < before.1 + 32_768, "memory is left: {before:?} {after:?}");
}
