//! The decisions of a restore that comes in pieces. They are written to the database while the restore is read, and
//! take effect together in one batch.

use crate::agents::AgentRows;
use crate::backup::preview::{RestoreMode, RestorePreview};
use crate::backup::reading::read_seq;
use crate::backup::restore::{Restored, id_of_toolset};
use crate::backup::store::{self, StagedRows};
use crate::callers::Scope;
use crate::changes::{self, Change};
use crate::error::{Error, Result};
use crate::ids;
use crate::registry::{RegistryRows, Source, is_taken_id};
use crate::upstreams::UpstreamRows;
use serde::Serialize;

/// From how many bytes on a chunk is complete. D1 allows two million bytes for a value.
const CHUNK_BYTES: usize = 1_000_000;

/// From how many bytes on the complete chunks are written.
const WRITTEN_AT_ONCE: usize = 3_000_000;

/// The lists of a restore. The first ones are changes, in the order in which the change log gets them: removals before
/// additions, and an agent before its attachments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum List {
    TokensRevoked,
    AttachmentsRemoved,
    AgentsRemoved,
    ModulesRemoved,
    ServersRemoved,
    VersionsRemoved,
    CredentialsRemoved,
    CredentialsPut,
    VersionsPut,
    ModulesPut,
    ServersPut,
    SettingsPut,
    AgentsPut,
    AttachmentsPut,
    DeletedAttachments,
    DeletedAgents,
    DeletedTools,
    DeletedCredentials,
    TouchedTools,
    GoneVersions,
    Credentials,
    Tools,
    Versions,
    Agents,
    Attachments,
    DeletedModules,
    Modules,
    DeletedServers,
    Servers,
    Settings,
}

const CHANGES: [List; 14] = [
    List::TokensRevoked,
    List::AttachmentsRemoved,
    List::AgentsRemoved,
    List::ModulesRemoved,
    List::ServersRemoved,
    List::VersionsRemoved,
    List::CredentialsRemoved,
    List::CredentialsPut,
    List::VersionsPut,
    List::ModulesPut,
    List::ServersPut,
    List::SettingsPut,
    List::AgentsPut,
    List::AttachmentsPut,
];
const LISTS: usize = List::Settings as usize + 1;

/// One list: the chunks that are complete, and the rows that are not yet in a chunk.
#[derive(Default)]
struct StagedList {
    chunks: Vec<String>,
    rows: String,
}

pub struct Staging {
    /// A random id, so that two restores never share a chunk.
    id: String,
    lists: [StagedList; LISTS],
    /// Complete chunks that are not written yet: their ids and contents.
    complete: Vec<(String, String)>,
    changes: u32,
    written: bool,
    given_up: bool,
    /// The decisions of a dry run, which are told and not kept.
    preview: Option<RestorePreview>,
}

impl Staging {
    pub fn new(mode: RestoreMode) -> Result<Self> {
        let lists = std::array::from_fn(|_| StagedList::default());
        Ok(Self {
            id: ids::random_hex::<16>()?,
            lists,
            complete: Vec::new(),
            changes: 0,
            written: false,
            given_up: false,
            preview: (mode == RestoreMode::Preview).then(RestorePreview::new),
        })
    }

    /// Adds a row of the change log to one of the lists of changes.
    pub fn change(&mut self, list: List, change: Change) -> Result<()> {
        self.changes += 1;
        if let Some(preview) = &mut self.preview {
            preview.add(&change);
        }
        self.add(list, &change.row())
    }

    /// Keeps no further decision, because the restore will be refused.
    pub fn give_up(&mut self) {
        self.given_up = true;
        self.complete.clear();
        self.lists.iter_mut().for_each(|it| it.rows.clear());
    }

    /// Adds a row to a list.
    pub fn add(&mut self, list: List, row: &impl Serialize) -> Result<()> {
        if self.given_up || self.preview.is_some() {
            return Ok(());
        }
        let row = serde_json::to_string(row)
            .map_err(|cause| Error::Internal(format!("a row for the database is not JSON: {cause}")))?;
        let Some(staged) = self.lists.get_mut(list as usize) else { return Ok(()) };
        if !staged.rows.is_empty() && staged.rows.len() + row.len() >= CHUNK_BYTES {
            self.complete.extend(staged.complete(&self.id, list));
        }
        staged.rows.push(if staged.rows.is_empty() { '[' } else { ',' });
        staged.rows.push_str(&row);
        Ok(())
    }

    /// Writes the complete chunks, if there are many.
    pub async fn write_some(&mut self, scope: &Scope) -> Result<()> {
        let bytes = self.complete.iter().map(|(_, data)| data.len()).sum::<usize>();
        if bytes >= WRITTEN_AT_ONCE { self.write(scope).await } else { Ok(()) }
    }

    async fn write(&mut self, scope: &Scope) -> Result<()> {
        let now = scope.app().clock();
        let complete = std::mem::take(&mut self.complete);
        let insert = |(id, data): &(String, String)| store::insert_chunk(scope.workspace(), id, now, data);
        let statements = complete.iter().map(insert).collect::<Vec<_>>();
        drop(complete);
        if !statements.is_empty() {
            self.written = true;
            scope.write_all(statements).await??;
        }
        Ok(())
    }

    /// Writes the rest of the chunks, and makes all decisions take effect in one batch. `seq` is the change at which the
    /// registry was read. If the registry has changed since then, nothing takes effect. A dry run ends here.
    pub async fn switch(&mut self, scope: &Scope, seq: u32) -> Result<Restored> {
        if self.changes == 0 || self.preview.is_some() {
            return Ok(Restored { changes: self.changes, seq, preview: self.preview.take() });
        }
        for (list, staged) in self.lists.iter_mut().enumerate() {
            self.complete.extend(staged.complete_as(&self.id, list));
        }
        self.write(scope).await?;

        let workspace = scope.workspace();
        let count = self.lists.iter().map(|it| it.chunks.len()).sum();
        let mut statements = vec![
            store::refuse_if(workspace, &self.id, changes::registry_changed_since(workspace, seq)),
            store::refuse_if(workspace, &self.id, store::chunks_are_missing(workspace, &self.id, count)),
        ];
        let author = scope.author().await?;
        for list in CHANGES {
            statements.extend(changes::record_rows(&author, &self.rows(list))?);
        }
        // Nothing in the workspace has had this revision before: only changes of approvals can have come in between, and
        // approvals have no revision.
        let revision = seq + self.changes + 1;
        let agents = AgentRows {
            removed_attachments: self.rows(List::DeletedAttachments),
            removed_agents: self.rows(List::DeletedAgents),
            agents: self.rows(List::Agents),
            attachments: self.rows(List::Attachments),
        };
        let registry = RegistryRows {
            removed_tools: self.rows(List::DeletedTools),
            removed_credentials: self.rows(List::DeletedCredentials),
            touched_tools: self.rows(List::TouchedTools),
            gone_versions: self.rows(List::GoneVersions),
            credentials: self.rows(List::Credentials),
            // The tools come sorted by id, but are added from the oldest to the newest.
            tools: StagedRows { together: true, ..self.rows(List::Tools) },
            versions: self.rows(List::Versions),
        };
        let upstreams =
            |source, removed, put| UpstreamRows { source, removed: self.rows(removed), put: self.rows(put) };
        let modules = upstreams(Source::Module, List::DeletedModules, List::Modules);
        let servers = upstreams(Source::Mcp, List::DeletedServers, List::Servers);
        statements.extend(agents.remove(workspace)?);
        statements.extend(registry.statements(workspace, revision)?);
        statements.extend(modules.statements(workspace, revision, scope.app().now())?);
        statements.extend(servers.statements(workspace, revision, scope.app().now())?);
        statements.extend(store::put_settings(workspace, &self.rows(List::Settings), revision)?);
        statements.extend(agents.put(workspace, revision)?);
        statements.push(changes::find_last(workspace));
        match scope.write_all(statements).await? {
            Ok(rows) => {
                let seq = rows.last().map(read_seq).transpose()?.unwrap_or(seq);
                Ok(Restored { changes: self.changes, seq, preview: None })
            }
            Err(failure) if store::is_refusal(&failure) => Err(Error::Conflict(
                "The registry was changed by another request meanwhile, or the restore took more than an hour; try again"
                    .into(),
            )),
            Err(failure) if is_taken_id(&failure) => Err(id_of_toolset()),
            Err(failure) => Err(failure.into()),
        }
    }

    fn rows(&self, list: List) -> StagedRows {
        let chunks = self.lists.get(list as usize).map(|it| it.chunks.clone());
        StagedRows { chunks: chunks.unwrap_or_default(), together: false }
    }

    /// Deletes the chunks. A failure is left to the sweep.
    pub async fn delete(&self, scope: &Scope) {
        if self.written {
            let _ = scope.write_all(vec![store::delete_chunks(scope.workspace(), &self.id)]).await;
        }
    }
}

impl StagedList {
    fn complete(&mut self, restore_id: &str, list: List) -> Option<(String, String)> {
        self.complete_as(restore_id, list as usize)
    }

    /// Makes a chunk of the rows, and returns its id and its contents. None if there are no rows.
    fn complete_as(&mut self, restore_id: &str, list: usize) -> Option<(String, String)> {
        if self.rows.is_empty() {
            return None;
        }
        let id = format!("{restore_id}/{list:02}/{:06}", self.chunks.len());
        self.chunks.push(id.clone());
        Some((id, std::mem::take(&mut self.rows) + "]"))
    }
}
