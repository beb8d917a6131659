//! Sessions and their files. Contents are named by their SHA-256. A file manifest holds all files of a session at one
//! moment and never changes. Each session points to the file manifest that is its present. A write costs the same
//! however many files and file manifests there are, and the database puts racing writers one after the other.
//! docs/files.md draws the tree of file manifests. This room knows nothing of tools, agents and HTTP.

mod ahead;
mod blob;
mod commit;
mod contents;
mod draft;
mod line_diff;
mod listing;
mod lookup;
mod path;
mod session;
mod snapshot;
mod store;
mod sweep;

pub use ahead::AheadContents;
pub use blob::{Blob, BlobContent, BlobEncoding};
pub use commit::{
    FileChangeOrigin, FileManifestSource, GONE, MAX_FILE_BYTES, create_session_if_missing,
    create_session_of_agent_if_missing, delete_file, write_file,
};
pub use contents::{WantedContents, stored_sizes};
pub use draft::FileDraft;
pub use listing::{DirectoryEntry, DirectoryEntryKind, listing_text};
pub use lookup::{
    File, FileOrDirectory, find_dir, find_file, list_dir, open_path, read_blob, read_file, read_found_dir,
    read_found_file,
};
pub use path::FilePath;
pub use session::{
    FileChangeKind, FileDifference, FileDigest, FileManifest, Session, TextDifference, branch, check_out,
    delete_session, diff, get_manifest, get_session, list_files, list_manifests, list_sessions, session_not_found,
    unless_refused,
};
pub use snapshot::{SessionFiles, list_all, list_all_with_bundle, list_bundle};
pub use store::blob::StoredPiece;
pub use store::lookup::ListedFile;
pub use store::session::{
    find as find_session, find_visible as find_visible_session, read as read_session, refuse_hidden,
};
pub use sweep::sweep;
