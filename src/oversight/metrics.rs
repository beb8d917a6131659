//! Metrics of the whole Worker, in the text format of Prometheus (0.0.4). No label names a workspace, because there may
//! be any number of workspaces, and their names are private.
//!
//! Where each workspace has an object, the object reports its figures to a directory in D1 after each upkeep, and the metrics
//! are the sums of the reports, and of what is in D1 itself: the built-in tools.

use super::directory::{self, LARGEST_DATABASE, Sample};
use super::store;
use crate::app::App;
use crate::db::Db;
use crate::error::{Error, Result};
use crate::execution::totals;
use crate::ids::WorkspaceId;
use crate::quota::{self, Usage};
use crate::registry;
use crate::settings::Storage;
use crate::time::Timestamp;

/// A metric family: its name without the prefix `pegboard_`, its type, its help text, and the label of its samples. An
/// empty label means that the samples have none.
type Family = (&'static str, &'static str, &'static str, &'static str);

const FAMILIES: [Family; 13] = [
    ("workspaces", "gauge", "Workspaces in which something was ever changed.", ""),
    ("tools", "gauge", "Tools with an active version and without, the built-ins too.", "active"),
    ("tool_versions", "gauge", "Versions of tools, active or not.", ""),
    ("agents", "gauge", "Agents.", ""),
    ("modules", "gauge", "Modules, by what their last discovery found.", "status"),
    ("mcp_servers", "gauge", "MCP servers of others, by what their last discovery found.", "status"),
    ("approvals_pending", "gauge", "Calls that wait for an approval.", ""),
    ("changes_total", "counter", "Rows of the change log.", ""),
    ("calls_total", "counter", "Calls of tools that have ended, by how they did.", "status"),
    ("stored_bytes", "gauge", "What all workspaces store, as their quotas count it.", "kind"),
    ("registration_refusals_24h", "gauge", "Registrations refused in the last 24 hours, by reason.", "reason"),
    ("database_bytes", "gauge", "The size of all databases together: D1, and the objects of workspaces.", ""),
    (LARGEST_DATABASE, "gauge", "The size of the largest database.", ""),
];

/// Returns all metrics, in one round trip, or in two if workspaces have objects. Only the operator of the Worker may see
/// them; the route checks this.
#[expect(
    clippy::disallowed_methods,
    reason = "the figures are of all workspaces; the route lets in their operator alone"
)]
pub async fn metrics(app: &App) -> Result<String> {
    let samples = match app.settings().storage {
        Some(Storage::Objects) => {
            let rows = app.directory()?.batch(&[directory::sums_of_reports()]).await?;
            let reported = rows.first().map(|it| it.all()).transpose()?.unwrap_or_default();
            together(count(app.db()?, app.now(), true).await?, reported)
        }
        _ => count(app.db()?, app.now(), true).await?,
    };
    let mut text = Exposition::default();
    text.family(&("info", "gauge", "The version that is deployed.", "version"));
    text.sample(env!("CARGO_PKG_VERSION"), 1);
    for family in &FAMILIES {
        text.family(family);
        for it in samples.iter().filter(|it| it.family == family.0) {
            text.sample(&it.label, it.value);
        }
    }
    Ok(text.text)
}

/// Reports the figures of the workspace whose object this is to the directory.
#[expect(clippy::disallowed_methods, reason = "upkeep has no caller")]
pub async fn report(app: &App, workspace: &WorkspaceId) -> Result<()> {
    // Every object has the built-in tools, which count once.
    let samples = count(app.db()?, app.now(), false).await?;
    app.directory()?.batch(&[directory::put_report(workspace, &samples, app.now())?]).await?;
    Ok(())
}

/// The samples of two places as one list.
fn together(mut samples: Vec<Sample>, others: Vec<Sample>) -> Vec<Sample> {
    for other in others {
        match samples.iter_mut().find(|it| it.family == other.family && it.label == other.label) {
            Some(it) if it.family == LARGEST_DATABASE => it.value = it.value.max(other.value),
            Some(it) => it.value += other.value,
            None => samples.push(other),
        }
    }
    samples
}

/// Counts everything in one database. Without `builtins`, the built-in tools are not counted.
async fn count(db: &Db, now: Timestamp, builtins: bool) -> Result<Vec<Sample>> {
    let statements = [
        store::everything(now, builtins),
        totals::ended_everywhere(),
        quota::find_everywhere(),
        registry::refusals_everywhere(now),
    ];
    let rows = db.batch(&statements).await?;
    let [everything, ended, usage, refusals] = &rows[..] else {
        return Err(Error::Internal(format!("the database gave {} answers to 4 statements", rows.len())));
    };
    let mut samples = Vec::new();
    let mut add = |family: &str, label: &str, value: u64| {
        samples.push(Sample { family: family.to_owned(), label: label.to_owned(), value });
    };
    for it in everything.figures()? {
        add(&it.name, it.more.as_deref().unwrap_or_default(), it.count.into());
    }
    let (uncounted, ended) =
        ended.figures()?.into_iter().partition::<Vec<_>, _>(|it| it.name == totals::UNCOUNTED_BYTES);
    for it in ended {
        add("calls_total", &it.name, it.count.into());
    }
    let Usage { files_bytes, calls_bytes } = quota::read(usage)?;
    let uncounted_bytes = uncounted.iter().map(|it| u64::from(it.count)).sum::<u64>();
    add("stored_bytes", "files", files_bytes);
    add("stored_bytes", "calls", calls_bytes + uncounted_bytes);
    for it in refusals.figures()? {
        add("registration_refusals_24h", &it.name, it.count.into());
    }
    add("database_bytes", "", refusals.database_bytes());
    add(LARGEST_DATABASE, "", refusals.database_bytes());
    Ok(samples)
}

/// The text of the response so far, and the name and label of the current family.
#[derive(Default)]
struct Exposition {
    text: String,
    name: &'static str,
    label: &'static str,
}

impl Exposition {
    /// Begins a family. Calls of [`Self::sample`] add its samples.
    fn family(&mut self, &(name, kind, help, label): &Family) {
        (self.name, self.label) = (name, label);
        self.text.push_str(&format!("# HELP pegboard_{name} {help}\n# TYPE pegboard_{name} {kind}\n"));
    }

    /// Adds a sample to the current family. `label` is the value of the family's label, if the family has a label.
    fn sample(&mut self, label: &str, value: u64) {
        let name = self.name;
        let line = match self.label {
            "" => format!("pegboard_{name} {value}\n"),
            key => format!("pegboard_{name}{{{key}=\"{}\"}} {value}\n", escaped(label)),
        };
        self.text.push_str(&line);
    }
}

/// Escapes the three characters that the value of a label may not hold as they are.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_told_before_its_samples() {
        let mut text = Exposition::default();
        text.family(&("a", "gauge", "What a is.", ""));
        text.sample("", 5);
        text.family(&("b", "gauge", "What b is.", "c"));
        text.sample("d", u64::MAX);
        assert_eq!(
            text.text,
            "# HELP pegboard_a What a is.\n# TYPE pegboard_a gauge\npegboard_a 5\n\
             # HELP pegboard_b What b is.\n# TYPE pegboard_b gauge\npegboard_b{c=\"d\"} 18446744073709551615\n"
        );
    }

    #[test]
    fn samples_of_two_places_are_added_up() {
        let sample = |family: &str, label: &str, value| Sample { family: family.into(), label: label.into(), value };
        let own = vec![sample("tools", "true", 6), sample("agents", "", 0), sample(LARGEST_DATABASE, "", 5)];
        let reported = vec![sample("tools", "true", 2), sample("tools", "false", 1), sample(LARGEST_DATABASE, "", 3)];
        let all = vec![
            sample("tools", "true", 8),
            sample("agents", "", 0),
            sample(LARGEST_DATABASE, "", 5),
            sample("tools", "false", 1),
        ];
        assert_eq!(together(own, reported), all);
    }

    #[test]
    fn labels_are_escaped() {
        assert_eq!(escaped("a\\b\"c\nd"), r#"a\\b\"c\nd"#);
    }
}
