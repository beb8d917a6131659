//! Checks that the children of a new zygote are locked in, by code that only the protection can stop.

use crate::call::{self, Task};
use crate::folder::{Folder, Slot};
use crate::launch::Plan;
use crate::limits::Limits;
use crate::zygote::Zygote;
use std::future::pending;
use std::io::{Error, Result};
use std::time::Duration;

const CODE: &str = r#"{"code":"import typing\ntry:\n    typing.sys.modules['posix'].stat('/')\nexcept PermissionError as error:\n    print(error.errno)"}"#;

/// Sockets and links are the filter's business. The file system around the folder is that of landlock, or of the private
/// root, which shows none of these directories.
const ON_FILES: &str = r#"{"code":"import os, socket\ndef denied(action, *arguments):\n    try:\n        action(*arguments)\n    except PermissionError:\n        return True\ndef probe():\n    open('own', 'w').close()\n    outside = denied(os.listdir, '/') or not {'dev', 'proc', 'sys'} & set(os.listdir('/'))\n    print(denied(socket.socket), denied(os.symlink, 'own', 'link'), denied(os.link, 'own', 'link'), outside)","function":"probe","arguments":{}}"#;

/// Fails if the protection does not work.
pub async fn check(zygote: &Zygote, plan: &Plan) -> Result<()> {
    let limits = Limits { timeout: Duration::from_secs(10), memory_bytes: 32 << 20 };
    let (answer, expected) = match &plan.files {
        None => (call::run(zygote, &Task { text: CODE.as_bytes(), limits, folder: None }, pending()).await?, "1\n"),
        Some(_) => {
            let slot = zygote.take_slot().ok_or_else(|| Error::other("the zygote has no slot"))?;
            let folder = Folder::make(Slot { directory: slot, is_shared: !zygote.layers.private_root }, plan.user)?;
            let task = Task { text: ON_FILES.as_bytes(), limits, folder: Some(folder.descriptor()) };
            let answer = call::run(zygote, &task, pending()).await;
            zygote.put_slot(folder.remove()?.directory);
            (answer?, "True True True True\n")
        }
    };
    if answer.stdout != expected {
        let layer = if plan.files.is_some() { "the protection" } else { "seccomp" };
        let told = answer.error.unwrap_or_default();
        return Err(Error::other(format!("{layer} does not work here, and nothing is run without it. {told}")));
    }
    Ok(())
}
