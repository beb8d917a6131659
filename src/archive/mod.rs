//! ZIP archives, read and written. Strangers send the archives that are read, so that reading is strict: an archive that
//! two programs could read in two ways is refused. The central directory is read here and not by a crate, because crates
//! repair what is wrong in silence, and do not tell of several disks, of zip64, or of bytes before the archive.

mod check;
mod crc32;
mod end_record;
mod headers;
mod inflate;
mod name;
#[cfg(test)]
pub mod samples;
#[cfg(test)]
mod tests;
mod writer;

pub use writer::ArchiveWriter;

/// What an archive may have at most.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveLimits {
    /// The bytes of the archive itself.
    pub archive_bytes: usize,
    /// Files and directories.
    pub entries: usize,
    /// The bytes of one file.
    pub entry_bytes: u32,
    /// The bytes of all files together.
    pub total_bytes: u64,
    /// The bytes of one name.
    pub name_bytes: usize,
}

/// What is wrong with an archive, or with one entry of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchiveFault {
    /// The name of the entry, fit to be shown. None if the fault is the archive's own.
    pub entry: Option<String>,
    /// What is wrong with the entry, without the entry as its subject. A whole sentence if there is no entry.
    pub message: String,
}

/// The entries of an archive, all of which have been checked.
#[derive(Debug)]
pub struct Archive<'a> {
    pub entries: Vec<Entry<'a>>,
}

impl<'a> Archive<'a> {
    /// Reads the directory of an archive and checks every entry. All faults are told at once, in the order of the
    /// directory. Nothing is inflated, so that this takes no longer for a bomb than for another archive.
    pub fn open(bytes: &'a [u8], limits: &ArchiveLimits) -> Result<Self, Vec<ArchiveFault>> {
        check::entries_of(bytes, limits).map(|entries| Self { entries })
    }
}

/// One file or directory of an archive.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// A relative path. The name of a directory ends with `/`.
    pub name: &'a str,
    /// The size of the contents, as the archive declares it. Contents of another size are not read.
    pub size: u32,
    crc32: u32,
    is_deflated: bool,
    body: &'a [u8],
}

impl Entry<'_> {
    pub fn is_directory(&self) -> bool {
        self.name.ends_with('/')
    }

    /// The contents. They take the memory that the archive declares, and no more.
    pub fn read(&self) -> Result<Vec<u8>, ArchiveFault> {
        let contents = if self.is_deflated { inflate::inflate(self.body, self.size) } else { Ok(self.body.to_vec()) };
        contents
            .and_then(|it| if crc32::crc32(&it) == self.crc32 { Ok(it) } else { Err("has a wrong checksum") })
            .map_err(|message| ArchiveFault { entry: Some(self.name.to_owned()), message: message.to_owned() })
    }
}
