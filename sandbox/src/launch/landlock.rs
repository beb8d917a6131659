//! Landlock: only the files that Python reads, and the folders of calls on files; no TCP, no abstract sockets, no signals to
//! other processes.

use crate::log::say;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use std::path::{Path, PathBuf};

/// The requested version; an older kernel enforces the part that it knows.
const NEWEST: ABI = ABI::V7;

/// Enters landlock, and returns the version that is enforced. Below `folders` files may be written; each call narrows this
/// right to its own folder (python/landlock.py).
pub fn enter(needed: &[PathBuf], folders: Option<&Path>) -> Option<i32> {
    match restrict(needed, folders) {
        Ok(version) => version,
        Err(cause) => {
            say(format!("landlock is off: {cause}"));
            None
        }
    }
}

fn restrict(needed: &[PathBuf], folders: Option<&Path>) -> Result<Option<i32>, Box<dyn std::error::Error>> {
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
    if let Some(folders) = folders {
        let access = AccessFs::from_read(NEWEST)
            | AccessFs::WriteFile
            | AccessFs::RemoveDir
            | AccessFs::RemoveFile
            | AccessFs::MakeDir
            | AccessFs::MakeReg
            | AccessFs::Refer
            | AccessFs::Truncate;
        let access = access & !BitFlags::from(AccessFs::Execute);
        ruleset = ruleset.add_rule(PathBeneath::new(PathFd::new(folders)?, access))?;
    }
    let status = ruleset.restrict_self()?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => None,
        (_, LandlockStatus::Available { effective_abi, .. }) => Some(effective_abi as i32),
        _ => None,
    })
}
