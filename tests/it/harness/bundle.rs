//! Bundles of toolsets, as a client would pack them.

/// A ZIP with these files, which are stored as they are.
pub fn toolset(files: &[(&str, &str)]) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for (path, text) in files {
        let (offset, size) = (number(zip.len()), number(text.len()));
        // Version 2.0, UTF-8 names, no compression, 1980-01-01.
        let head = [&[20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0][..], &crc32(text.as_bytes()), &size, &size].concat();
        let lengths = [&number(path.len())[..2], &[0, 0]].concat();
        zip.extend([b"PK\x03\x04".as_slice(), &head, &lengths, path.as_bytes(), text.as_bytes()].concat());
        let entry = [b"PK\x01\x02\x14\x00".as_slice(), &head, &lengths, &[0; 10], &offset, path.as_bytes()];
        directory.extend(entry.concat());
    }
    let (count, offset) = (number(files.len()), number(zip.len()));
    let size = number(directory.len());
    zip.extend(directory);
    zip.extend([b"PK\x05\x06\0\0\0\0".as_slice(), &count[..2], &count[..2], &size, &offset, &[0, 0]].concat());
    zip
}

fn number(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap().to_le_bytes()
}

fn crc32(bytes: &[u8]) -> [u8; 4] {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step));
    (!crc).to_le_bytes()
}
