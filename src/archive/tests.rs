//! Good archives of every make are read, and hostile ones are refused at once, with every fault.

use super::samples::{End, Part, deflated, stored, streamed, zip, zip_with};
use super::*;
use crate::dice::Dice;
use crate::stopwatch::computed;
use std::time::Duration;

const LIMITS: ArchiveLimits = ArchiveLimits {
    archive_bytes: 16 * 1024 * 1024,
    entries: 2_000,
    entry_bytes: 10 * 1024 * 1024,
    total_bytes: 64 * 1024 * 1024,
    name_bytes: 1_024,
};

/// All names and contents, or all faults of the directory, or else of the contents.
fn read(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, Vec<ArchiveFault>> {
    let archive = Archive::open(bytes, &LIMITS)?;
    archive.entries.iter().map(|it| Ok((it.name.to_owned(), it.read().map_err(|fault| vec![fault])?))).collect()
}

#[track_caller]
fn opens(bytes: &[u8], expected: &[(&str, &[u8])]) {
    let found = read(bytes).unwrap();
    assert_eq!(found.iter().map(|(name, it)| (name.as_str(), it.as_slice())).collect::<Vec<_>>(), expected);
}

/// The faults, each as `entry: message`, found in a time that no honest archive needs.
fn faults(bytes: &[u8]) -> Vec<String> {
    let began = computed();
    let faults = read(bytes).unwrap_err();
    assert!(computed().saturating_sub(began) < Duration::from_secs(2), "{:?}", computed().saturating_sub(began));
    faults.into_iter().map(|it| it.entry.map_or(String::new(), |it| it + ": ") + &it.message).collect()
}

#[track_caller]
fn refused(bytes: &[u8], expected: &str) {
    assert_eq!(faults(bytes), [expected]);
}

#[test]
fn archives_of_every_make_are_read() {
    opens(&zip(&[]), &[]);
    let text = b"text ".repeat(1_000);
    let parts =
        [stored("a", b"1"), deflated("b/c", &text), streamed("d", &text), stored("e/", b""), deflated("f", b"")];
    let expected: [(&str, &[u8]); 5] = [("a", b"1"), ("b/c", &text), ("d", &text), ("e/", b""), ("f", b"")];
    opens(&zip(&parts), &expected);
    let made_elsewhere =
        Part { mode: 0, comment: b"x".to_vec(), extra: vec![0x55, 0x54, 1, 0, 0], ..stored("a", b"1") };
    opens(&zip(&[made_elsewhere]), &[("a", b"1")]);
    // The flag says that the name is UTF-8. Many writers leave it out.
    opens(&zip(&[Part { flags: 1 << 11, ..stored("ä", b"1") }, stored("日本", b"")]), &[("ä", b"1"), ("日本", b"")]);
    // A descriptor without its signature, and one with eight bytes for each size.
    let bare = Part { after: vec![0; 12], ..streamed("a", b"1") };
    let wide = Part { local_figures: Some([0, u32::MAX, u32::MAX]), after: vec![0; 24], ..streamed("b", b"2") };
    opens(&zip(&[bare, wide]), &[("a", b"1"), ("b", b"2")]);
}

#[test]
fn a_comment_or_a_signature_may_follow_the_archive() {
    let parts = [stored("a", b"1")];
    let with = |end| zip_with(&parts, &end);
    opens(&with(End { after: b"a comment".to_vec(), ..End::default() }), &[("a", b"1")]);
    opens(&with(End { after: vec![7; 65_535], ..End::default() }), &[("a", b"1")]);
    let signature = b"MCPB_SIG_V1 and more".repeat(100);
    opens(&with(End { after: signature, comment_length: Some(0), ..End::default() }), &[("a", b"1")]);
    let far = with(End { after: vec![7; 65_537], comment_length: Some(0), ..End::default() });
    refused(&far, "The ZIP is cut off: its end is missing");
}

#[test]
fn an_archive_after_other_bytes_is_read_if_its_offsets_count_them() {
    let plain = zip(&[stored("a", b"1")]);
    let script = [b"#!/bin/sh\n".as_slice(), &plain].concat();
    let expected =
        "The ZIP has 10 bytes before its beginning, or between its directory and its end, that are no part of it";
    refused(&script, expected);
    refused(&zip_with(&[stored("a", b"1")], &End { before: vec![0; 10], ..End::default() }), expected);
    let mut counted = b"#!/bin/sh\n".to_vec();
    counted.extend(&plain);
    let end = counted.len() - 22;
    // The offset of the only local header, and the offset of the directory.
    for at in [end - 1 - 4, end + 16] {
        counted[at] += 10;
    }
    opens(&counted, &[("a", b"1")]);
}

#[test]
fn what_is_no_whole_archive_is_refused() {
    for bytes in [b"".as_slice(), b"PK", b"GIF89a", b"\x1f\x8b\x08", &[0; 100_000]] {
        refused(bytes, "The file is no ZIP archive");
    }
    let whole = zip(&[deflated("a", b"11111111111111111"), stored("b", b"2")]);
    for length in 0..whole.len() {
        assert!(Archive::open(&whole[..length], &LIMITS).is_err(), "{length}");
    }
    refused(&whole[..whole.len() - 1], "The ZIP is cut off: its end is missing");
    let damaged = "The ZIP is damaged or cut off: its directory is not where its end says";
    let with = |end| zip_with(&[stored("a", b"1"), stored("b", b"2")], &end);
    refused(&whole[30..], damaged);
    refused(&with(End { comment_length: Some(1), ..End::default() }), damaged);
    refused(&with(End { offset: Some(4_000_000), ..End::default() }), damaged);
    refused(&with(End { length: Some(u32::MAX - 1), ..End::default() }), damaged);
    let more = "The ZIP is damaged: entry 3 of 3 of its directory cannot be read";
    refused(&with(End { entries: Some(3), ..End::default() }), more);
    let fewer = "The ZIP is damaged: its directory goes on after the 1 entries that its end counts";
    refused(&with(End { entries: Some(1), ..End::default() }), fewer);
    refused(&vec![0; LIMITS.archive_bytes + 1], "The ZIP has 16777217 bytes; at most 16777216 are read");
}

#[test]
fn several_disks_and_zip64_are_refused() {
    let with = |end| zip_with(&[stored("a", b"1")], &end);
    let disks = "The ZIP is a part of an archive of several disks";
    refused(&with(End { disk: 1, ..End::default() }), disks);
    refused(&with(End { entries_here: Some(0), ..End::default() }), disks);
    refused(&zip(&[Part { disk: 2, ..stored("a", b"1") }]), "a: lies on another disk of the archive");

    let zip64 = "The ZIP is a zip64 archive, which is not read; a ZIP within the limits needs no zip64";
    let locator = [b"PK\x06\x07".as_slice(), &[0; 16]].concat();
    refused(&with(End { before: locator, ..End::default() }), zip64);
    refused(&with(End { offset: Some(u32::MAX), ..End::default() }), zip64);
    refused(&with(End { length: Some(u32::MAX), ..End::default() }), zip64);

    let entry = "a: is a zip64 entry, which is not read";
    let field = [1u16, 16].map(u16::to_le_bytes).concat();
    let extra = [vec![0x55, 0x54, 1, 0, 0], field, vec![0; 16]].concat();
    refused(&zip(&[Part { extra, ..stored("a", b"1") }]), entry);
    refused(&zip(&[Part { size: u32::MAX, compressed_size: u32::MAX, ..stored("a", b"1") }]), entry);
    refused(&zip(&[Part { local_figures: Some([u32::MAX; 3]), ..stored("a", b"1") }]), entry);
    refused(&zip(&[Part { offset: Some(u32::MAX), ..stored("a", b"1") }]), entry);
}

#[test]
fn hostile_names_are_refused_all_at_once() {
    let names = ["../a", "/etc/passwd", "a\\b", "C:/x", "a/../b", "a\0b", "x\x1b[2J", "a//b", "fine"];
    let parts = names.map(|it| stored(it, b"1"));
    let expected = [
        "../a: has `..` in its name",
        "/etc/passwd: has an absolute path as its name",
        "a\\b: has a backslash in its name; `/` stands between folders",
        "C:/x: has a drive letter in its name",
        "a/../b: has `..` in its name",
        "a\\u{0}b: has a control character in its name",
        "x\\u{1b}[2J: has a control character in its name",
        "a//b: has an empty part or `.` in its name",
    ];
    assert_eq!(faults(&zip(&parts)), expected);
    refused(&zip(&[Part { name: b"a\xff".to_vec(), ..stored("", b"1") }]), "a\u{fffd}: has a name that is not UTF-8");
    refused(&zip(&[stored("", b"1")]), ": has no name");
    let long = faults(&zip(&[stored(&"x".repeat(65_535), b"1")]));
    assert!(long.len() == 1 && long[0].ends_with("has a name of 65535 bytes; at most 1024 are read"), "{long:?}");
}

#[test]
fn a_name_comes_once() {
    refused(&zip(&[stored("a", b"1"), stored("b", b""), stored("a", b"2")]), "a: comes twice");
    refused(&zip(&[stored("a/", b""), stored("a/b", b"1"), stored("a/", b"")]), "a/: comes twice");
    refused(&zip(&[stored("a", b"1"), stored("a/", b"")]), "a: is a file, and a directory by `a/`");
    let parts = [stored("a/b/c", b"1"), stored("a.b", b"1"), stored("a-b", b""), stored("a", b"2")];
    refused(&zip(&parts), "a: is a file, and a directory by `a/b/c`");
    opens(&zip(&[stored("ab", b"1"), stored("a/b", b"2")]), &[("ab", b"1"), ("a/b", b"2")]);
}

#[test]
fn entries_that_are_no_plain_files_are_refused() {
    let plain = || stored("a", b"1");
    refused(&zip(&[Part { mode: 0o120_777, ..plain() }]), "a: is a symbolic link");
    for mode in [0o010_644, 0o020_644, 0o060_644, 0o140_644] {
        refused(&zip(&[Part { mode, ..plain() }]), "a: is neither a file nor a directory");
    }
    for flags in [1, 1 << 6, 1 << 13, 1 | 1 << 6] {
        refused(&zip(&[Part { flags, ..plain() }]), "a: is encrypted");
        refused(&zip(&[Part { local_flags: Some(flags), ..plain() }]), "a: is encrypted");
        refused(&zip(&[Part { flags, local_flags: Some(0), ..plain() }]), "a: is encrypted");
    }
    // Encryption puts twelve bytes before the contents.
    let encrypted = Part { flags: 1, compressed_size: 13, body: vec![0; 13], ..plain() };
    refused(&zip(&[encrypted]), "a: is encrypted");
    refused(&zip(&[Part { flags: 1 << 5, ..plain() }]), "a: is a patch of another file");
    for method in [1, 6, 9, 12, 14, 93, 99, u16::MAX] {
        let expected = format!("a: is compressed by method {method}; stored (0) and deflated (8) entries are read");
        refused(&zip(&[Part { method, ..plain() }]), &expected);
    }
    refused(&zip(&[stored("a/", b"1")]), "a/: is a directory with contents");
    let all = Part { mode: 0o120_777, flags: 1, method: 12, size: 1 << 30, ..stored("../a", b"1") };
    assert_eq!(faults(&zip(&[all])).len(), 5);
}

#[test]
fn the_two_headers_of_an_entry_agree() {
    let plain = || deflated("a", b"1");
    let check =
        |part, what| refused(&zip(&[part]), &format!("a: has {what} in the directory than before its contents"));
    check(Part { local_name: Some(b"b".to_vec()), ..plain() }, "another name");
    check(Part { local_name: Some(b"A".to_vec()), ..plain() }, "another name");
    check(Part { local_method: Some(0), ..plain() }, "another method");
    check(Part { local_figures: Some([0, 3, 1]), ..plain() }, "other sizes or another checksum");
    refused(&zip(&[Part { offset: Some(0), ..plain() }]), "a: is not where the directory says");
    let outside = Part { offset: Some(4_000_000_000), ..plain() };
    refused(&zip(&[outside]), "a: is not where the directory says");
}

#[test]
fn contents_that_are_not_as_declared_are_refused() {
    let text = b"text ".repeat(1_000);
    let plain = || deflated("a", &text);
    refused(&zip(&[Part { crc32: 1, ..plain() }]), "a: has a wrong checksum");
    refused(&zip(&[Part { crc32: 1, ..stored("a", b"1") }]), "a: has a wrong checksum");
    refused(&zip(&[Part { size: 4_999, ..plain() }]), "a: has more bytes than the archive declares");
    refused(&zip(&[Part { size: 0, ..plain() }]), "a: has more bytes than the archive declares");
    refused(&zip(&[Part { size: 5_001, ..plain() }]), "a: has fewer bytes than the archive declares");
    refused(&zip(&[Part { size: 2, ..stored("a", b"1") }]), "a: is stored, but has two sizes that differ");
    let length = plain().compressed_size;
    let cut = Part { compressed_size: length - 3, ..plain() };
    refused(&zip(&[cut]), "a: has compressed data that cannot be read");
    let padded = Part { compressed_size: length + 2, body: [plain().body, vec![0; 2]].concat(), ..plain() };
    refused(&zip(&[padded]), "a: has bytes after the end of its compressed data");
    refused(
        &zip(&[Part { body: vec![0xff; length as usize], ..plain() }]),
        "a: has compressed data that cannot be read",
    );
    let beyond = "a: reaches beyond the contents of the ZIP";
    refused(&zip(&[Part { compressed_size: length + 1, ..plain() }]), beyond);
    refused(&zip(&[Part { compressed_size: u32::MAX - 1, ..plain() }]), beyond);
}

#[test]
fn bombs_are_refused_before_they_are_inflated() {
    let large = vec![0; 10 * 1024 * 1024 + 1];
    refused(&zip(&[deflated("a", &large)]), "a: has 10485761 bytes; at most 10485760 are read");
    assert!(read(&zip(&[deflated("a", &large[1..])])).is_ok());
    let parts = (0..7).map(|it| deflated(&it.to_string(), &large[1..])).collect::<Vec<_>>();
    refused(&zip(&parts), "The ZIP inflates to 73400320 bytes; at most 67108864 are read");
    // A bomb that declares little stops there.
    refused(&zip(&[Part { size: 1_000, ..deflated("a", &large) }]), "a: has more bytes than the archive declares");
}

#[test]
fn one_body_under_many_names_is_refused() {
    let body = deflated("0", &vec![0; 10_000]);
    let names = (1..900).map(|it| Part { name: it.to_string().into_bytes(), offset: Some(0), ..body.clone() });
    let found = faults(&zip(&[body.clone()].into_iter().chain(names).collect::<Vec<_>>()));
    assert_eq!(found.len(), 899);
    assert_eq!(found[0], "1: has another name in the directory than before its contents");
    let twice = zip(&[body.clone(), Part { offset: Some(0), ..body }]);
    assert_eq!(faults(&twice), ["0: comes twice", "0: shares bytes of the archive with `0`"]);
}

#[test]
fn entries_that_quote_the_headers_of_others_are_refused() {
    // Each file begins with a stored block that holds the next file's header, and goes on with the next file's body.
    let inner = deflated("b", &vec![0; 1_000]);
    let whole = zip(std::slice::from_ref(&inner));
    let quoted = &whole[..31];
    let length = u16::try_from(quoted.len()).unwrap();
    let block = [&[0][..], &length.to_le_bytes(), &(!length).to_le_bytes()].concat();
    let contents = [quoted, &vec![0; 1_000]].concat();
    let outer = Part {
        compressed_size: u32::try_from(block.len() + quoted.len()).unwrap() + inner.compressed_size,
        body: [block.as_slice(), quoted, &inner.body].concat(),
        ..deflated("a", &contents)
    };
    opens(&zip(std::slice::from_ref(&outer)), &[("a", &contents)]);
    let offset = 31 + u32::try_from(block.len()).unwrap();
    let parts = [outer, Part { offset: Some(offset), ..inner }];
    refused(&zip(&parts), "b: shares bytes of the archive with `a`");
}

#[test]
fn a_million_empty_blocks_are_refused() {
    // Each block costs the making of two tables, and gives nothing.
    let mut bits = Bits::default();
    while bits.bytes.len() < 8 * 1024 * 1024 {
        bits.put_empty_block();
    }
    let mut body = bits.bytes;
    body.extend([0, 0, 0]);
    let part =
        Part { compressed_size: u32::try_from(body.len()).unwrap(), body, ..deflated("a", &vec![0; 10_000_000]) };
    refused(&zip(&[part]), "a: has compressed data in too many small blocks");
}

/// Bits in the order of deflate.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    open: u64,
    count: u32,
}

impl Bits {
    fn put(&mut self, value: u64, count: u32) {
        self.open |= value << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.open as u8);
            self.open >>= 8;
            self.count -= 8;
        }
    }

    /// A block with tables of its own that holds nothing but its end.
    fn put_empty_block(&mut self) {
        self.put(0b100, 3);
        self.put(14 << 10, 14);
        for index in 0..18 {
            self.put(u64::from(index == 2 || index == 17), 3);
        }
        for (value, count) in [(1, 1), (127, 7), (1, 1), (107, 7), (0, 3)] {
            self.put(value, count);
        }
    }
}

#[test]
fn too_many_entries_are_counted() {
    let parts = (0..10_000).map(|it| stored(&it.to_string(), b"")).collect::<Vec<_>>();
    refused(&zip(&parts), "The ZIP has 10000 entries; at most 2000 are read");
    refused(&zip(&parts[..2_001]), "The ZIP has 2001 entries; at most 2000 are read");
    assert_eq!(read(&zip(&parts[..2_000])).unwrap().len(), 2_000);
    let lie = zip_with(&parts, &End { entries: Some(3), ..End::default() });
    refused(&lie, "The ZIP is damaged: its directory goes on after the 3 entries that its end counts");
    // Faults of every entry, with the longest names.
    let long = "../".repeat(2_700);
    let parts = (0..2_000).map(|it| Part { flags: 1, ..stored(&format!("{long}{it}"), b"") }).collect::<Vec<_>>();
    let bytes = zip(&parts);
    assert!(faults(&bytes[..]).iter().map(String::len).sum::<usize>() < 8_000_000);
}

#[test]
fn damaged_archives_never_panic_and_never_exceed_the_limits() {
    let text = b"some text that is worth deflating, some text ".repeat(20);
    let good = zip_with(
        &[stored("a", b"1"), deflated("b/c", &text), streamed("d", &text), stored("e/", b""), deflated("ä", b"")],
        &End { after: b"comment".to_vec(), ..End::default() },
    );
    let limits = ArchiveLimits { entries: 8, entry_bytes: 4_000, total_bytes: 10_000, ..LIMITS };
    let mut dice = Dice(21);
    let (mut opened, mut read_whole) = (0, 0);
    for _ in 0..20_000 {
        let bytes = mutated(&good, &mut dice);
        let Ok(archive) = Archive::open(&bytes, &limits) else { continue };
        opened += 1;
        assert!(archive.entries.len() <= 8);
        assert!(archive.entries.iter().map(|it| it.size).sum::<u32>() <= 10_000);
        let contents = archive.entries.iter().map(Entry::read).collect::<Vec<_>>();
        for (entry, contents) in archive.entries.iter().zip(&contents) {
            assert!(name::faults(entry.name, 1_024).is_empty());
            assert!(contents.as_ref().is_ok_and(|it| it.len() == entry.size as usize) || contents.is_err());
        }
        read_whole += usize::from(contents.iter().all(Result::is_ok));
    }
    assert!(opened > 1_000 && read_whole > 500 && read_whole < opened, "{opened} opened, {read_whole} whole");
}

/// The bytes with one to three small damages.
fn mutated(good: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..1 + dice.below(3) {
        let at = dice.below(bytes.len());
        match dice.below(6) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes.insert(at, dice.below(256) as u8),
            2 => {
                let end = (at + dice.below(40)).min(bytes.len() - 1);
                bytes.drain(at.min(end)..end);
            }
            3 => bytes[at] = dice.pick(&[0, 1, 0x7f, 0x80, 0xfe, 0xff]),
            4 => {
                let piece = bytes[at..(at + dice.below(60)).min(bytes.len())].to_vec();
                let to = dice.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => bytes[at] ^= 1 << dice.below(8),
        }
    }
    bytes
}

#[test]
fn a_written_archive_is_read_again_and_always_the_same() {
    let text = b"text ".repeat(1_000);
    let noise = (0..5_000).scan(Dice(7), |dice, _| Some(dice.below(256) as u8)).collect::<Vec<_>>();
    let files: [(&str, &[u8]); 5] = [
        ("a/empty", b""),
        ("a/text.md", &text),
        ("b.bin", &noise),
        ("ä/日本.py", b"x = 1\n"),
        ("zeros", &[0; 100_000]),
    ];
    let write = || {
        let mut writer = ArchiveWriter::new();
        for (name, contents) in files {
            writer.add(name, contents).unwrap();
        }
        writer.finish()
    };
    let bytes = write();
    opens(&bytes, &files);
    assert_eq!(bytes, write());
    // The text and the zeros are deflated, and the noise is stored.
    assert!((5_000..6_200).contains(&bytes.len()), "{}", bytes.len());
    opens(&ArchiveWriter::new().finish(), &[]);
}

#[test]
fn what_does_not_fit_into_an_archive_is_not_written() {
    let mut writer = ArchiveWriter::new();
    let fault = writer.add(&"x".repeat(65_536), b"").unwrap_err();
    assert_eq!(fault.message, "does not fit into a ZIP archive");
    opens(&writer.finish(), &[]);
}
