//! The filters of the second room: a computation that also works on plain files. Landlock and the private folder decide
//! which files; the filters decide what can be done to a file at all.
//!
//! Landlock does not cover the metadata of files. So calls that change metadata are answered with success, and do nothing:
//! libraries that copy files make such calls, and nothing of theirs is kept after the run.

use super::code::{COMPUTATION, COMPUTATION_IF};
use super::{Calls, Conditional};
use nix::libc;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq};
use std::io::Result;

/// The filters, in the order in which they are installed. Of several verdicts the kernel takes the strictest, and an error
/// is stricter than a permission. So a call that is answered must also be allowed.
pub fn files() -> Result<Vec<Vec<u8>>> {
    Ok(vec![
        Calls { always: &[PRETENDED], sometimes: &[PRETENDED_IF] }.answered(0)?,
        Calls { always: &[UNSUPPORTED], sometimes: &[] }.answered(libc::EOPNOTSUPP)?,
        Calls { always: &[], sometimes: &[NO_TERMINAL_IF] }.answered(libc::ENOTTY)?,
        ALLOWED.allowed()?,
    ])
}

const ALLOWED: Calls<'static> = Calls {
    always: &[COMPUTATION, ON_FILES, ON_FILES_BY_OLD_NAMES, WAITING, PRETENDED, UNSUPPORTED],
    sometimes: &[COMPUTATION_IF, ON_FILES_IF, PRETENDED_IF, NO_TERMINAL_IF],
};

/// There are no calls that make links, devices, pipes or sockets, and none that watch files.
const ON_FILES: &[libc::c_long] = &[
    libc::SYS_chdir,
    libc::SYS_copy_file_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fchdir,
    libc::SYS_fstatfs,
    libc::SYS_ftruncate,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getuid,
    libc::SYS_mkdirat,
    libc::SYS_msync,
    libc::SYS_newfstatat,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_renameat,
    libc::SYS_sendfile,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_truncate,
    libc::SYS_unlinkat,
];

/// The same calls by their older names, which only some architectures have.
#[cfg(target_arch = "x86_64")]
const ON_FILES_BY_OLD_NAMES: &[libc::c_long] = &[
    libc::SYS_access,
    libc::SYS_dup2,
    libc::SYS_lstat,
    libc::SYS_mkdir,
    libc::SYS_readlink,
    libc::SYS_rename,
    libc::SYS_rmdir,
    libc::SYS_stat,
    libc::SYS_unlink,
];
#[cfg(not(target_arch = "x86_64"))]
const ON_FILES_BY_OLD_NAMES: &[libc::c_long] = &[];

const ON_FILES_IF: &[Conditional] = &[
    // A descriptor for a path alone would pass landlock, whatever the path is.
    (libc::SYS_openat, 2, &[(MaskedEq(libc::O_PATH as u64), 0)]),
    // Copies of descriptors, their flags, and questions about locks. The other commands direct signals, or change pipes.
    (
        libc::SYS_fcntl,
        1,
        &[
            (Eq, libc::F_DUPFD as u64),
            (Eq, libc::F_DUPFD_CLOEXEC as u64),
            (Eq, libc::F_GETFD as u64),
            (Eq, libc::F_SETFD as u64),
            (Eq, libc::F_GETFL as u64),
            (Eq, libc::F_SETFL as u64),
            (Eq, libc::F_GETLK as u64),
            (Eq, libc::F_OFD_GETLK as u64),
        ],
    ),
    (libc::SYS_ioctl, 1, &[(Eq, libc::FIOCLEX), (Eq, libc::FIONCLEX)]),
    // Another flag leaves a device behind.
    (libc::SYS_renameat2, 4, &[(Eq, 0), (Eq, libc::RENAME_NOREPLACE as u64)]),
];

/// An event loop waits by these calls.
#[cfg(target_arch = "x86_64")]
const WAITING: &[libc::c_long] = &[libc::SYS_poll, libc::SYS_ppoll, libc::SYS_pselect6, libc::SYS_select];
#[cfg(not(target_arch = "x86_64"))]
const WAITING: &[libc::c_long] = &[libc::SYS_ppoll, libc::SYS_pselect6];

/// Calls that are answered with success, and do nothing: owners, permissions and times of files, and orders to write files
/// to a disk.
const PRETENDED: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    libc::SYS_fadvise64,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fdatasync,
    libc::SYS_flock,
    libc::SYS_fsync,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_sync,
    libc::SYS_sync_file_range,
    libc::SYS_syncfs,
    libc::SYS_umask,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
];

/// A lock is always free: nobody else uses the files of a call. Real locks on Python's own files would let two calls talk to
/// each other.
const PRETENDED_IF: &[Conditional] = &[(
    libc::SYS_fcntl,
    1,
    &[
        (Eq, libc::F_SETLK as u64),
        (Eq, libc::F_SETLKW as u64),
        (Eq, libc::F_OFD_SETLK as u64),
        (Eq, libc::F_OFD_SETLKW as u64),
    ],
)];

/// Calls that a file system may lack, so that libraries are prepared for their failure.
const UNSUPPORTED: &[libc::c_long] = &[
    libc::SYS_fallocate,
    libc::SYS_fgetxattr,
    libc::SYS_flistxattr,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
];

/// Whoever asks a file about its terminal learns that there is none.
const NO_TERMINAL_IF: &[Conditional] = &[(libc::SYS_ioctl, 1, &[(Eq, libc::TCGETS), (Eq, libc::TIOCGWINSZ)])];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_reaches_out_is_allowed() {
        for call in [
            libc::SYS_bpf,
            libc::SYS_chroot,
            libc::SYS_clone,
            libc::SYS_clone3,
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_inotify_init1,
            libc::SYS_io_uring_setup,
            libc::SYS_kill,
            libc::SYS_linkat,
            libc::SYS_memfd_create,
            libc::SYS_mknodat,
            libc::SYS_mount,
            libc::SYS_name_to_handle_at,
            libc::SYS_open_by_handle_at,
            libc::SYS_openat2,
            libc::SYS_pidfd_open,
            libc::SYS_pipe2,
            libc::SYS_pkey_mprotect,
            libc::SYS_prctl,
            libc::SYS_prlimit64,
            libc::SYS_ptrace,
            libc::SYS_sendmsg,
            libc::SYS_socket,
            libc::SYS_socketpair,
            libc::SYS_symlinkat,
            libc::SYS_unshare,
        ] {
            assert!(!ALLOWED.name(call), "{call}");
        }
    }
}
