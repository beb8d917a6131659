//! The processes of this machine, as `/proc` tells them: who started whom, and how much memory each occupies.

use nix::unistd::{SysconfVar, sysconf};
use std::collections::HashMap;
use std::fs;

/// One look at all processes.
pub struct ProcessTable {
    processes: HashMap<i32, TableEntry>,
    children: HashMap<i32, Vec<i32>>,
}

struct TableEntry {
    zombie: bool,
    resident_bytes: u64,
}

impl ProcessTable {
    pub fn read() -> std::io::Result<Self> {
        let page = sysconf(SysconfVar::PAGE_SIZE)?.and_then(|it| u64::try_from(it).ok()).unwrap_or(4096);
        let mut table = Self { processes: HashMap::new(), children: HashMap::new() };
        for entry in fs::read_dir("/proc")? {
            let Ok(Some(pid)) = entry.map(|it| it.file_name().to_str().and_then(|it| it.parse().ok())) else {
                continue;
            };
            // A process may end between two looks.
            let Ok(stat) = fs::read(format!("/proc/{pid}/stat")) else { continue };
            let Some((parent, zombie, pages)) = parsed(&stat) else { continue };
            table.processes.insert(pid, TableEntry { zombie, resident_bytes: pages * page });
            table.children.entry(parent).or_default().push(pid);
        }
        Ok(table)
    }

    pub fn children(&self, pid: i32) -> &[i32] {
        self.children.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// The children of a process, their children, and so on.
    pub fn descendants(&self, pid: i32) -> Vec<i32> {
        let mut found = self.children(pid).to_vec();
        let mut next = 0;
        while let Some(&pid) = found.get(next) {
            found.extend_from_slice(self.children(pid));
            next += 1;
        }
        found
    }

    /// Whether the process has ended and waits for its parent to notice.
    pub fn is_zombie(&self, pid: i32) -> bool {
        self.processes.get(&pid).is_some_and(|it| it.zombie)
    }

    pub fn resident_bytes(&self, pid: i32) -> u64 {
        self.processes.get(&pid).map_or(0, |it| it.resident_bytes)
    }
}

/// The parent, whether it is a zombie, and the resident pages. The second field is the program's name in brackets, and may
/// hold anything.
fn parsed(stat: &[u8]) -> Option<(i32, bool, u64)> {
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 2..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let pages = fields.get(21)?.parse::<i64>().ok()?;
    Some((
        fields.get(1)?.parse().ok()?,
        matches!(fields.first(), Some(&("Z" | "X"))),
        u64::try_from(pages).unwrap_or(0),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_fields() {
        let stat = b"7 (a) Z 1 (b) S 42 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 100 4096 12 18446744073709551615";
        assert_eq!(parsed(stat), Some((42, false, 12)));
        assert_eq!(parsed(b"7 (a"), None);
    }

    #[test]
    fn this_test_is_in_the_table() {
        let table = ProcessTable::read().unwrap();
        let me = i32::try_from(std::process::id()).unwrap();
        assert!(table.resident_bytes(me) > 100_000 && !table.is_zombie(me));
        assert!(table.descendants(1).contains(&me) || table.children(0).contains(&me));
    }
}
