//! The private folder of a running server: its home, and the folder that it starts in.

use std::fs::{self, DirBuilder, Permissions};
use std::io::Result;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A private folder, which goes with this value.
pub struct Home {
    /// Random; the name of the process that lives there.
    pub id: String,
    path: PathBuf,
}

impl Home {
    /// Creates a folder that nobody else can look into.
    pub fn create(id: String) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("pegboard-mcp-{id}"));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { id, path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes the folder with all that is in it. Does nothing if the folder is gone.
pub fn remove(path: &Path) {
    if fs::remove_dir_all(path).is_err() {
        open_up(path);
        let _ = fs::remove_dir_all(path);
    }
}

/// Makes all folders in it writable again, since a server may have locked some of them. Links are not followed.
fn open_up(path: &Path) {
    let _ = fs::set_permissions(path, Permissions::from_mode(0o700));
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_folder_goes_too_and_what_links_point_to_stays() {
        let made = Home::create(format!("test-{}", std::process::id())).unwrap();
        let home = made.path().to_owned();
        assert_eq!(fs::metadata(&home).unwrap().permissions().mode() & 0o777, 0o700);
        fs::create_dir_all(home.join("a/b")).unwrap();
        fs::write(home.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink("/usr", home.join("a/link")).unwrap();
        fs::set_permissions(home.join("a"), Permissions::from_mode(0o000)).unwrap();
        drop(made);
        assert!(!home.exists() && Path::new("/usr/bin").exists());
        remove(&home);
    }
}
