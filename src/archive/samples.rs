//! Archives for tests, made byte by byte, so that every field can lie.

use super::crc32::crc32;
use miniz_oxide::deflate::compress_to_vec;

/// An entry with all of its fields. The fields of the local header follow those of the directory, unless they are given.
#[derive(Clone)]
pub struct Part {
    pub name: Vec<u8>,
    pub local_name: Option<Vec<u8>>,
    pub flags: u16,
    pub local_flags: Option<u16>,
    pub method: u16,
    pub local_method: Option<u16>,
    pub crc32: u32,
    pub compressed_size: u32,
    pub size: u32,
    pub local_figures: Option<[u32; 3]>,
    pub mode: u32,
    pub disk: u16,
    pub extra: Vec<u8>,
    pub comment: Vec<u8>,
    pub offset: Option<u32>,
    /// What stands in the archive after the local header, and a data descriptor after that.
    pub body: Vec<u8>,
    pub after: Vec<u8>,
}

/// A stored file.
pub fn stored(name: &str, contents: &[u8]) -> Part {
    let size = u32::try_from(contents.len()).unwrap();
    Part {
        name: name.as_bytes().to_vec(),
        local_name: None,
        flags: 0,
        local_flags: None,
        method: 0,
        local_method: None,
        crc32: crc32(contents),
        compressed_size: size,
        size,
        local_figures: None,
        mode: 0o100_644,
        disk: 0,
        extra: Vec::new(),
        comment: Vec::new(),
        offset: None,
        body: contents.to_vec(),
        after: Vec::new(),
    }
}

/// A deflated file.
pub fn deflated(name: &str, contents: &[u8]) -> Part {
    let body = compress_to_vec(contents, 6);
    Part { method: 8, compressed_size: u32::try_from(body.len()).unwrap(), body, ..stored(name, contents) }
}

/// A deflated file whose figures follow it, as they do in a stream.
pub fn streamed(name: &str, contents: &[u8]) -> Part {
    let part = deflated(name, contents);
    let descriptor = [u32::from_le_bytes(*b"PK\x07\x08"), part.crc32, part.compressed_size, part.size];
    Part { flags: 1 << 3, local_figures: Some([0; 3]), after: descriptor.map(u32::to_le_bytes).concat(), ..part }
}

/// The fields of an end record.
#[derive(Clone, Default)]
pub struct End {
    pub disk: u16,
    pub entries_here: Option<u16>,
    pub entries: Option<u16>,
    pub length: Option<u32>,
    pub offset: Option<u32>,
    pub comment_length: Option<u16>,
    /// What stands before the end record, and after it.
    pub before: Vec<u8>,
    pub after: Vec<u8>,
}

pub fn zip(parts: &[Part]) -> Vec<u8> {
    zip_with(parts, &End::default())
}

pub fn zip_with(parts: &[Part], end: &End) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for part in parts {
        let offset = part.offset.unwrap_or(u32::try_from(bytes.len()).unwrap());
        if part.offset.is_none() {
            bytes.extend(local_header(part));
            bytes.extend(&part.body);
            bytes.extend(&part.after);
        }
        directory.extend(central_header(part, offset));
    }
    let offset = end.offset.unwrap_or(u32::try_from(bytes.len()).unwrap());
    let length = end.length.unwrap_or(u32::try_from(directory.len()).unwrap());
    let entries = end.entries.unwrap_or(u16::try_from(parts.len()).unwrap());
    bytes.extend(directory);
    bytes.extend(&end.before);
    bytes.extend(b"PK\x05\x06");
    for field in [end.disk, 0, end.entries_here.unwrap_or(entries), entries] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(length.to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes.extend(end.comment_length.unwrap_or(u16::try_from(end.after.len()).unwrap_or(0)).to_le_bytes());
    bytes.extend(&end.after);
    bytes
}

fn local_header(part: &Part) -> Vec<u8> {
    let name = part.local_name.as_ref().unwrap_or(&part.name);
    let figures = part.local_figures.unwrap_or([part.crc32, part.compressed_size, part.size]);
    let mut bytes = b"PK\x03\x04\x14\0".to_vec();
    bytes.extend(part.local_flags.unwrap_or(part.flags).to_le_bytes());
    bytes.extend(part.local_method.unwrap_or(part.method).to_le_bytes());
    bytes.extend([0, 0, 0x21, 0]);
    bytes.extend(figures.map(u32::to_le_bytes).concat());
    bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend(name);
    bytes
}

fn central_header(part: &Part, offset: u32) -> Vec<u8> {
    let mut bytes = b"PK\x01\x02\x14\x03\x14\0".to_vec();
    bytes.extend(part.flags.to_le_bytes());
    bytes.extend(part.method.to_le_bytes());
    bytes.extend([0, 0, 0x21, 0]);
    bytes.extend([part.crc32, part.compressed_size, part.size].map(u32::to_le_bytes).concat());
    for length in [part.name.len(), part.extra.len(), part.comment.len()] {
        bytes.extend(u16::try_from(length).unwrap().to_le_bytes());
    }
    bytes.extend(part.disk.to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend((part.mode << 16).to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes.extend(&part.name);
    bytes.extend(&part.extra);
    bytes.extend(&part.comment);
    bytes
}
