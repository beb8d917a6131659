//! How much a call on files may store.

/// The files of a session and of a bundle together, before a run; the files of the session after the run.
pub const MAX_FILES: usize = 2_000;
pub const MAX_TOTAL_BYTES: u64 = 64 << 20;
/// The same, counted with their directories.
pub const MAX_ENTRIES: usize = 4 * MAX_FILES;
/// One file.
pub const MAX_FILE_BYTES: u64 = 10 << 20;

/// A slot also holds temporary files, and both the old and the new contents of files that are being replaced.
pub const SLOT_BYTES: u64 = 2 * MAX_TOTAL_BYTES + (32 << 20);
pub const SLOT_INODES: u64 = 2 * MAX_ENTRIES as u64;
