//! Runs hostile Python for Pegboard. docs/sandbox.md says what it guards against, and how.
//!
//! One binary plays three parts, each the parent of the next: the keeper holds the port and starts the supervisor anew
//! should it die; the supervisor speaks HTTP and holds the clock; the launcher walls itself in and becomes the zygote's
//! parent for a moment. Then come Python (`python/`): the zygote, and from it one child for each call.

mod answer;
mod body;
mod call;
mod config;
mod filter;
#[cfg(test)]
mod fuzz;
mod gate;
mod http;
mod json;
mod keep;
mod launch;
mod limits;
mod log;
mod output;
mod pool;
mod request;
mod serve;
mod zygote;

use crate::log::say;
use config::Config;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let part = match arguments.first().map(String::as_str) {
        Some(word @ (keep::SERVE | launch::LAUNCH)) => Some(word.to_owned()),
        _ => None,
    };
    let ended = match part.as_deref() {
        Some(launch::LAUNCH) => launch::main(&arguments),
        Some(_) => Config::read(&arguments.split_off(1)).and_then(serve::run),
        None => Config::read(&arguments).and_then(|config| keep::main(&config, &arguments)),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            say(cause);
            ExitCode::FAILURE
        }
    }
}
