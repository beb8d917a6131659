//! Bytes as hexadecimal digits, for checksums and for names made of checksums.

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
