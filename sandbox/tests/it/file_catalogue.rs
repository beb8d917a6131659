//! Runs every attack on the second room in every configuration. No attack may leave a trace.

use crate::attacks::{Attack, Targets};
use crate::file_attacks::{attacks_on_both, file_attacks, must_be_plain_on_files};
use crate::processes;
use crate::server::{Server, in_every_configuration_of_files};
use serde_json::json;
use std::time::{Duration, Instant};

/// A zygote that is replaced after its usual number of calls would look like one that an attack has killed.
const FLAGS: [&str; 4] = ["--recycle-calls", "100000", "--contents-mb", "128"];

#[test]
fn every_attack_on_the_first_room_is_stopped_in_the_second() {
    in_every_configuration_of_files(&FLAGS, |configuration, server| run_all(configuration, server, attacks_on_both));
}

#[test]
fn every_attack_on_the_second_room_is_stopped() {
    in_every_configuration_of_files(&FLAGS, |configuration, server| run_all(configuration, server, file_attacks));
}

#[test]
fn there_are_enough_attacks_and_each_has_its_own_name() {
    let targets = Targets { zygote: 1, supervisor: 1, private_root: true, landlock: true };
    let own = file_attacks(targets);
    assert!(own.len() >= 150, "{}", own.len());
    let mut names: Vec<String> = own.into_iter().chain(attacks_on_both(targets)).map(|attack| attack.name).collect();
    names.sort();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

fn run_all(configuration: &str, server: &Server, attacks: fn(Targets) -> Vec<Attack>) {
    must_be_plain_on_files(server, "plain", Vec::new()).unwrap();
    let layers = server.health()["files"]["layers"].clone();
    let (supervisor, zygote) = (server.supervisor(), server.file_zygote().unwrap());
    let mut attacks = attacks(Targets::of(zygote, supervisor, &layers));
    // To try a few attacks only: their names, separated by commas.
    if let Ok(names) = std::env::var("ATTACKS") {
        attacks.retain(|attack| names.split(',').any(|name| name == attack.name));
    }
    let before = Sizes::of(server, zygote);
    let begun = Instant::now();
    let (mut broken, mut times) = (Vec::new(), Vec::new());
    for (done, attack) in attacks.iter().enumerate() {
        let attacked = Instant::now();
        if let Err(how) = attack.run_on_files(server) {
            broken.push(format!("{}: {how}", attack.name));
        }
        times.push((attacked.elapsed(), &attack.name));
        // A process that an attack leaves behind would be a child of the zygote. A search of the whole machine takes
        // longer, and follows later.
        let children = || processes::children(u32::try_from(zygote).unwrap());
        // A call can make some ten thousand directories, whose removal takes a while on a disk.
        let time = Duration::from_secs(60);
        processes::eventually_within(time, &format!("nobody is left after {}", attack.name), || {
            let files = &server.health()["files"];
            children().is_empty() && files["folders"] == json!(0) && files["queue"]["running"] == json!(0)
        });
        if done % 16 == 0 || done + 1 == attacks.len() {
            server.assert_clean(&attack.name);
        }
    }
    times.sort_unstable_by(|one, other| other.cmp(one));
    times.truncate(5);
    println!("{configuration}: {} attacks in {:.1?}, the longest {times:.1?}", attacks.len(), begun.elapsed());
    assert!(broken.is_empty(), "{configuration}: {} attacks:\n{}", broken.len(), broken.join("\n"));
    let now = (server.supervisor(), server.file_zygote());
    assert_eq!(now, (supervisor, Some(zygote)), "one was lost: {}", server.log());
    let after = Sizes::of(server, zygote);
    assert!(after.zygote < before.zygote + 4096, "memory is left: {before:?} {after:?}");
    assert!(after.supervisor < before.supervisor + 65_536, "memory is left: {before:?} {after:?}");
    assert_eq!(after.mounts, before.mounts, "a mount is left");
}

/// What processes occupy, in KiB, and how many mounts there are.
#[derive(Debug)]
struct Sizes {
    zygote: u64,
    /// Without the contents of files that it keeps, which have a bound of their own.
    supervisor: u64,
    mounts: usize,
}

impl Sizes {
    fn of(server: &Server, zygote: i32) -> Self {
        let kept = server.health()["files"]["contents"]["bytes"].as_u64().unwrap() / 1024;
        let supervisor = processes::resident_kib(server.supervisor()).saturating_sub(kept);
        let mounts = std::fs::read_to_string(format!("/proc/{zygote}/mountinfo")).unwrap_or_default().lines().count();
        Self { zygote: processes::resident_kib(zygote), supervisor, mounts }
    }
}
