//! Bundles of toolsets: ZIP archives without compression.

use serde_json::Value;

/// A bundle with this manifest, which YAML takes as JSON, and these files.
pub fn bundle(manifest: &Value, files: &[(&str, &[u8])]) -> Vec<u8> {
    let manifest = manifest.to_string();
    let files = [("toolset.yaml", manifest.as_bytes())].into_iter().chain(files.iter().copied());
    let (mut zip, mut directory, mut count) = (Vec::new(), Vec::new(), 0_u16);
    for (name, bytes) in files {
        let offset = zip.len() as u32;
        let entry = entry(name, bytes);
        zip.extend(0x0403_4b50_u32.to_le_bytes());
        zip.extend(&entry);
        zip.extend(name.as_bytes());
        zip.extend(bytes);
        directory.extend(0x0201_4b50_u32.to_le_bytes());
        directory.extend([20, 0]);
        directory.extend(&entry);
        // No comment, the first disk, no attributes.
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
        count += 1;
    }
    let (start, size) = (zip.len() as u32, directory.len() as u32);
    zip.extend(directory);
    zip.extend(0x0605_4b50_u32.to_le_bytes());
    zip.extend([0; 4]);
    zip.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    zip.extend([size.to_le_bytes(), start.to_le_bytes()].concat());
    zip.extend([0; 2]);
    zip
}

/// What both headers of a file say: version, flags, method, time, CRC, sizes, lengths of the name and of nothing else.
fn entry(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut entry = vec![20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0];
    entry.extend(crc32(bytes).to_le_bytes());
    let size = bytes.len() as u32;
    entry.extend([size.to_le_bytes(), size.to_le_bytes()].concat());
    entry.extend((name.len() as u16).to_le_bytes());
    entry.extend([0; 2]);
    entry
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    };
    !bytes.iter().fold(!0, step)
}
