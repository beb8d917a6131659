use crate::host::Host;
use crate::mcp::{Mcp, names};
use crate::processes::{eventually, signal};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::time::Duration;

fn everything() -> Value {
    json!({"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"]})
}

#[test]
fn server_everything_is_killed_and_goes_on() {
    let host = Host::start(&[]);
    let mut mcp = Mcp::open(&host, "everything", everything());
    assert!(mcp.tools().contains(&"echo".to_owned()));
    assert_eq!(mcp.call("echo", json!({"message": "hello"})), "Echo: hello");

    let unknown = mcp.request("no/such/method", json!({}));
    assert_eq!((unknown.status, &unknown.body["error"]["code"]), (200, &json!(-32601)));

    // Killed in the middle of a call: the call is not sent again.
    std::thread::scope(|scope| {
        let arguments = json!({"duration": 30, "steps": 1});
        let cut = scope.spawn(|| mcp.try_call("trigger-long-running-operation", arguments));
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(mcp.call("echo", json!({"message": "meanwhile"})), "Echo: meanwhile");
        signal(mcp.pid(), Signal::SIGKILL);
        let cut = cut.join().unwrap();
        assert_eq!(cut.status, 502, "{}", cut.body);
        assert!(cut.body["error"].as_str().unwrap().contains("signal: 9"), "{}", cut.body);
        assert!(cut.body["stderr"].as_str().unwrap().contains("Starting default"), "{}", cut.body);
    });
    let lost = mcp.try_call("echo", json!({"message": "hello"}));
    assert_eq!(lost.status, 404, "{}", lost.body);
    mcp.session = None;
    let waits = mcp.try_initialize();
    assert_eq!(waits.status, 503, "{}", waits.body);
    assert!(waits.headers.contains_key("retry-after") && waits.body["error"].as_str().unwrap().contains("signal: 9"));
    eventually("it starts again", || mcp.try_initialize().status == 200);
    mcp.initialize();
    assert_eq!(mcp.call("echo", json!({"message": "again"})), "Echo: again");
    let report = host.report("everything");
    assert_eq!((&report["state"], &report["restarts"]), (&json!("running"), &json!(1)), "{report}");
    host.delete("everything");
    host.assert_clean();
}

#[test]
fn server_memory_remembers_in_its_home_until_it_ends() {
    let host = Host::start(&[]);
    let env = json!({"MEMORY_FILE_PATH": "~/memory.jsonl"});
    let memory = json!({"command": "npx", "args": ["@modelcontextprotocol/server-memory@2026.8.31"], "env": env});
    let mcp = Mcp::open(&host, "memory", memory);
    let entity = json!({"name": "Ada", "entityType": "person", "observations": ["writes programs"]});
    mcp.call("create_entities", json!({"entities": [entity]}));
    assert!(mcp.call("read_graph", json!({})).contains("writes programs"));
    let homes: Vec<_> = std::fs::read_dir(&host.folder).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(homes.len(), 1);
    assert!(std::fs::read_to_string(homes[0].join("memory.jsonl")).unwrap().contains("Ada"));
    host.delete("memory");
    host.assert_clean();
}

#[test]
fn mcp_server_time_needs_no_session() {
    let host = Host::start(&[]);
    let mut mcp =
        Mcp::new(&host, "time", json!({"command": "uvx", "args": ["mcp-server-time", "--local-timezone", "UTC"]}));
    assert_eq!(names(&mcp.modern("tools/list", json!({}))), ["get_current_time", "convert_time"]);
    let arguments = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let converted = mcp.modern("tools/call", json!({"name": "convert_time", "arguments": arguments}));
    assert_eq!(converted.status, 200, "{}", converted.body);
    assert!(converted.body["result"]["content"][0]["text"].as_str().unwrap().contains("21:00"), "{}", converted.body);
    let refused = mcp.try_initialize();
    assert_eq!((refused.status, &refused.body["error"]["code"]), (400, &json!(-32022)));
    assert_eq!(refused.body["error"]["data"]["supported"], json!(["2026-07-28"]));
    let unknown = mcp.modern("no/such/method", json!({}));
    assert_eq!((unknown.status, &unknown.body["error"]["code"]), (404, &json!(-32601)), "{}", unknown.body);
    assert_eq!(mcp.modern("subscriptions/listen", json!({})).status, 404);
    assert_eq!(mcp.modern("server/discover", json!({})).status, 200);

    signal(mcp.pid(), Signal::SIGKILL);
    eventually("it goes on", || mcp.modern("tools/list", json!({})).status == 200);
    mcp.session = Some("a session of others".into());
    assert_eq!(mcp.request("tools/list", json!({})).status, 404);
    host.delete("time");
    host.assert_clean();
}

#[test]
fn many_calls_share_one_process() {
    let host = Host::start(&[]);
    let mcp = Mcp::open(&host, "everything", everything());
    let pid = mcp.pid();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let mcp = &mcp;
            scope.spawn(move || {
                for number in 0..20 {
                    let message = format!("{thread} {number}");
                    assert_eq!(mcp.call("echo", json!({"message": message})), format!("Echo: {message}"));
                }
            });
        }
    });
    assert_eq!(mcp.pid(), pid);
    host.delete("everything");
    host.assert_clean();
}
