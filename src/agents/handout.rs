//! The toolbox of an agent, page by page.

use super::toolbox::ToolboxOwner;
use super::{Agent, store};
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::AgentId;
use crate::page::{Page, PageRequest, bad_cursor};
use crate::registry::{self, Tool};
use crate::upstreams;

/// The agent, and a page of the toolbox, in the order of the tools' creation. A page may be shorter than requested,
/// because tools that the agent may not use are removed from the page. ([`super::toolbox`] fills its pages, and reads
/// more tools for it.)
pub async fn toolbox_page(scope: &Scope, agent_id: &AgentId, request: &PageRequest) -> Result<(Agent, Page<Tool>)> {
    let workspace = scope.workspace();
    let [agent, entries, position, due] = scope
        .read([
            store::find_agent_with_defaults(workspace, agent_id),
            store::list_toolbox(workspace, agent_id, request),
            registry::tool_exists(workspace, request.after()),
            upstreams::find_due(scope),
        ])
        .await?;
    let owner = ToolboxOwner::read(scope, agent_id, &agent).await?;
    upstreams::note_due(scope, &due)?;
    if request.after().is_some() && position.is_empty()? {
        return Err(bad_cursor());
    }
    let is_cut = registry::is_cut(&entries)?;
    let mut page = request.cut_page(store::read_toolbox(&entries)?, is_cut, |it| it.tool.id.to_string());
    page.items.retain(|it| owner.may_use(it));
    let (tools, next_cursor) = page.map(|it| it.tool);
    Ok((owner.agent, Page { items: tools, next_cursor }))
}
