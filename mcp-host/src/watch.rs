//! Looks after the running servers once a second: their memory, their number of processes, their idle time.

use crate::process_table::ProcessTable;
use crate::servers::Servers;
use crate::tree;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

const EVERY: Duration = Duration::from_secs(1);

pub async fn watch(servers: Arc<Servers>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        stop_idle(&servers);
        if let Ok(table) = ProcessTable::read() {
            hold_to_limits(&servers, &table);
            servers.wardens().sweep_orphans(&table);
        }
    }
}

fn stop_idle(servers: &Servers) {
    let idle = servers.limits().idle;
    for server in servers.all() {
        if server.is_idle() && server.last_used().elapsed() >= idle {
            tokio::spawn(async move { server.stop("The server was idle, and was stopped").await });
        }
    }
}

fn hold_to_limits(servers: &Servers, table: &ProcessTable) {
    let limits = servers.limits();
    for process in servers.all().into_iter().filter_map(|it| it.process()) {
        let running = tree::running(table, process.warden);
        if running.len() > limits.processes {
            process.kill(format!("The server had more than {} processes, and was killed", limits.processes));
        }
        let resident: u64 = running.iter().map(|pid| table.resident_bytes(*pid)).sum();
        if resident > limits.memory_bytes {
            let most = limits.memory_bytes >> 20;
            process.kill(format!("The server occupied more than {most} MiB of memory, and was killed"));
        }
    }
}
