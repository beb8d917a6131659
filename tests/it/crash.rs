//! The runtime is killed in the middle of writes: every acknowledged write is there, and no write is half there.

use crate::harness::{Server, unique};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

const WRITES: usize = 100;
const WRITERS: usize = 5;

#[test]
fn no_acknowledged_write_is_lost_and_no_state_is_torn() {
    let server = Server::start("crash", &[("AUTH", "open")]);
    let client = server.client(&unique("ws"));
    let acknowledged = AtomicUsize::new(0);
    let write = |number: usize| {
        let content = format!("contents of {number}");
        let call =
            json!({"tool_name": "write_file", "arguments": {"path": format!("/d/{number}"), "content": content}});
        let answer = client.try_send("POST", "/api/execute", Some(call.to_string().into_bytes()))?;
        let result = (answer.status == 200).then(|| answer.json()).filter(|it| it["success"] == true)?;
        acknowledged.fetch_add(1, Ordering::Relaxed);
        Some((number, result))
    };
    let written = std::thread::scope(|threads| {
        let writers = (0..WRITERS)
            .map(|writer| {
                let numbers = (writer..WRITES).step_by(WRITERS);
                let write = &write;
                threads.spawn(move || numbers.filter_map(write).collect::<Vec<_>>())
            })
            .collect::<Vec<_>>();
        let mut patience = 60_000;
        while acknowledged.load(Ordering::Relaxed) < WRITES / 3 && patience > 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
            patience -= 1;
        }
        server.kill_runtime();
        writers.into_iter().flat_map(|it| it.join().unwrap()).collect::<Vec<(usize, Value)>>()
    });
    assert!((WRITES / 3..WRITES).contains(&written.len()), "killed in the middle, after {} writes", written.len());
    server.restart();

    let session = client.get("/api/sessions/default").ok();
    for (number, result) in &written {
        let file = client.get(&format!("/api/sessions/default/files/d/{number}"));
        assert_eq!((file.status, file.text), (200, format!("contents of {number}")));
        assert_eq!(client.record(result)["status"], "success");
    }

    // Every file manifest refers to the previous one and holds one more file, and all its contents are there.
    let manifests = client.pages("/api/sessions/default/manifests", "manifests", 50);
    assert!(manifests.len() >= written.len());
    assert_eq!(manifests[0]["id"], session["active_manifest_id"]);
    for (index, manifest) in manifests.iter().enumerate() {
        let before = manifests.get(index + 1).map_or(Value::Null, |it| it["id"].clone());
        assert_eq!((&manifest["parent_id"], &manifest["files"]), (&before, &json!(manifests.len() - index)));
        let path = format!("/api/sessions/default/manifests/{}", manifest["id"].as_str().unwrap());
        let entries = client.pages(&path, "entries", 200);
        assert_eq!(entries.len(), manifests.len() - index);
    }
    let missing = server.sql(
        "SELECT e.path FROM file_entries e LEFT JOIN blobs b ON b.workspace_id = e.workspace_id AND b.sha256 = e.sha256
         WHERE b.data IS NULL",
        &[],
    );
    assert_eq!(missing, Vec::<Value>::new());

    // A call whose response was lost is either done, or recorded as running until the sweep ends it.
    let calls = client.pages("/api/tool-calls", "tool_calls", 100);
    let statuses = calls.iter().map(|it| it["status"].as_str().unwrap()).collect::<BTreeSet<_>>();
    assert!(statuses.iter().all(|it| ["success", "running"].contains(it)), "{statuses:?}");
    server.sql("UPDATE tool_calls SET deadline_at = '2026-01-01T00:00:00.000Z' WHERE status = 'running'", &[]);
    assert_eq!(server.ask(json!({"scheduled": "*/5 * * * *"}))["outcome"], "ok");
    assert_eq!(client.get("/api/tool-calls?status=running").ok()["tool_calls"], json!([]));
    client.execute("write_file", json!({"path": "/after", "content": "the crash"})).success();
}
