//! The filter of a list of tools, as one expression over the index `tool_search`. The migration 0004_registry.sql says
//! which words a tool has in its `facets`.

use super::tool::{ExecutionMode, ResourceClass, Risk, Source};
use crate::hex;
use crate::ids::{ToolId, WorkspaceId};
use crate::search_text::FullTextQuery;

/// All conditions must hold. A condition that is not given holds for every tool.
#[derive(Default)]
pub struct ToolFilter {
    pub category: Option<String>,
    pub max_risk: Option<Risk>,
    /// Only tools that need no capability outside this list.
    pub capabilities: Option<Vec<String>>,
    pub execution_mode: Option<ExecutionMode>,
    pub resource_class: Option<ResourceClass>,
    pub credential: Option<String>,
    pub side_effect: Option<String>,
    pub source: Option<Source>,
    pub ids: Option<Vec<ToolId>>,
    /// The search text, matched against id, name and description.
    pub text: Option<FullTextQuery>,
    pub include_inactive: bool,
}

impl ToolFilter {
    /// Whether the filter has no condition. The pattern names every field, so that a new one cannot be forgotten.
    pub fn selects_all_active(&self) -> bool {
        matches!(
            self,
            Self {
                category: None,
                max_risk: None,
                capabilities: None,
                execution_mode: None,
                resource_class: None,
                credential: None,
                side_effect: None,
                source: None,
                ids: None,
                text: None,
                include_inactive: false,
            }
        )
    }

    /// Returns the FTS5 expression without the condition for capabilities, which needs a query of the database. Returns
    /// none if no tool can match.
    pub fn to_fts5(&self, workspace: &WorkspaceId) -> Option<String> {
        let here = if self.include_inactive { 'w' } else { 'a' };
        let mut all = vec![format!("({here} OR {here}{})", hex::encode(workspace.as_str().as_bytes()))];
        let word = |kind: char, text: &str| format!("{kind}{}", hex::encode(text.as_bytes()));

        all.extend(self.category.as_deref().map(|it| word('c', it)));
        all.extend(self.credential.as_deref().map(|it| word('d', it)));
        all.extend(self.side_effect.as_deref().map(|it| word('e', it)));
        all.extend(self.source.map(|it| format!("s{it}")));
        all.extend(self.execution_mode.map(|it| format!("m{it}")));
        all.extend(self.resource_class.map(|it| format!("z{it}")));
        if let Some(max_risk) = self.max_risk {
            all.push(any(max_risk.and_below().map(|it| format!("r{it}")))?);
        }
        if let Some(ids) = &self.ids {
            all.push(any(ids.iter().map(|it| word('i', it.as_str())))?);
        }
        let facets = format!("facets : ({})", all.join(" AND "));
        match &self.text {
            None => Some(facets),
            Some(text) => {
                let wanted = text.fts5()?;
                Some(format!("{facets} AND {{tool_id name description}} : ({wanted})"))
            }
        }
    }
}

fn any(words: impl Iterator<Item = String>) -> Option<String> {
    let words = words.collect::<Vec<_>>();
    (!words.is_empty()).then(|| format!("({})", words.join(" OR ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(filter: ToolFilter, expected: Option<&str>) {
        let workspace = WorkspaceId::parse("ab").unwrap();
        assert_eq!(filter.to_fts5(&workspace).as_deref(), expected);
    }

    #[test]
    fn without_conditions_the_workspace_and_the_builtins() {
        check(ToolFilter::default(), Some("facets : ((a OR a6162))"));
        check(ToolFilter { include_inactive: true, ..Default::default() }, Some("facets : ((w OR w6162))"));
    }

    #[test]
    fn conditions_are_words_that_must_all_be_there() {
        check(
            ToolFilter {
                category: Some("a b".into()),
                max_risk: Some(Risk::Low),
                execution_mode: Some(ExecutionMode::Remote),
                ids: Some(vec![ToolId::parse("x").unwrap(), ToolId::parse("y").unwrap()]),
                ..Default::default()
            },
            Some("facets : ((a OR a6162) AND c612062 AND mremote AND (rsafe OR rlow) AND (i78 OR i79))"),
        );
    }

    #[test]
    fn search_text_looks_only_at_what_people_read() {
        check(
            ToolFilter { text: FullTextQuery::parse("mail -draft", 1).ok(), ..Default::default() },
            Some(r#"facets : ((a OR a6162)) AND {tool_id name description} : ((("mail")) NOT ("draft"))"#),
        );
    }

    #[test]
    fn what_can_match_nothing_is_not_asked() {
        check(ToolFilter { text: FullTextQuery::parse("!!", 1).ok(), ..Default::default() }, None);
        check(ToolFilter { ids: Some(vec![]), ..Default::default() }, None);
    }
}
