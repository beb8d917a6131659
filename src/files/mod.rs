//! The files of sessions: contents named by their SHA-256, manifests that never change, and for each session a pointer to
//! the manifest that is its present. A write costs the same however many files and manifests there are, and writers
//! that race are put one after the other. It knows nothing of tools, agents and HTTP.

mod blob;
mod commit;
mod listing;
mod lookup;
mod path;
mod session;
mod store;
mod sweep;

pub use blob::{Blob, BlobContent};
pub use commit::{
    FileChangeOrigin, FileManifestSource, FileWriteRefusal, MAX_FILE_BYTES, WrittenFile, delete_file, spring_up,
    write_file,
};
pub use listing::{DirectoryEntry, DirectoryEntryKind, listing_text};
pub use lookup::{File, FileLookup, FileOrDirectory, list_dir, open_path, read_blob, read_file};
pub use path::FilePath;
pub use session::{
    FileChangeKind, FileDifference, FileDigest, FileManifest, Session, branch, check_out, delete_session, diff,
    get_manifest, get_session, list_files, list_manifests, list_sessions,
};
pub use store::lookup::ListedFile;
pub use sweep::sweep;
