//! The answer to a dry run of a restore: which subjects it would create, change and delete.

use crate::changes::{Change, Effect};
use serde::Serialize;
use utoipa::ToSchema;

/// How many subjects a list names.
const MAX_SUBJECTS: usize = 100;

/// Whether a restore is written, or only told.
#[derive(Clone, Copy, PartialEq)]
pub enum RestoreMode {
    Write,
    Preview,
}

/// What a restore would do.
#[derive(Serialize, ToSchema)]
pub struct RestorePreview {
    /// Always true: nothing was written.
    dry_run: bool,
    created: SubjectList,
    changed: SubjectList,
    deleted: SubjectList,
}

/// Subjects, as the change log names them.
#[derive(Default, Serialize, ToSchema)]
pub struct SubjectList {
    count: u32,
    /// The first 100.
    #[schema(max_items = 100, example = json!(["tool:word_count@1.0.0"]))]
    subjects: Vec<String>,
}

impl RestorePreview {
    pub fn new() -> Self {
        let [created, changed, deleted] = std::array::from_fn(|_| SubjectList::default());
        Self { dry_run: true, created, changed, deleted }
    }

    pub fn of(changes: &[Change]) -> Self {
        let mut preview = Self::new();
        changes.iter().for_each(|it| preview.add(it));
        preview
    }

    pub fn add(&mut self, change: &Change) {
        let list = match change.effect() {
            Effect::Created => &mut self.created,
            Effect::Changed => &mut self.changed,
            Effect::Deleted => &mut self.deleted,
        };
        list.count += 1;
        if list.subjects.len() < MAX_SUBJECTS {
            list.subjects.push(change.subject().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::Action;
    use serde_json::json;

    #[test]
    fn subjects_are_counted_and_the_first_are_named() {
        let change = |index: usize| Change::new(Action::Restore, format!("agent:{index}"));
        let mut changes = (0..150).map(|it| change(it).to(&1).unwrap()).collect::<Vec<_>>();
        changes.push(change(150).from(&1).unwrap().to(&2).unwrap());
        changes.push(change(151).from(&1).unwrap());
        let told = serde_json::to_value(RestorePreview::of(&changes)).unwrap();
        assert_eq!(
            (&told["created"]["count"], told["created"]["subjects"].as_array().unwrap().len()),
            (&json!(150), 100)
        );
        assert_eq!(told["changed"], json!({"count": 1, "subjects": ["agent:150"]}));
        assert_eq!(told["deleted"], json!({"count": 1, "subjects": ["agent:151"]}));
    }
}
