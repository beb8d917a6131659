//! Requests about one toolset at the same time.

use super::{FILES_PY, TOOLSETS, bundle, call, import, installed, invariants_hold, kit, manifest, replaced};
use crate::harness::{Client, open, race, workspace};
use serde_json::{Value, json};
use std::time::Duration;

/// A bundle whose files, declarations and overrides all tell its version.
fn marked(version: &str, tools: usize) -> Vec<u8> {
    let declared =
        (0..tools).map(|it| format!("  - {{id: t{it}, entrypoint: 'main:run', description: 'of {version}'}}\n"));
    let overrides = (0..tools).map(|it| format!("  - {{tool_id: t{it}, name_override: 'of {version}'}}\n"));
    let text = format!("tools:\n{}tool_overrides:\n{}", declared.collect::<String>(), overrides.collect::<String>());
    let code = format!("def run(workspace):\n    return '{version}'\n");
    let mut files = vec![("toolset.yaml".to_owned(), manifest(version, &text)), ("main.py".to_owned(), code)];
    files.extend((0..20).map(|it| (format!("assets/{it}.txt"), format!("{it} of {version}"))));
    bundle(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>())
}

/// Checks that the toolset is whole: everything in it is of the one version that it says.
fn is_whole(client: &Client, tools: usize) -> String {
    let toolset = client.get(&format!("{TOOLSETS}/kit")).ok();
    let version = toolset["version"].as_str().unwrap().to_owned();
    let mark = format!("of {version}");
    assert_eq!(toolset["tools"].as_array().unwrap().len(), tools);
    assert!(
        toolset["overrides"].as_array().unwrap().iter().all(|it| it["name_override"] == mark.as_str()),
        "{toolset}"
    );
    for tool in toolset["tools"].as_array().unwrap() {
        let tool = client.get(&format!("/api/tools/{}", tool["id"].as_str().unwrap())).ok();
        assert_eq!((&tool["description"], &tool["active"]), (&json!(mark), &json!(true)));
    }
    for file in ["0", "19"] {
        let text = client.get(&format!("{TOOLSETS}/kit/files/assets/{file}.txt")).text;
        assert_eq!(text, format!("{file} {mark}"));
    }
    assert_eq!(client.execute("kit:t0", json!({})).success(), json!(version));
    invariants_hold(client);
    version
}

#[test]
fn of_two_installations_one_wins() {
    for _ in 0..5 {
        let client = workspace();
        let answers = race(3, |index| import(&client, "", &marked(&format!("1.{index}.0"), 3)));
        let mut statuses = answers.iter().map(|it| it.status).collect::<Vec<_>>();
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409, 409], "{:?}", answers.iter().map(|it| &it.text).collect::<Vec<_>>());
        let winner = answers.iter().find(|it| it.status == 201).unwrap().json();
        assert_eq!(winner["version"], is_whole(&client, 3).as_str());
    }
}

#[test]
fn replacements_follow_one_another() {
    let client = workspace();
    installed(&client, &marked("0.1.0", 3));
    for round in 1..4 {
        let answers =
            race(4, |index| import(&client, "?replace=true&downgrade=true", &marked(&format!("{round}.{index}.0"), 3)));
        for answer in &answers {
            assert!([200, 409].contains(&answer.status), "{}", answer.text);
        }
        assert!(answers.iter().any(|it| it.status == 200));
        is_whole(&client, 3);
    }
}

#[test]
fn an_upgrade_and_an_uninstallation_are_one_after_the_other() {
    for _ in 0..4 {
        let client = workspace();
        installed(&client, &marked("1.0.0", 3));
        let answers = race(2, |index| match index {
            0 => import(&client, "?replace=true", &marked("2.0.0", 3)),
            _ => client.delete(&format!("{TOOLSETS}/kit")),
        });
        let told = answers.iter().map(|it| (it.status, it.text.clone())).collect::<Vec<_>>();
        assert!([200, 201, 409].contains(&answers[0].status), "{told:?}");
        assert!([204, 409].contains(&answers[1].status), "{told:?}");
        match client.get(&format!("{TOOLSETS}/kit")).status {
            404 => {
                assert_eq!(answers[1].status, 204);
                for table in ["toolset_files", "toolset_tools", "tool_overrides"] {
                    assert_eq!(crate::files::count(open(), &client, table), 0);
                }
                invariants_hold(&client);
            }
            _ => drop(is_whole(&client, 3)),
        }
    }
}

#[test]
fn no_override_of_an_admin_is_lost() {
    for round in 0..5 {
        let client = workspace();
        installed(&client, &kit("1.0.0"));
        let answers = race(3, |index| match index {
            0 => import(&client, "?replace=true", &kit("2.0.0")),
            _ => {
                std::thread::sleep(Duration::from_millis(40 * round));
                let tool = ["write", "read"][index - 1];
                client.put(&format!("{TOOLSETS}/kit/overrides/{tool}"), json!({"requires_approval": true}).to_string())
            }
        });
        let told = answers.iter().map(|it| (it.status, it.text.clone())).collect::<Vec<_>>();
        assert!(answers.iter().all(|it| [200, 409].contains(&it.status)), "{told:?}");
        for (answer, tool) in answers[1..].iter().zip(["write", "read"]) {
            let expected = answer.status == 200;
            assert_eq!(client.get(&format!("/api/tools/kit:{tool}")).ok()["needs_approval"], expected, "{told:?}");
        }
        invariants_hold(&client);
    }
}

#[test]
fn calls_that_run_finish_whatever_becomes_of_their_toolset() {
    let client = workspace();
    let code = "import time\n\ndef run(workspace, n: int) -> str:\n    time.sleep(1.5)\n    (workspace / str(n)).write_text('x')\n    return 'VERSION'\n";
    let slow = |version: &str| super::one_tool(version, &code.replace("VERSION", version), "");
    installed(&client, &slow("1.0.0"));
    let results = race(4, |index| {
        if index < 2 {
            return call(&client, &format!("s{index}"), "kit:run", json!({"n": index})).json();
        }
        std::thread::sleep(Duration::from_millis(700));
        match index {
            2 => replaced(&client, &slow("2.0.0")),
            _ => Value::Null,
        }
    });
    for (index, result) in results[..2].iter().enumerate() {
        assert_eq!(result["success"], true, "{result}");
        assert_eq!(client.get(&format!("/api/sessions/s{index}/files/{index}")).text, "x");
    }
    assert_eq!(call(&client, "s", "kit:run", json!({"n": 9})).success(), "2.0.0");
    // Uninstalled meanwhile.
    let results = race(2, |index| {
        if index == 0 {
            return call(&client, "u", "kit:run", json!({"n": 5})).json();
        }
        std::thread::sleep(Duration::from_millis(700));
        client.delete(&format!("{TOOLSETS}/kit")).no_content();
        Value::Null
    });
    assert_eq!(results[0]["success"], true, "{}", results[0]);
    invariants_hold(&client);
}

#[test]
fn calls_during_upgrades_run_one_version_or_the_other() {
    let client = workspace();
    // Two files that must agree.
    let pair = |version: &str| {
        let text = manifest(version, "tools:\n  - {id: run, entrypoint: 'main:run'}\n");
        let main = format!("import other\n\ndef run(workspace):\n    return ['{version}', other.VERSION]\n");
        bundle(&[
            ("toolset.yaml", &text),
            ("main.py", &main),
            ("other.py", &format!("VERSION = '{version}'\n")),
            ("tools/files.py", FILES_PY),
        ])
    };
    installed(&client, &pair("1.0.0"));
    let seen = race(3, |index| {
        if index == 0 {
            for minor in 1..6 {
                replaced(&client, &pair(&format!("1.{minor}.0")));
            }
            return Vec::new();
        }
        (0..15).map(|it| call(&client, &format!("r{index}-{it}"), "kit:run", json!({})).success()).collect::<Vec<_>>()
    });
    for pair in seen.into_iter().flatten() {
        assert_eq!(pair[0], pair[1], "a call saw half an upgrade");
    }
}
