//! Archives that lie, attack, or are none.

use super::{bundle, faults, import, kit, manifest, refused, stored, timed, told};
use crate::harness::{ZipEntry, open, workspace, zip, zip_that_counts};
use std::time::Duration;

const MIB: usize = 1024 * 1024;

/// A sound bundle, and these entries besides.
fn with(entries: impl IntoIterator<Item = ZipEntry>) -> Vec<u8> {
    let manifest = ZipEntry::stored("toolset.yaml", manifest("1.0.0", ""));
    zip(&std::iter::once(manifest).chain(entries).collect::<Vec<_>>())
}

#[test]
fn names_that_lead_out_are_refused() {
    let client = workspace();
    let entry = |name: &str| ZipEntry::stored(name, "x");
    let names = ["../a", "a/../../b", "/etc/passwd", "a\\b.py", "C:/x", "a//b", "./a", "a\0b", "a\nb", "a/./b"];
    let faults = faults(&client, &with(names.map(entry)));
    let all = faults.iter().map(told).collect::<Vec<_>>();
    for (name, reason) in [
        ("../a:", "`..`"),
        ("a/../../b:", "`..`"),
        ("/etc/passwd:", "absolute"),
        ("a\\b.py:", "backslash"),
        ("C:/x:", "drive letter"),
        ("a//b:", "empty part"),
        ("./a:", "`.`"),
        ("a\\u{0}b:", "control"),
        ("a\\nb:", "control"),
        ("a/./b:", "`.`"),
    ] {
        assert!(all.iter().any(|it| it.starts_with(name) && it.contains(reason)), "{name} {reason}: {all:#?}");
    }
    let long = "x".repeat(1_025);
    refused(&client, &with([entry(&long)]), &["has a name of 1025 bytes"]);
    let foreign = ZipEntry { name: b"caf\xe9.py".to_vec(), ..entry("x") };
    refused(&client, &with([foreign]), &["has a name that is not UTF-8"]);
}

#[test]
fn what_is_no_plain_file_is_refused() {
    let client = workspace();
    let entry = |name: &str| ZipEntry::stored(name, "/etc/passwd");
    refused(
        &client,
        &with([
            ZipEntry { mode: 0o120_777, ..entry("link") },
            ZipEntry { mode: 0o060_644, ..entry("device") },
            ZipEntry { mode: 0o010_644, ..entry("pipe") },
            ZipEntry { flags: 1, ..entry("secret") },
            ZipEntry { flags: 1 << 6 | 1, ..entry("strong") },
            ZipEntry { flags: 1 << 5, ..entry("patch") },
            ZipEntry { method: 12, ..entry("bzip2") },
            ZipEntry { method: 14, ..entry("lzma") },
            ZipEntry { method: 99, ..entry("aes") },
            entry("folder/"),
        ]),
        &[
            "link:- - is a symbolic link",
            "device:- - is neither a file nor a directory",
            "pipe:- - is neither a file nor a directory",
            "secret:- - is encrypted",
            "strong:- - is encrypted",
            "patch:- - is a patch",
            "bzip2:- - is compressed by method 12",
            "lzma:- - is compressed by method 14",
            "aes:- - is compressed by method 99",
            "folder/:- - is a directory with contents",
        ],
    );
}

#[test]
fn archives_that_contradict_themselves_are_refused() {
    let client = workspace();
    let entry = |name: &str| ZipEntry::stored(name, "print()");
    let wrong = ZipEntry { crc32: 1, ..entry("a.py") };
    refused(&client, &with([wrong]), &["a.py:- - has a wrong checksum"]);
    let other_name = ZipEntry { local_name: Some(b"b.py".to_vec()), ..entry("a.py") };
    refused(&client, &with([other_name]), &["a.py:- - has another name in the directory"]);
    let sizes = ZipEntry { local_figures: Some([0, 7, 9]), ..entry("a.py") };
    refused(&client, &with([sizes]), &["a.py:- - has other sizes or another checksum"]);
    let two = ZipEntry { size: 9, ..entry("a.py") };
    refused(&client, &with([two]), &["a.py:- - is stored, but has two sizes"]);
    refused(&client, &with([entry("a.py"), entry("a.py")]), &["a.py:- - comes twice"]);
    refused(&client, &with([entry("a"), entry("a/b")]), &["a:- - is a file, and a directory by `a/b`"]);
    let beyond = ZipEntry { offset: Some(0x7fff_0000), ..entry("a.py") };
    refused(&client, &with([beyond]), &["a.py:- - is not where the directory says"]);

    // One body under many names.
    let mut many = vec![ZipEntry::stored("toolset.yaml", manifest("1.0.0", "")), entry("a.py")];
    let place = zip(&many[..1]).len() - 22 - 46 - "toolset.yaml".len();
    many.push(ZipEntry { offset: Some(u32::try_from(place).unwrap()), ..entry("a.py") });
    many[2].name = b"b.py".to_vec();
    many[2].local_name = Some(b"a.py".to_vec());
    refused(&client, &zip(&many), &["b.py:- - has another name"]);
    many[2].name = b"a.py".to_vec();
    refused(&client, &zip(&many), &["a.py:- - comes twice", "a.py:- - shares bytes of the archive"]);

    let sound = bundle(&[("toolset.yaml", &manifest("1.0.0", ""))]);
    refused(&client, &sound[..sound.len() - 5], &["The ZIP is cut off"]);
    refused(&client, &[b"#!/bin/sh\n".as_slice(), &sound].concat(), &["bytes before its beginning"]);
    refused(&client, &zip_that_counts(&[entry("toolset.yaml")], 2), &["entry 2 of 2"]);
    refused(&client, &zip_that_counts(&[entry("toolset.yaml"), entry("a.py")], 1), &["goes on after the 1 entries"]);
    refused(&client, b"", &["The file is no ZIP archive"]);
    refused(&client, b"{\"name\": \"kit\"}", &["The file is no ZIP archive"]);
}

#[test]
fn zip64_is_refused_whatever_it_says() {
    let client = workspace();
    let entry = |name: &str| ZipEntry::stored(name, "print()");
    let lies = [
        ZipEntry { size: u32::MAX, ..entry("size.py") },
        ZipEntry { compressed_size: u32::MAX, ..entry("compressed.py") },
        ZipEntry { extra: [&[1, 0, 8, 0][..], &[0; 8]].concat(), ..entry("extra.py") },
        ZipEntry { local_figures: Some([0, u32::MAX, u32::MAX]), ..entry("local.py") },
    ];
    for lie in lies {
        let name = String::from_utf8(lie.name.clone()).unwrap();
        let faults = faults(&client, &with([lie])).iter().map(told).collect::<Vec<_>>();
        assert!(faults.iter().any(|it| it.starts_with(&name) && it.contains("zip64")), "{faults:#?}");
    }
    let mut sound = bundle(&[("toolset.yaml", &manifest("1.0.0", ""))]);
    let end = sound.split_off(sound.len() - 22);
    let locator = [b"PK\x06\x07".as_slice(), &[0; 16]].concat();
    refused(&client, &[sound, locator, end].concat(), &["is a zip64 archive"]);
}

#[test]
fn bombs_are_refused_before_they_grow() {
    let client = workspace();
    // One file of more than 10 MiB, and many of nearly as much.
    let large = ZipEntry::deflated("large.bin", vec![0; 10 * MIB + 1]);
    refused(&client, &with([large]), &["large.bin:- - has 10485761 bytes; at most 10485760 are read"]);
    let nearly = ZipEntry::deflated("x", vec![0; 10 * MIB]);
    let many = (0..7).map(|it| ZipEntry { name: format!("{it}.bin").into_bytes(), ..nearly.clone() });
    refused(&client, &with(many), &["The ZIP inflates to 734"]);
    // Declared small, and large in truth; and the other way round.
    let more = ZipEntry { size: 10, local_figures: None, ..nearly.clone() };
    refused(&client, &with([more]), &["x:- - has more bytes than the archive declares"]);
    let less = ZipEntry { size: 10 * 1024 * 1024, ..ZipEntry::deflated("x", "few") };
    refused(&client, &with([less]), &["x:- - has fewer bytes than the archive declares"]);
    // A ZIP in a ZIP is a file like any other.
    let inner = with([nearly]);
    let (took, answer) = timed(|| import(&client, "?dry_run=true", &with([ZipEntry::deflated("inner.zip", inner)])));
    answer.ok();
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn too_many_entries_are_refused() {
    let client = workspace();
    let files = |count: usize| (0..count).map(|it| ZipEntry::stored(&format!("assets/{it}.txt"), "x"));
    refused(&client, &with(files(10_000)), &["The ZIP has 10001 entries; at most 2000 are read"]);
    refused(&client, &with(files(2_000)), &["The ZIP has 2001 entries"]);
    let most = import(&client, "?dry_run=true", &with(files(1_999))).ok();
    assert_eq!(most["files"].as_array().unwrap().len(), 1_999);
    let before = stored(open(), &client);
    import(&client, "", &vec![0; 16 * MIB + 1]).refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(stored(open(), &client), before);
}

#[test]
fn a_bundle_has_one_manifest() {
    let client = workspace();
    let text = manifest("1.0.0", "");
    refused(&client, &zip(&[]), &["The ZIP has no files"]);
    refused(&client, &bundle(&[("main.py", "x = 1")]), &["The ZIP has no toolset.yaml"]);
    refused(&client, &bundle(&[("toolset.yaml", &text), ("toolset.yml", &text)]), &["two manifests"]);
    refused(&client, &bundle(&[("a/toolset.yaml", &text), ("b/x.py", "")]), &["it has a/toolset.yaml"]);
    refused(&client, &bundle(&[("Toolset.yaml", &text)]), &["it has Toolset.yaml"]);
}

#[test]
fn every_fault_of_an_archive_is_told_at_once() {
    let client = workspace();
    let entries = (0..150).map(|it| ZipEntry::stored(&format!("../{it}"), "x"));
    let faults = faults(&client, &with(entries));
    assert_eq!(faults.len(), 101);
    assert_eq!(faults[100]["message"], "and 50 more");
    let refused = import(&client, "", &with((0..3).map(|it| ZipEntry::stored(&format!("../{it}"), "x"))));
    assert_eq!(refused.refused(400, "VALIDATION_ERROR").message, "../0: has `..` in its name; and 2 more");
}

#[test]
fn a_damaged_bundle_is_refused_wherever_it_is_damaged() {
    let client = workspace();
    let sound = kit("1.0.0");
    let before = stored(open(), &client);
    for at in (0..sound.len()).step_by(7) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x55;
        let answer = import(&client, "?dry_run=true", &damaged);
        assert!([200, 400].contains(&answer.status), "at {at}: {}", answer.text);
    }
    assert_eq!(stored(open(), &client), before);
}
