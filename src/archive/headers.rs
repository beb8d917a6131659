//! The two headers of an entry: one in the directory, which counts, and one before the contents, which must agree.

pub const CENTRAL_SIGNATURE: [u8; 4] = *b"PK\x01\x02";
pub const LOCAL_SIGNATURE: [u8; 4] = *b"PK\x03\x04";

const CENTRAL_LENGTH: usize = 46;
const LOCAL_LENGTH: usize = 30;

/// The number of the extra field of zip64.
const ZIP64_FIELD: u16 = 1;

/// The compressed sizes, checksums and sizes of the two headers are compared as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    pub crc32: u32,
    pub compressed_size: u32,
    pub size: u32,
}

impl Figures {
    fn at(bytes: &[u8], at: usize) -> Option<Self> {
        Some(Self { crc32: u32_at(bytes, at)?, compressed_size: u32_at(bytes, at + 4)?, size: u32_at(bytes, at + 8)? })
    }

    /// Whether a size stands elsewhere, because it does not fit.
    pub fn is_zip64(self) -> bool {
        [self.compressed_size, self.size].contains(&u32::MAX)
    }
}

/// The flags of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Flags(u16);

impl Flags {
    /// Whether any part of the entry is encrypted: its contents, in one of two ways, or its headers.
    pub fn is_encrypted(self) -> bool {
        self.0 & (1 | 1 << 6 | 1 << 13) != 0
    }

    /// Whether the contents are a patch of other contents.
    pub fn is_patch(self) -> bool {
        self.0 & 1 << 5 != 0
    }

    /// Whether the figures follow the contents, because the writer did not know them before.
    pub fn has_later_figures(self) -> bool {
        self.0 & 1 << 3 != 0
    }
}

/// A header of the directory.
#[derive(Debug)]
pub struct CentralHeader<'a> {
    pub flags: Flags,
    pub method: u16,
    pub figures: Figures,
    pub disk: u16,
    /// The type and the permissions of a file on Unix. Other systems leave this zero.
    pub mode: u32,
    /// Where the local header begins.
    pub offset: u32,
    pub name: &'a [u8],
    pub extra: &'a [u8],
    /// The bytes of the whole header.
    pub length: usize,
}

impl<'a> CentralHeader<'a> {
    /// Reads the header with which `bytes` begin. None if there is none.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        if !bytes.starts_with(&CENTRAL_SIGNATURE) {
            return None;
        }
        let length_at = |at| u16_at(bytes, at).map(usize::from);
        let name_end = CENTRAL_LENGTH + length_at(28)?;
        let extra_end = name_end + length_at(30)?;
        let length = extra_end + length_at(32)?;
        bytes.get(..length)?;
        Some(Self {
            flags: Flags(u16_at(bytes, 8)?),
            method: u16_at(bytes, 10)?,
            figures: Figures::at(bytes, 16)?,
            disk: u16_at(bytes, 34)?,
            mode: u32_at(bytes, 38)? >> 16,
            offset: u32_at(bytes, 42)?,
            name: bytes.get(CENTRAL_LENGTH..name_end)?,
            extra: bytes.get(name_end..extra_end)?,
            length,
        })
    }

    pub fn is_zip64(&self) -> bool {
        self.figures.is_zip64() || self.offset == u32::MAX || has_zip64_field(self.extra)
    }
}

fn has_zip64_field(mut extra: &[u8]) -> bool {
    while let (Some(id), Some(length)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        if id == ZIP64_FIELD {
            return true;
        }
        extra = extra.get(4 + usize::from(length)..).unwrap_or_default();
    }
    false
}

/// The header before the contents.
#[derive(Debug)]
pub struct LocalHeader<'a> {
    pub flags: Flags,
    pub method: u16,
    pub figures: Figures,
    pub name: &'a [u8],
    /// The bytes of the whole header.
    pub length: usize,
}

impl<'a> LocalHeader<'a> {
    /// Reads the header with which `bytes` begin. None if there is none.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        if !bytes.starts_with(&LOCAL_SIGNATURE) {
            return None;
        }
        let name_end = LOCAL_LENGTH + usize::from(u16_at(bytes, 26)?);
        let length = name_end + usize::from(u16_at(bytes, 28)?);
        bytes.get(..length)?;
        Some(Self {
            flags: Flags(u16_at(bytes, 6)?),
            method: u16_at(bytes, 8)?,
            figures: Figures::at(bytes, 14)?,
            name: bytes.get(LOCAL_LENGTH..name_end)?,
            length,
        })
    }
}

pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|it| u16::from_le_bytes(*it))
}

pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|it| u32::from_le_bytes(*it))
}
