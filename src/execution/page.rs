//! The page of a call whose renderer is `html`: what the recorded plan names, with the data of the plan in it.

use super::log;
use super::outcome::Status;
use super::row::CallRow;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::files::BlobContent;
use crate::ids::{CallId, ToolsetId};
use crate::rendering::{RendererKind, with_data};
use crate::toolsets;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A recorded plan, as far as a page needs it.
#[derive(Deserialize)]
struct RecordedPlan {
    renderer: RendererKind,
    #[serde(default)]
    config: Map<String, Value>,
}

/// The page of the call, as HTML. The artifact is the toolset's file as it is now.
pub async fn page_of(scope: &Scope, id: &CallId) -> Result<String> {
    let call = log::find(scope, id).await?;
    let plan = plan(&call)?;
    let page = match (plan.config.get("artifact"), plan.config.get("content")) {
        (Some(Value::String(path)), _) => artifact(scope, id, path).await?,
        (_, Some(Value::String(content))) => content.clone(),
        (_, Some(_)) | (None | Some(_), None) => {
            return Err(Error::Conflict(format!("The page of the call {id} is no text: its render_plan tells why")));
        }
    };
    Ok(with_data(&page, plan.config.get("data").unwrap_or(&Value::Null)))
}

/// The plan of a call that has a page.
fn plan(call: &CallRow) -> Result<RecordedPlan> {
    let id = &call.id;
    let Some(plan) = call.plan()? else {
        let why = match call.status {
            Status::PendingApproval => "it waits for its approval",
            Status::Running => "it still runs",
            Status::Success | Status::Error | Status::Denied => "its tool has no renderer, or did not run",
        };
        return Err(Error::Conflict(format!("The call {id} has no render plan: {why}")));
    };
    let plan = serde_json::from_str::<RecordedPlan>(plan.get())
        .map_err(|cause| Error::Internal(format!("the call {id} has a broken render_plan: {cause}")))?;
    match plan.renderer {
        RendererKind::Html => Ok(plan),
        RendererKind::Code | RendererKind::Document | RendererKind::Frame => Err(Error::Conflict(format!(
            "The renderer of the call {id} is {}, and only html has a page: its render_plan tells what to show",
            plan.renderer
        ))),
    }
}

/// The text of an artifact, which a plan names by its path in the API.
async fn artifact(scope: &Scope, id: &CallId, path: &str) -> Result<String> {
    let Some((toolset, path)) = place_of(path) else {
        return Err(Error::Conflict(format!("The artifact of the call {id} belongs to no toolset")));
    };
    match toolsets::read_file(scope, &toolset, path).await?.content {
        BlobContent::Text(text) => Ok(text),
        BlobContent::Base64(_) => Err(Error::Conflict(format!("{path} of the toolset {toolset} is no text"))),
    }
}

fn place_of(path: &str) -> Option<(ToolsetId, &str)> {
    let (toolset, path) = path.strip_prefix("/api/toolsets/")?.split_once("/files/")?;
    Some((ToolsetId::parse(toolset)?, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_an_artifact_names_its_toolset() {
        let place = |path: &str| place_of(path).map(|(toolset, path)| (toolset.to_string(), path.to_owned()));
        let expected = Some(("charts".to_owned(), "artifacts/a/files/b.html".to_owned()));
        assert_eq!(place("/api/toolsets/charts/files/artifacts/a/files/b.html"), expected);
        assert_eq!(
            (place("artifacts/a.html"), place("/api/toolsets/a b/files/c"), place("/api/toolsets/a")),
            (None, None, None)
        );
    }
}
