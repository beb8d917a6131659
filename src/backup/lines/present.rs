//! The present registry in the order of a backup's lines, page after page.

use crate::agents::{self, AgentOut, AttachmentRecord};
use crate::backup::restore::overtaken;
use crate::backup::store;
use crate::callers::Scope;
use crate::changes;
use crate::db::{Rows, Statement};
use crate::error::Result;
use crate::federation::{ServerRecord, ServerSettings};
use crate::ids::{Version, WorkspaceId};
use crate::modules::{ModuleRecord, ModuleSettings};
use crate::registry::credential::Credential;
use crate::registry::{self, Tool};
use crate::toolsets::{self, OverrideRecord, ToolsetRecord};
use crate::upstreams;
use std::collections::VecDeque;

const CREDENTIALS_AT_ONCE: u32 = 1_000;

/// All records of the present registry. Pages are read one after the other, so every page checks that the registry is
/// still as it was at the change `seq`.
pub struct PresentRecords {
    pub credentials: Cursor<Credential, String>,
    pub agents: Cursor<AgentOut, String>,
    /// The attachments of built-ins, by agent and tool.
    pub builtin_attachments: Cursor<AttachmentRecord, (String, String)>,
    pub versions: Cursor<Tool, (String, Version)>,
    /// The attachments of the workspace's own tools, by tool and agent.
    pub attachments: Cursor<AttachmentRecord, (String, String)>,
    pub modules: Cursor<ModuleRecord, String>,
    pub servers: Cursor<ServerRecord, String>,
    pub toolsets: Cursor<ToolsetRecord, String>,
    /// By toolset and tool.
    pub overrides: Cursor<OverrideRecord, (String, String)>,
}

impl PresentRecords {
    pub fn at(seq: u32) -> Self {
        Self {
            credentials: Cursor::new(
                seq,
                Kind {
                    page: |workspace, after| {
                        registry::credentials_after(workspace, after.map(String::as_str), CREDENTIALS_AT_ONCE)
                    },
                    read: |rows| rows.all(),
                    key: |it: &Credential| it.id.clone(),
                },
            ),
            agents: Cursor::new(
                seq,
                Kind {
                    page: |workspace, after| agents::agents_after(workspace, after.map(String::as_str)),
                    read: |rows| Ok(agents::read_all(rows)?.iter().map(AgentOut::from).collect()),
                    key: |it: &AgentOut| it.id.clone(),
                },
            ),
            builtin_attachments: Cursor::new(
                seq,
                Kind {
                    page: |workspace, after| agents::builtin_attachments_after(workspace, after.map(both)),
                    read: agents::read_all_attachments,
                    key: |it: &AttachmentRecord| (it.agent_id.clone(), it.tool_id.clone()),
                },
            ),
            versions: Cursor::new(
                seq,
                Kind {
                    page: |workspace, after: Option<&(String, Version)>| {
                        registry::versions_after(workspace, after.map(|(id, version)| (id.as_str(), *version)))
                    },
                    read: registry::read_tools,
                    key: |it: &Tool| (it.id.to_string(), it.version),
                },
            ),
            attachments: Cursor::new(
                seq,
                Kind {
                    page: |workspace, after| agents::attachments_after(workspace, after.map(both)),
                    read: agents::read_all_attachments,
                    key: |it: &AttachmentRecord| (it.tool_id.clone(), it.agent_id.clone()),
                },
            ),
            modules: Cursor::new(
                seq,
                Kind {
                    page: |workspace, after| {
                        upstreams::upstreams_after::<ModuleSettings>(workspace, after.map(String::as_str))
                    },
                    read: upstreams::read_records,
                    key: |it: &ModuleRecord| it.name.clone(),
                },
            ),
            servers: Cursor::new(
                seq,
                Kind {
                    page: |workspace, after| {
                        upstreams::upstreams_after::<ServerSettings>(workspace, after.map(String::as_str))
                    },
                    read: upstreams::read_records,
                    key: |it: &ServerRecord| it.id.clone(),
                },
            ),
            toolsets: Cursor::new(
                seq,
                Kind {
                    page: |workspace, after| toolsets::toolsets_after(workspace, after.map(String::as_str)),
                    read: toolsets::read_records,
                    key: |it: &ToolsetRecord| it.id.clone(),
                },
            ),
            overrides: Cursor::new(
                seq,
                Kind {
                    page: |workspace, after| toolsets::overrides_after(workspace, after.map(both)),
                    read: toolsets::read_override_records,
                    key: OverrideRecord::key,
                },
            ),
        }
    }
}

fn both((one, two): &(String, String)) -> (&str, &str) {
    (one, two)
}

/// How the records of one kind are read. Their keys rise from record to record.
struct Kind<T, K> {
    /// Selects the records after this key; none at the end.
    page: fn(&WorkspaceId, Option<&K>) -> Statement,
    read: fn(&Rows) -> Result<Vec<T>>,
    key: fn(&T) -> K,
}

/// A walk through the records of one kind.
pub struct Cursor<T, K> {
    kind: Kind<T, K>,
    seq: u32,
    page: VecDeque<T>,
    /// The key of the last record that was read.
    last: Option<K>,
    ended: bool,
}

impl<T, K: Ord> Cursor<T, K> {
    const fn new(seq: u32, kind: Kind<T, K>) -> Self {
        Self { kind, seq, page: VecDeque::new(), last: None, ended: false }
    }

    /// The next record, which stays the next one.
    pub async fn peek(&mut self, scope: &Scope) -> Result<Option<&T>> {
        if self.page.is_empty() && !self.ended {
            let page = (self.kind.page)(scope.workspace(), self.last.as_ref());
            let changed = changes::registry_changed_since(scope.workspace(), self.seq);
            let [rows, changed] = scope.read([page, store::find_whether(changed)]).await?;
            if !changed.is_empty()? {
                return Err(overtaken());
            }
            self.page = (self.kind.read)(&rows)?.into();
            self.ended = self.page.is_empty();
            self.last = self.page.back().map(self.kind.key).or(self.last.take());
        }
        Ok(self.page.front())
    }

    pub async fn next(&mut self, scope: &Scope) -> Result<Option<T>> {
        self.peek(scope).await?;
        Ok(self.page.pop_front())
    }

    /// The next record, if its key is lower than this one.
    pub async fn next_below(&mut self, scope: &Scope, key: &K) -> Result<Option<T>> {
        self.next_if(scope, |it| it < key).await
    }

    /// The next record. With an end, only if its key is lower than the end.
    pub async fn next_until(&mut self, scope: &Scope, end: Option<&K>) -> Result<Option<T>> {
        match end {
            Some(end) => self.next_below(scope, end).await,
            None => self.next(scope).await,
        }
    }

    /// The next record, if it has this key.
    pub async fn next_at(&mut self, scope: &Scope, key: &K) -> Result<Option<T>> {
        self.next_if(scope, |it| it == key).await
    }

    async fn next_if(&mut self, scope: &Scope, fits: impl Fn(&K) -> bool) -> Result<Option<T>> {
        let key = self.kind.key;
        Ok(match self.peek(scope).await? {
            Some(next) if fits(&key(next)) => self.page.pop_front(),
            _ => None,
        })
    }
}
