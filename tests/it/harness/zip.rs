//! ZIP archives made byte by byte, so that every field can lie.

use miniz_oxide::deflate::compress_to_vec;

/// An entry with all of its fields. The local header says the same as the directory, unless it is given.
#[derive(Clone)]
pub struct ZipEntry {
    pub name: Vec<u8>,
    pub local_name: Option<Vec<u8>>,
    pub flags: u16,
    pub method: u16,
    pub crc32: u32,
    pub compressed_size: u32,
    pub size: u32,
    /// Checksum, compressed size and size in the local header.
    pub local_figures: Option<[u32; 3]>,
    pub mode: u32,
    pub extra: Vec<u8>,
    /// Where the local header is. An entry with an offset has no bytes of its own.
    pub offset: Option<u32>,
    pub body: Vec<u8>,
}

impl ZipEntry {
    pub fn stored(name: &str, contents: impl AsRef<[u8]>) -> Self {
        let body = contents.as_ref().to_vec();
        let size = u32::try_from(body.len()).unwrap();
        Self {
            name: name.as_bytes().to_vec(),
            local_name: None,
            flags: 0,
            method: 0,
            crc32: crc32(&body),
            compressed_size: size,
            size,
            local_figures: None,
            mode: 0o100_644,
            extra: Vec::new(),
            offset: None,
            body,
        }
    }

    pub fn deflated(name: &str, contents: impl AsRef<[u8]>) -> Self {
        let body = compress_to_vec(contents.as_ref(), 6);
        let compressed_size = u32::try_from(body.len()).unwrap();
        Self { method: 8, compressed_size, body, ..Self::stored(name, contents) }
    }

    /// The fields that both headers have, from the flags to the sizes.
    fn shared(&self, figures: [u32; 3]) -> Vec<u8> {
        let mut bytes = [self.flags.to_le_bytes(), self.method.to_le_bytes(), [0, 0], [0x21, 0]].concat();
        bytes.extend(figures.map(u32::to_le_bytes).concat());
        bytes
    }

    fn local_header(&self) -> Vec<u8> {
        let name = self.local_name.as_ref().unwrap_or(&self.name);
        let figures = self.local_figures.unwrap_or([self.crc32, self.compressed_size, self.size]);
        [b"PK\x03\x04\x14\0".as_slice(), &self.shared(figures), &short(name.len()), &[0, 0], name].concat()
    }

    fn central_header(&self, offset: u32) -> Vec<u8> {
        let figures = [self.crc32, self.compressed_size, self.size];
        let lengths = [short(self.name.len()), short(self.extra.len()), [0; 2], [0; 2], [0; 2]].concat();
        let place = [(self.mode << 16).to_le_bytes(), offset.to_le_bytes()].concat();
        let head = [b"PK\x01\x02\x14\x03\x14\0".as_slice(), &self.shared(figures), &lengths, &place].concat();
        [head, self.name.clone(), self.extra.clone()].concat()
    }
}

/// An archive with these entries.
pub fn zip(entries: &[ZipEntry]) -> Vec<u8> {
    zip_that_counts(entries, entries.len())
}

/// An archive whose end record counts another number of entries.
pub fn zip_that_counts(entries: &[ZipEntry], count: usize) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let offset = entry.offset.unwrap_or_else(|| u32::try_from(bytes.len()).unwrap());
        if entry.offset.is_none() {
            bytes.extend(entry.local_header());
            bytes.extend(&entry.body);
        }
        directory.extend(entry.central_header(offset));
    }
    let [offset, length] = [bytes.len(), directory.len()].map(|it| u32::try_from(it).unwrap().to_le_bytes());
    let counts = [short(count), short(count)].concat();
    [bytes, directory, b"PK\x05\x06\0\0\0\0".to_vec(), counts, length.into(), offset.into(), vec![0, 0]].concat()
}

fn short(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap().to_le_bytes()
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
