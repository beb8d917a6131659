//! The toolbox: the tools that an agent may really use now.

use super::{Agent, Attached, MAX_ATTACHED, found, judge, store};
use crate::callers::Scope;
use crate::db::Rows;
use crate::error::Result;
use crate::ids::{AgentId, ToolId};
use crate::page::{Page, PageRequest, bad_cursor};
use crate::registry::{self, ToolFilter, ToolForm};
use crate::search_text::FullTextQuery;

/// The default tools, for an agent without attachments.
pub(super) const DEFAULT_TOOLS: [&str; 4] = ["execute_python", "read_file", "write_file", "list_files"];

/// The attached tools. If nothing is attached and the agent's profile has `default_tools`, the default tools instead.
/// Tools that the caller or the agent may not use are left out. All tools are read that fit into a response, and as many of
/// the usable tools are returned as the page may hold.
pub async fn toolbox(scope: &Scope, agent_id: &AgentId, request: &PageRequest) -> Result<Page<Attached>> {
    let workspace = scope.workspace();
    let all = PageRequest::of_up_to(MAX_ATTACHED, None)?.after_page(request);
    let [agent, attached, defaults, position] = scope
        .read([
            store::find_agent(workspace, agent_id),
            store::list_attached(workspace, agent_id, &all),
            registry::find_tools(workspace, &DEFAULT_TOOLS),
            registry::tool_exists(workspace, request.after()),
        ])
        .await?;
    let is_later = request.after().is_some();
    let has_attached = is_later || !attached.is_empty()?;
    let found = FoundTools { agent: &agent, has_attached, attached: &attached, defaults: &defaults };
    let page = found.usable(scope, agent_id, request, |_, it| it.tool.id.to_string()).await?;
    if is_later && position.is_empty()? {
        return Err(bad_cursor());
    }
    Ok(page)
}

/// The tools of the toolbox that match the text, best match first.
pub async fn search_toolbox(
    scope: &Scope,
    agent_id: &AgentId,
    text: FullTextQuery,
    request: &PageRequest,
) -> Result<Page<Attached>> {
    let workspace = scope.workspace();
    let mut filter = ToolFilter { text: Some(text), ..ToolFilter::default() };
    let Some(expression) = filter.to_fts5(workspace) else {
        // There is nothing to search for, but the caller must still be checked.
        let _agent = super::get(scope, agent_id).await?;
        return Ok(Page { items: Vec::new(), next_cursor: None });
    };
    filter.ids = Some(DEFAULT_TOOLS.into_iter().filter_map(ToolId::parse).collect());
    let among_defaults = filter.to_fts5(workspace).unwrap_or_default();
    let all = PageRequest::of_up_to(MAX_ATTACHED, None)?.after_page(request);
    let [agent, any, attached, defaults] = scope
        .read([
            store::find_agent(workspace, agent_id),
            store::has_attached(workspace, agent_id),
            store::search_attached(workspace, agent_id, &expression, &all)?,
            registry::search_tools(ToolForm::Read, workspace, &filter, &among_defaults, &all)?,
        ])
        .await?;
    let offset = request.offset()? as usize;
    let has_attached = !any.is_empty()?;
    let found = FoundTools { agent: &agent, has_attached, attached: &attached, defaults: &defaults };
    found.usable(scope, agent_id, request, |index, _| (offset + index + 1).to_string()).await
}

/// The rows that a toolbox is made of.
struct FoundTools<'a> {
    agent: &'a Rows,
    has_attached: bool,
    attached: &'a Rows,
    defaults: &'a Rows,
}

impl FoundTools<'_> {
    /// The page of the tools that the agent may use. `position` is the position after a tool, from the tool's index among all
    /// that were found.
    async fn usable(
        &self,
        scope: &Scope,
        agent_id: &AgentId,
        request: &PageRequest,
        position: impl Fn(usize, &Attached) -> String,
    ) -> Result<Page<Attached>> {
        let caller = scope.caller().await?;
        caller.may_act_as(agent_id)?;
        let agent = found(agent_id, store::read_agent(self.agent)?)?;
        let is_cut = self.has_attached && registry::is_cut(self.attached)?;
        let tools = tools_of_agent(&agent, self.has_attached, self.attached, self.defaults)?;
        let count = tools.len();
        let mut page = Page { items: Vec::new(), next_cursor: None };
        for (index, tool) in tools.into_iter().enumerate() {
            let ends = index + 1 == count;
            let next = (!ends || is_cut).then(|| PageRequest::cursor(&position(index, &tool)));
            let usable = judge(&agent, caller.level, &tool.tool, true, tool.tool.active).is_ok();
            if usable {
                page.items.push(tool);
            }
            if ends || page.items.len() == request.limit() {
                page.next_cursor = next;
                break;
            }
        }
        Ok(page)
    }
}

/// The attached or default tools of the agent, including tools that the agent may not use.
pub(super) fn tools_of_agent(
    agent: &Agent,
    has_attached: bool,
    attached: &Rows,
    defaults: &Rows,
) -> Result<Vec<Attached>> {
    match has_attached {
        true => store::read_all_attached(attached),
        false if agent.has_default_tools(has_attached) => {
            Ok(registry::read_tools(defaults)?.into_iter().map(|tool| Attached { tool, config: None }).collect())
        }
        false => Ok(Vec::new()),
    }
}
