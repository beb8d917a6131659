//! The runtime is killed in the middle of an import: the old toolset is there, or the new one.

use super::{TOOLSETS, bundle, import, manifest, timed};
use crate::harness::{Server, unique};
use serde_json::{Value, json};
use std::time::Duration;

const FILES: usize = 300;
const TOOLS: usize = 30;

fn large(version: &str) -> Vec<u8> {
    let tools =
        (0..TOOLS).map(|it| format!("  - {{id: t{it}, entrypoint: 'main:run', description: 'of {version}'}}\n"));
    let text = manifest(version, &format!("tools:\n{}", tools.collect::<String>()));
    let code = format!("def run(workspace):\n    return '{version}'\n");
    let mut files = vec![("toolset.yaml".to_owned(), text), ("main.py".to_owned(), code)];
    files.extend((0..FILES).map(|it| (format!("assets/{it}.txt"), format!("{it} of {version} ").repeat(500))));
    bundle(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>())
}

#[test]
fn a_killed_import_leaves_the_old_toolset_or_the_new_one() {
    let sandbox = std::env::var("PEGBOARD_SANDBOX_URL").unwrap();
    let server = Server::start("toolset_killed", &[("AUTH", "open"), ("SECRET_KEY", "a"), ("SANDBOX_URL", &sandbox)]);
    let client = server.client(&unique("ws"));
    import(&client, "", &large("1.0.0")).created();
    // How long an import takes here.
    let zip = large("1.1.0");
    let (whole, answer) = timed(|| import(&client, "?replace=true", &zip));
    answer.ok();
    println!("an import takes {whole:?}");
    let mut version = "1.1.0".to_owned();
    let mut outcomes = Vec::new();
    for round in 0..12_u32 {
        let next = format!("2.{round}.0");
        let delay = whole * (round + 1) / 10;
        let zip = large(&next);
        let answer = std::thread::scope(|threads| {
            let client = &client;
            let importing = threads.spawn(move || {
                let path = format!("{TOOLSETS}?replace=true");
                client.try_send("POST", &path, Some(zip)).map(|it| (it.status, it.text))
            });
            std::thread::sleep(delay.max(Duration::from_millis(5)));
            server.kill_runtime();
            importing.join().unwrap()
        });
        server.restart();
        let toolset = client.get(&format!("{TOOLSETS}/kit")).ok();
        let now = toolset["version"].as_str().unwrap().to_owned();
        assert!(now == version || now == next, "{now} is neither {version} nor {next}");
        if answer.as_ref().is_some_and(|it| it.0 == 200) {
            assert_eq!(now, next, "an acknowledged import is there");
        }
        outcomes.push((delay, answer.map(|it| it.0), now == next));
        assert_eq!(toolset["files"].as_array().unwrap().len(), FILES + 1);
        for tool in toolset["tools"].as_array().unwrap() {
            let shown = client.get(&format!("/api/tools/{}", tool["id"].as_str().unwrap())).ok();
            assert_eq!(shown["description"], format!("of {now}"));
        }
        for file in ["0", "150", "299"] {
            let text = client.get(&format!("{TOOLSETS}/kit/files/assets/{file}.txt")).text;
            assert!(text.starts_with(&format!("{file} of {now} ")), "{text}");
        }
        let missing = server.sql(
            "SELECT f.path FROM toolset_files f LEFT JOIN blobs b ON b.workspace_id = f.workspace_id AND b.sha256 = f.sha256
             WHERE b.sha256 IS NULL",
            &[],
        );
        assert_eq!(missing, Vec::<Value>::new());
        assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);
        version = now;
    }
    println!("{outcomes:?}");
    assert!(outcomes.iter().any(|it| !it.2), "some imports were killed before they were written");
    assert_eq!(client.execute("kit:t0", json!({})).success(), json!(version));
    // The next import goes through.
    import(&client, "?replace=true", &large("3.0.0")).ok();

    // What the killed ones stored goes with the sweep, once its hour is over.
    let workspace = json!(client.workspace());
    server.sql(
        "UPDATE stale_blobs SET keep_until = '2026-01-01T00:00:00.000Z' WHERE workspace_id = ?1",
        std::slice::from_ref(&workspace),
    );
    let blobs = |server: &Server| {
        server.sql("SELECT count(*) AS n FROM blobs WHERE workspace_id = ?1", std::slice::from_ref(&workspace))[0]["n"]
            .as_u64()
            .unwrap()
    };
    let before = blobs(&server);
    for _ in 0..20 {
        assert_eq!(server.ask(json!({"scheduled": "*/5 * * * *"}))["outcome"], "ok");
    }
    println!("{before} blobs before the sweep, {} after", blobs(&server));
    assert_eq!(blobs(&server), FILES as u64 + 1);
}
