//! The toolbox: the tools that an agent may really use now.

use super::permission::{ToolStanding, judge};
use super::{Agent, Attached, Config, found, store};
use crate::callers::{Level, Scope};
use crate::db::{Rows, Statement};
use crate::error::Result;
use crate::ids::{AgentId, ToolId};
use crate::page::{Page, PageRequest, bad_cursor};
use crate::registry::{self, Source, Tool, ToolFilter};
use crate::search_text::FullTextQuery;
use crate::upstreams;

/// The default tools, for an agent without attachments.
pub(super) const DEFAULT_TOOLS: [&str; 4] = ["execute_python", "read_file", "write_file", "list_files"];

/// The most tools on a page of a toolbox.
pub const MAX_PAGE: u32 = 1_000;

/// How many tools are read for a page at least. Some of them may be tools that the agent may not use.
const MIN_READ: u32 = 200;

/// A tool that may be in a toolbox.
pub(super) struct ToolboxEntry {
    pub tool: Tool,
    pub config: Option<Config>,
    /// Whether the agent has the tool, by an attachment or by default.
    pub has_tool: bool,
}

impl ToolboxEntry {
    /// Whether the tool can be called.
    fn is_enabled(&self) -> bool {
        self.tool.active && self.tool.is_switched_on()
    }
}

/// The owner of a toolbox, and what decides about the tools in it.
pub(super) struct ToolboxOwner {
    pub agent: Agent,
    default_modules: Vec<String>,
    caller: Level,
}

impl ToolboxOwner {
    /// Reads the result of [`store::find_agent_with_defaults`], for a caller who may act as the agent.
    pub async fn read(scope: &Scope, agent_id: &AgentId, rows: &Rows) -> Result<Self> {
        let caller = scope.caller().await?;
        caller.may_act_as(agent_id)?;
        let agent = found(agent_id, store::read_agent(rows)?)?;
        Ok(Self { agent, default_modules: store::read_default_modules(rows)?, caller: caller.level })
    }

    /// Whether the agent may use the tool on behalf of the caller.
    pub fn may_use(&self, entry: &ToolboxEntry) -> bool {
        let standing = ToolStanding {
            attached: entry.has_tool,
            enabled: entry.is_enabled(),
            default_modules: &self.default_modules,
        };
        judge(&self.agent, self.caller, &entry.tool, standing).is_ok()
    }
}

/// A page of the toolbox: the attached tools, or the default tools if nothing is attached and the agent's profile has
/// `default_tools`, and the tools of the modules that the agent may use. Tools that the caller or the agent may not use
/// are left out. More tools are read than the page may hold, so a page is rarely shorter because of tools that were left
/// out.
pub async fn toolbox(scope: &Scope, agent_id: &AgentId, request: &PageRequest) -> Result<Page<Attached>> {
    let rows = scope.read(find_toolbox(scope, agent_id, request)?).await?;
    Ok(read_toolbox(scope, agent_id, request, &rows).await?.1)
}

/// The statements that find a page of the toolbox, and the agent, for the batch of another room.
pub fn find_toolbox(scope: &Scope, agent_id: &AgentId, request: &PageRequest) -> Result<[Statement; 4]> {
    let workspace = scope.workspace();
    Ok([
        store::find_agent_with_defaults(workspace, agent_id),
        store::list_toolbox(workspace, agent_id, &page_to_read(request)?),
        registry::tool_exists(workspace, request.after()),
        upstreams::find_due(scope),
    ])
}

/// Reads the result of [`find_toolbox`].
pub async fn read_toolbox(
    scope: &Scope,
    agent_id: &AgentId,
    request: &PageRequest,
    [agent, entries, position, due]: &[Rows; 4],
) -> Result<(Agent, Page<Attached>)> {
    let owner = ToolboxOwner::read(scope, agent_id, agent).await?;
    upstreams::note_due(scope, due)?;
    if request.after().is_some() && position.is_empty()? {
        return Err(bad_cursor());
    }
    let page = usable(&owner, entries, &page_to_read(request)?, request, |_, it| it.tool.id.to_string())?;
    Ok((owner.agent, page))
}

/// The page of tools that is read for the page that was asked for.
fn page_to_read(request: &PageRequest) -> Result<PageRequest> {
    let limit = u32::try_from(request.limit()).unwrap_or(MAX_PAGE);
    Ok(PageRequest::of_up_to((4 * limit).clamp(MIN_READ, MAX_PAGE), None)?.after_page(request))
}

/// The tools of the toolbox that match the text, best match first.
pub async fn search_toolbox(
    scope: &Scope,
    agent_id: &AgentId,
    text: FullTextQuery,
    request: &PageRequest,
) -> Result<Page<Attached>> {
    let read = page_to_read(request)?;
    let Some(searched) = search(scope, agent_id, text, &read)? else {
        // There is nothing to search for, but the caller must still be checked.
        let _agent = super::get(scope, agent_id).await?;
        return Ok(Page { items: Vec::new(), next_cursor: None });
    };
    let found = store::find_agent_with_defaults(scope.workspace(), agent_id);
    let [agent, entries, due] = scope.read([found, searched, upstreams::find_due(scope)]).await?;
    let owner = ToolboxOwner::read(scope, agent_id, &agent).await?;
    upstreams::note_due(scope, &due)?;
    let offset = request.offset()? as usize;
    usable(&owner, &entries, &read, request, |index, _| (offset + index + 1).to_string())
}

/// The statement that searches the toolbox. None, if no tool can match the text.
fn search(scope: &Scope, agent_id: &AgentId, text: FullTextQuery, read: &PageRequest) -> Result<Option<Statement>> {
    let workspace = scope.workspace();
    let mut filter = ToolFilter { text: Some(text), ..ToolFilter::default() };
    let among_all = filter.to_fts5(workspace);
    filter.ids = Some(DEFAULT_TOOLS.into_iter().filter_map(ToolId::parse).collect());
    let among_defaults = filter.to_fts5(workspace);
    filter.ids = None;
    filter.source = Some(Source::Module);
    let among_module_tools = filter.to_fts5(workspace);
    let (Some(among_all), Some(among_defaults), Some(among_module_tools)) =
        (among_all, among_defaults, among_module_tools)
    else {
        return Ok(None);
    };
    let search = store::ToolboxSearch { among_all, among_defaults, among_module_tools };
    store::search_toolbox(workspace, agent_id, &search, read).map(Some)
}

/// The page of the tools that the agent may use, of the tools that were found for the page `read`. `position` is the
/// position after a tool, from the tool's index among all that were found.
fn usable(
    owner: &ToolboxOwner,
    found: &Rows,
    read: &PageRequest,
    request: &PageRequest,
    position: impl Fn(usize, &ToolboxEntry) -> String,
) -> Result<Page<Attached>> {
    let mut entries = store::read_toolbox(found)?;
    let more = registry::is_cut(found)? || entries.len() > read.limit();
    entries.truncate(read.limit());
    let count = entries.len();
    let mut page = Page { items: Vec::new(), next_cursor: None };
    for (index, entry) in entries.into_iter().enumerate() {
        let ends = index + 1 == count;
        let next = (!ends || more).then(|| PageRequest::cursor(&position(index, &entry)));
        if owner.may_use(&entry) {
            page.items.push(Attached { tool: entry.tool, config: entry.config });
        }
        if ends || page.items.len() == request.limit() {
            page.next_cursor = next;
            break;
        }
    }
    Ok(page)
}
