//! The checks of a whole archive. All faults are collected, so that the author can mend them at once.

use super::end_record::EndRecord;
use super::headers::{CentralHeader, LocalHeader};
use super::{ArchiveFault, ArchiveLimits, Entry, name};
use std::cmp::Ordering;
use std::ops::Range;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// The bits of a mode that are the type of a file, and the types that are read. Zero is said by other systems than Unix.
const TYPE_BITS: u32 = 0o170_000;
const LINK_TYPE: u32 = 0o120_000;
const READ_TYPES: [u32; 3] = [0, 0o100_000, 0o040_000];

const ENCRYPTED: &str = "is encrypted";
const PATCH: &str = "is a patch of another file";
const ZIP64: &str = "is a zip64 entry, which is not read";

pub fn entries_of<'a>(bytes: &'a [u8], limits: &ArchiveLimits) -> Result<Vec<Entry<'a>>, Vec<ArchiveFault>> {
    let refuse = |message| Err(vec![ArchiveFault { entry: None, message }]);
    if bytes.len() > limits.archive_bytes {
        return refuse(format!("The ZIP has {} bytes; at most {} are read", bytes.len(), limits.archive_bytes));
    }
    let end = match EndRecord::find(bytes) {
        Ok(end) => end,
        Err(message) => return refuse(message),
    };
    if end.entries > limits.entries {
        return refuse(format!("The ZIP has {} entries; at most {} are read", end.entries, limits.entries));
    }
    let mut check = Check { limits, contents: &bytes[..end.directory_start], faults: Vec::new(), found: Vec::new() };
    check.directory(&bytes[end.directory_start..end.directory_end], end.entries);
    check.total();
    check.names();
    check.overlaps();
    if check.faults.is_empty() { Ok(check.found.into_iter().map(|it| it.entry).collect()) } else { Err(check.faults) }
}

/// An entry, and the bytes that it occupies with its local header.
struct Found<'a> {
    entry: Entry<'a>,
    span: Range<usize>,
}

struct Check<'a, 'l> {
    limits: &'l ArchiveLimits,
    /// The bytes before the directory.
    contents: &'a [u8],
    faults: Vec<ArchiveFault>,
    /// The entries whose names and places could be read.
    found: Vec<Found<'a>>,
}

impl<'a> Check<'a, '_> {
    fn add(&mut self, entry: &str, message: impl Into<String>) {
        self.faults.push(ArchiveFault { entry: Some(name::shown(entry.as_bytes())), message: message.into() });
    }

    fn add_whole(&mut self, message: String) {
        self.faults.push(ArchiveFault { entry: None, message });
    }

    /// Checks each header of the directory, which must hold as many as the end record says.
    fn directory(&mut self, mut rest: &'a [u8], entries: usize) {
        for number in 1..=entries {
            let Some(header) = CentralHeader::read(rest) else {
                return self.add_whole(format!(
                    "The ZIP is damaged: entry {number} of {entries} of its directory cannot be read"
                ));
            };
            rest = rest.get(header.length..).unwrap_or_default();
            self.entry(&header);
        }
        if !rest.is_empty() {
            self.add_whole(format!(
                "The ZIP is damaged: its directory goes on after the {entries} entries that its end counts"
            ));
        }
    }

    fn entry(&mut self, header: &CentralHeader<'a>) {
        let mut faults = Vec::new();
        let name = std::str::from_utf8(header.name).ok();
        match name {
            Some(name) => faults.extend(name::faults(name, self.limits.name_bytes)),
            None => faults.push("has a name that is not UTF-8".to_owned()),
        }
        faults.extend(self.header_faults(header));
        match self.place(header) {
            Ok(span) => {
                let body = &self.contents[span.end - header.figures.compressed_size as usize..span.end];
                let entry = Entry {
                    name: name.unwrap_or_default(),
                    size: header.figures.size,
                    crc32: header.figures.crc32,
                    is_deflated: header.method == DEFLATED,
                    body,
                };
                self.found.push(Found { entry, span });
            }
            // Both headers may say the same.
            Err(fault) if faults.iter().any(|it| it == fault) => {}
            Err(fault) => faults.push(fault.to_owned()),
        }
        let shown = name::shown(header.name);
        self.faults.extend(faults.into_iter().map(|message| ArchiveFault { entry: Some(shown.clone()), message }));
    }

    /// What is wrong with an entry by its header in the directory alone.
    fn header_faults(&self, header: &CentralHeader) -> Vec<String> {
        let figures = header.figures;
        let file_type = header.mode & TYPE_BITS;
        // Encryption makes contents longer.
        let has_two_sizes = header.method == STORED && figures.size != figures.compressed_size;
        let has_contents = header.name.ends_with(b"/") && figures.size > 0;
        let rules = [
            (header.flags.is_encrypted(), ENCRYPTED),
            (header.flags.is_patch(), PATCH),
            (header.disk != 0, "lies on another disk of the archive"),
            (file_type == LINK_TYPE, "is a symbolic link"),
            (file_type != LINK_TYPE && !READ_TYPES.contains(&file_type), "is neither a file nor a directory"),
            (has_contents, "is a directory with contents"),
            (has_two_sizes && !header.flags.is_encrypted(), "is stored, but has two sizes that differ"),
        ];
        let mut faults = rules.into_iter().filter(|it| it.0).map(|it| it.1.to_owned()).collect::<Vec<_>>();
        if ![STORED, DEFLATED].contains(&header.method) {
            let method = header.method;
            faults.push(format!("is compressed by method {method}; stored (0) and deflated (8) entries are read"));
        }
        if !header.is_zip64() && figures.size > self.limits.entry_bytes {
            faults.push(format!("has {} bytes; at most {} are read", figures.size, self.limits.entry_bytes));
        }
        faults
    }

    /// The bytes of an entry from its local header on, which must agree with the directory.
    fn place(&self, header: &CentralHeader) -> Result<Range<usize>, &'static str> {
        if header.is_zip64() {
            return Err(ZIP64);
        }
        let start = header.offset as usize;
        let local = self.contents.get(start..).and_then(LocalHeader::read).ok_or("is not where the directory says")?;
        if local.name != header.name {
            return Err("has another name in the directory than before its contents");
        }
        if local.flags.is_encrypted() {
            return Err(ENCRYPTED);
        }
        if local.flags.is_patch() {
            return Err(PATCH);
        }
        if local.method != header.method {
            return Err("has another method in the directory than before its contents");
        }
        if !local.flags.has_later_figures() && local.figures != header.figures {
            return Err(if local.figures.is_zip64() {
                ZIP64
            } else {
                "has other sizes or another checksum in the directory than before its contents"
            });
        }
        let end =
            start.checked_add(local.length).and_then(|it| it.checked_add(header.figures.compressed_size as usize));
        end.filter(|end| *end <= self.contents.len())
            .map(|end| start..end)
            .ok_or("reaches beyond the contents of the ZIP")
    }

    fn total(&mut self) {
        let total = self.found.iter().map(|it| u64::from(it.entry.size)).sum::<u64>();
        let limit = self.limits.total_bytes;
        if total > limit {
            self.add_whole(format!("The ZIP inflates to {total} bytes; at most {limit} are read"));
        }
    }

    /// No name comes twice, and no file is a directory too.
    fn names(&mut self) {
        let mut names = self.found.iter().map(|it| it.entry.name).filter(|it| !it.is_empty()).collect::<Vec<_>>();
        names.sort_by(|one, other| in_order_of_tree(one, other));
        for pair in names.windows(2) {
            let [one, other] = [pair[0], pair[1]];
            let [path, other_path] = [one, other].map(|it| it.strip_suffix('/').unwrap_or(it));
            if one == other {
                self.add(one, "comes twice");
            } else if path == other_path || !one.ends_with('/') && is_within(other, path) {
                self.add(path, format!("is a file, and a directory by `{}`", name::shown(other.as_bytes())));
            }
        }
    }

    /// No byte belongs to two entries: a small archive could otherwise hold one large file under many names.
    fn overlaps(&mut self) {
        let mut sorted = self.found.iter().collect::<Vec<_>>();
        sorted.sort_by_key(|it| (it.span.start, it.span.end));
        let mut faults = Vec::new();
        let mut last: Option<&Found> = None;
        for found in sorted {
            if let Some(before) = last.filter(|it| it.span.end > found.span.start) {
                let other = name::shown(before.entry.name.as_bytes());
                faults.push((found.entry.name, format!("shares bytes of the archive with `{other}`")));
            }
            if last.is_none_or(|it| it.span.end < found.span.end) {
                last = Some(found);
            }
        }
        for (entry, message) in faults {
            self.add(entry, message);
        }
    }
}

fn is_within(name: &str, directory: &str) -> bool {
    name.strip_prefix(directory).is_some_and(|it| it.starts_with('/'))
}

/// The order in which a directory stands directly before everything in it: `/` comes before every other character.
fn in_order_of_tree(one: &str, other: &str) -> Ordering {
    let rank = |byte: u8| if byte == b'/' { 0 } else { u16::from(byte) + 1 };
    one.bytes().map(rank).cmp(other.bytes().map(rank))
}
