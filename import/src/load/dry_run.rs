//! An import without writing.

use super::Plan;
use super::reader::{self, Outcome};
use crate::mail::Unusable;
use crate::report::Report;
use crate::summary::Summary;
use anyhow::Result;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// The counts that an import of this source into an empty database would have.
pub fn dry_run(plan: &Plan, report: &Path) -> Result<Summary> {
    let mut report = Report::create(report)?;
    let mut summary = Summary::begin(0);
    let mut progress = plan.bar()?;
    let mut seen = HashSet::new();
    let mut inboxes = HashSet::new();
    reader::read(plan, 0, |item| {
        progress.at(item.at, summary.read, summary.bytes);
        summary.take(item.bytes);
        let unusable = match item.outcome {
            Outcome::Elsewhere => {
                summary.elsewhere += 1;
                return Ok(());
            }
            Outcome::Unusable(unusable) => unusable,
            Outcome::Wanted { mail, owner } => {
                // Hashes, so that a corpus of any size fits. It is very unlikely that two of a million messages share a
                // hash.
                let mut hasher = DefaultHasher::new();
                mail.message_id.hash(&mut hasher);
                if seen.insert(hasher.finish()) {
                    summary.loaded += 1;
                    let of = plan.inboxes.of(&owner, &mail.sender, &mail.recipients);
                    summary.entries += of.len() as u64;
                    inboxes.extend(of);
                    return Ok(());
                }
                Unusable::Duplicate(mail.message_id)
            }
        };
        summary.skip(&unusable);
        report.row([unusable.reason(), &item.file, &unusable.to_string()])
    })?;
    report.finish()?;
    summary.inboxes = inboxes.len() as u64;
    progress.finish(&format!("{} messages", summary.read));
    Ok(summary)
}
