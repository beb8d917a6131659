//! What is known about a name that no tool has.

use super::store;
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::ModuleName;
use crate::nearest::nearest;

/// The id of the tool that is nearest to a name that no tool has. In a large registry, only ids that are near in the
/// order of the alphabet are considered. A failure is no suggestion.
pub async fn nearest_tool(scope: &Scope, name: &str) -> Option<String> {
    explain_unknown(scope, name).await.nearest
}

/// What is known about a name that no tool has.
#[derive(Default)]
pub struct UnknownTool {
    /// The id of the tool that is nearest.
    pub nearest: Option<String>,
    /// The module that the name names, if no such module is registered.
    pub module: Option<ModuleName>,
}

/// Reads what is known about a name that no tool has, in one round trip. After a failure, nothing is known.
pub async fn explain_unknown(scope: &Scope, name: &str) -> UnknownTool {
    let name = name.rsplit_once('@').map_or(name, |(name, _)| name);
    let module = name.split_once('.').and_then(|(module, _)| ModuleName::parse(module));
    read_unknown(scope, name, module).await.unwrap_or_default()
}

async fn read_unknown(scope: &Scope, name: &str, module: Option<ModuleName>) -> Result<UnknownTool> {
    let workspace = scope.workspace();
    let mut statements = vec![store::tools::neighbours(workspace, name)];
    statements.extend(module.as_ref().map(|it| store::upstreams::module_exists(workspace, it)));
    let mut rows = scope.enter(statements).await?.into_iter();
    let ids = rows.next().map(|it| store::credentials::read_ids(&it)).transpose()?.unwrap_or_default();
    let is_known = ids.iter().any(|it| it == name);
    let nearest = nearest(name, ids.iter().map(String::as_str)).filter(|_| !is_known).map(str::to_owned);
    let is_registered = rows.next().map(|it| it.is_empty()).transpose()? == Some(false);
    Ok(UnknownTool { nearest, module: module.filter(|_| !is_registered && !is_known) })
}
