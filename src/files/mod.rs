//! The files of sessions: contents named by their SHA-256, manifests that never change, and for each session a pointer to
//! the manifest that is its present. A write costs the same however many files and manifests there are, and writers
//! that race are put one after the other. It knows nothing of tools, agents and HTTP.

mod blob;
mod commit;
mod listing;
mod look;
mod path;
mod session;
mod store;
mod sweep;

pub use blob::{Blob, Content};
pub use commit::{
    MAX_FILE_BYTES, Origin, Source, Unwritable, Written, create_session_if_missing, delete_file, write_file,
};
pub use listing::{Entry, Kind, listing_text};
pub use look::{File, Look, Opened, list_dir, open, read_blob, read_file};
pub use path::FilePath;
pub use session::{
    ChangeKind, Difference, Held, Manifest, Session, branch, check_out, delete_session, diff, get_manifest,
    get_session, list_files, list_manifests, list_sessions,
};
pub use store::look::HeldFile;
pub use sweep::sweep;
