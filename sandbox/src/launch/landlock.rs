//! Landlock: only the files that Python reads; no TCP, no abstract sockets, no signals to other processes.

use crate::log::say;
use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope,
};
use std::path::PathBuf;

/// The requested version; an older kernel enforces the part that it knows.
const NEWEST: ABI = ABI::V7;

/// Enters landlock, and returns the version that is enforced.
pub fn enter(needed: &[PathBuf]) -> Option<i32> {
    match restrict(needed) {
        Ok(version) => version,
        Err(cause) => {
            say(format!("landlock is off: {cause}"));
            None
        }
    }
}

fn restrict(needed: &[PathBuf]) -> Result<Option<i32>, RulesetError> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    for path in needed {
        let Ok(opened) = PathFd::new(path) else { continue };
        let access = if path.is_dir() { AccessFs::from_read(NEWEST) } else { AccessFs::ReadFile | AccessFs::Execute };
        ruleset = ruleset.add_rule(PathBeneath::new(opened, access))?;
    }
    let status = ruleset.restrict_self()?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => None,
        (_, LandlockStatus::Available { effective_abi, .. }) => Some(effective_abi as i32),
        _ => None,
    })
}
