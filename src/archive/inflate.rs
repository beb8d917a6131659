//! Inflating one entry, bounded in memory and in time.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

/// The bytes for which an honest writer makes at least one block, on average. A block costs microseconds before it gives
/// the first byte, and a hostile archive could have a million of them.
const BYTES_OF_A_BLOCK: u32 = 1_024;

/// Small contents may have this many blocks.
const MIN_BLOCKS: u32 = 16;

/// The contents that `body` compresses, which must have exactly `size` bytes.
pub fn inflate(body: &[u8], size: u32) -> Result<Vec<u8>, &'static str> {
    const FLAGS: u32 =
        inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF | inflate_flags::TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY;
    let mut contents = vec![0; size as usize];
    let mut state = Box::<DecompressorOxide>::default();
    let (mut rest, mut filled) = (body, 0);
    for _ in 0..MIN_BLOCKS + size / BYTES_OF_A_BLOCK {
        let (status, taken, given) = decompress(&mut state, rest, &mut contents, filled, FLAGS);
        rest = rest.get(taken..).unwrap_or_default();
        filled += given;
        match status {
            TINFLStatus::BlockBoundary => {}
            TINFLStatus::Done if filled < contents.len() => return Err("has fewer bytes than the archive declares"),
            TINFLStatus::Done if !rest.is_empty() => return Err("has bytes after the end of its compressed data"),
            TINFLStatus::Done => return Ok(contents),
            TINFLStatus::HasMoreOutput => return Err("has more bytes than the archive declares"),
            _ => return Err("has compressed data that cannot be read"),
        }
    }
    Err("has compressed data in too many small blocks")
}
