//! The columns of Hugging Face's `corbt/enron-emails`, which ART-E uses: `message_id, subject, from, to[], cc[], bcc[],
//! date, body, file_name`. The file is read page by page, so that the size of row groups does not matter.

use super::{Content, Found, Visit};
use crate::mail::{Mail, Unusable};
use crate::parse::date_of;
use anyhow::{Context, Result, bail};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const COLUMNS: [&str; 9] = ["message_id", "subject", "from", "to", "cc", "bcc", "date", "body", "file_name"];

/// The parquet files of a folder, in the order of their names.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let mut files: Vec<_> =
        listed.into_iter().filter(|path| path.extension().is_some_and(|it| it == "parquet")).collect();
    files.sort();
    Ok(files)
}

pub fn count(paths: &[PathBuf]) -> Result<u64> {
    paths.iter().map(|path| Ok(u64::try_from(open(path)?.metadata().file_metadata().num_rows())?)).sum()
}

pub fn read(paths: &[PathBuf], skip: u64, visit: Visit) -> Result<()> {
    let mut at = 0;
    for path in paths {
        let file = open(path)?;
        let unit = date_unit(&file, path)?;
        for group in 0..file.num_row_groups() {
            let group = file.get_row_group(group)?;
            let rows = u64::try_from(group.metadata().num_rows())?;
            if at + rows <= skip {
                at += rows;
                continue;
            }
            for row in group.get_row_iter(None)? {
                let row = row.with_context(|| format!("{} is damaged", path.display()))?;
                at += 1;
                if at > skip && visit(found(row, at, unit)).is_break() {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

fn open(path: &Path) -> Result<SerializedFileReader<File>> {
    let failed = || format!("cannot read {}", path.display());
    let file = SerializedFileReader::new(File::open(path).with_context(failed)?).with_context(failed)?;
    let fields = file.metadata().file_metadata().schema().get_fields();
    for column in COLUMNS {
        let is_there = fields.iter().any(|field| field.name() == column);
        is_there.then_some(()).with_context(|| format!("{} has no column `{column}`", path.display()))?;
    }
    Ok(file)
}

fn found(row: Row, at: u64, unit: Option<TimeUnit>) -> Found {
    let mut mail = Mail::default();
    let mut file = String::new();
    let mut lists: [Vec<String>; 3] = Default::default();
    for (column, field) in row.into_columns() {
        match column.as_str() {
            "message_id" => mail.message_id = text(field),
            "subject" => mail.subject = unfolded(&text(field)),
            "from" => mail.sender = text(field),
            "to" => lists[0] = texts(field),
            "cc" => lists[1] = texts(field),
            "bcc" => lists[2] = texts(field),
            "date" => mail.date = date(&field, unit),
            "body" => mail.body = text(field).replace("\r\n", "\n"),
            "file_name" => file = text(field),
            _ => {}
        }
    }
    mail.recipients = lists.concat();
    let bytes = mail.subject.len() + mail.body.len() + mail.recipients.iter().map(String::len).sum::<usize>();
    let checked: Result<Mail, Unusable> = mail.checked();
    Found { file, content: Content::Parsed(Box::new(checked), bytes as u64), at }
}

/// A subject keeps the folds of its header there. The importer turns a fold into one space, as it does for mail itself.
fn unfolded(subject: &str) -> String {
    subject.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn text(field: Field) -> String {
    match field {
        Field::Str(text) => text,
        Field::Bytes(bytes) => String::from_utf8_lossy(bytes.data()).into_owned(),
        _ => String::new(),
    }
}

fn texts(field: Field) -> Vec<String> {
    match field {
        Field::ListInternal(list) => list.elements().iter().cloned().map(text).collect(),
        _ => Vec::new(),
    }
}

/// The unit of dates, by the column's type: the reader returns dates in nanoseconds as bare numbers.
fn date_unit(file: &SerializedFileReader<File>, path: &Path) -> Result<Option<TimeUnit>> {
    let fields = file.metadata().file_metadata().schema().get_fields();
    let Some(column) = fields.iter().find(|field| field.name() == "date" && field.is_primitive()) else {
        return Ok(None);
    };
    let info = column.get_basic_info();
    let is_bare = column.get_physical_type() == Type::INT64 && info.converted_type() == ConvertedType::NONE;
    match info.logical_type_ref() {
        Some(LogicalType::Timestamp(timestamp)) => Ok(Some(timestamp.unit)),
        _ if is_bare => bail!("the column `date` of {} has numbers that are no timestamps", path.display()),
        _ => Ok(None),
    }
}

fn date(field: &Field, unit: Option<TimeUnit>) -> Option<String> {
    let seconds = match (field, unit) {
        (Field::TimestampMillis(millis), _) => millis.div_euclid(1_000),
        (Field::TimestampMicros(micros), _) => micros.div_euclid(1_000_000),
        (Field::Long(nanos), Some(TimeUnit::NANOS)) => nanos.div_euclid(1_000_000_000),
        _ => return None,
    };
    Some(date_of(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::data_type::{ByteArrayType, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::ops::ControlFlow;
    use std::sync::Arc;

    /// A file of one message, with a date of this type.
    fn file(name: &str, date_type: &str, date: i64) -> PathBuf {
        let path = std::env::temp_dir().join(format!("pegboard-import-{}-{name}.parquet", std::process::id()));
        let column = |name: &&str| match *name {
            "date" => format!("required int64 date {date_type};"),
            other => format!("required binary {other} (UTF8);"),
        };
        let schema = format!("message schema {{ {} }}", COLUMNS.iter().map(column).collect::<String>());
        let schema = Arc::new(parse_message_type(&schema).unwrap());
        let mut writer = SerializedFileWriter::new(File::create(&path).unwrap(), schema, Default::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for name in COLUMNS {
            let mut column = group.next_column().unwrap().unwrap();
            match name {
                "date" => column.typed::<Int64Type>().write_batch(&[date], None, None).unwrap(),
                _ => column.typed::<ByteArrayType>().write_batch(&["<1@x>".into()], None, None).unwrap(),
            };
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        path
    }

    fn date_in(path: PathBuf) -> Result<Option<String>> {
        let mut date = None;
        let done = read(std::slice::from_ref(&path), 0, &mut |found| {
            if let Content::Parsed(mail, _) = found.content {
                date = mail.unwrap().date;
            }
            ControlFlow::Continue(())
        });
        fs::remove_file(path).unwrap();
        done.map(|()| date)
    }

    #[test]
    fn dates_are_read_in_the_unit_of_their_column() {
        let seconds = 989_899_080;
        for (unit, in_a_second) in [("MILLIS", 1_000), ("MICROS", 1_000_000), ("NANOS", 1_000_000_000)] {
            let path = file(unit, &format!("(TIMESTAMP({unit},true))"), seconds * in_a_second);
            assert_eq!(date_in(path).unwrap().unwrap(), "2001-05-15T03:58:00Z", "{unit}");
        }
        let refused = date_in(file("bare", "", seconds)).unwrap_err().to_string();
        assert!(refused.contains("numbers that are no timestamps"), "{refused}");
    }
}
