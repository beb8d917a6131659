//! What the cron trigger does.

use crate::harness::open;
use serde_json::json;

#[test]
fn the_cron_trigger_runs_to_its_end() {
    let answer = open().ask(json!({"scheduled": "*/5 * * * *"}));
    assert_eq!(answer["outcome"], "ok", "{answer}");
}
