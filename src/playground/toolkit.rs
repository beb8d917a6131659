//! The tools of a turn: as the model gets them, and as its calls name them.

use crate::agents::Attached;
use crate::error::{Error, Result};
use crate::formats::{self, Format, names};
use crate::ids::{ToolId, Version};
use crate::registry::schema::{self, Schema};
use crate::registry::{Risk, Tool};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::rc::Rc;

/// How many tools a model gets. OpenAI's models take no more.
pub const MAX_TOOLS: u32 = 128;

/// How many bytes of a result reach the model and the clients. `GET /api/tool-calls/{id}/result` has the whole.
pub const MAX_RESULT_BYTES: u32 = 64 * 1024;

#[derive(Default)]
pub struct Toolkit {
    tools: HashMap<String, Attached>,
    /// The tools as the model gets them.
    pub exported: Vec<Box<RawValue>>,
    /// Whether the agent has more tools than the model gets.
    pub is_cut: bool,
}

/// A tool that a model called.
pub struct CalledTool<'a> {
    pub tool: &'a Tool,
    pub parameters: Rc<Schema>,
    /// The size at which results are cut.
    pub max_result_bytes: u32,
}

impl CalledTool<'_> {
    /// Whether the arguments may hold a secret. Such arguments are shown only after their secrets were removed.
    pub fn hides_arguments(&self) -> bool {
        self.parameters.has_secrets()
    }

    /// Whether results may hold a secret.
    pub fn hides_results(&self) -> Result<bool> {
        let returns = self.tool.returns_schema.as_deref().map(schema::compiled).transpose()?;
        Ok(returns.is_some_and(|it| it.has_secrets()))
    }

    /// Whether a call may be made again although an earlier one may have run.
    pub fn may_run_twice(&self) -> bool {
        self.tool.risk_level == Risk::Safe
    }
}

impl Toolkit {
    pub fn new(attached: Vec<Attached>, is_cut: bool) -> Result<Self> {
        #[derive(Deserialize)]
        struct Written {
            tools: Vec<Box<RawValue>>,
        }
        let tools = attached.iter().map(|it| &it.tool).collect::<Vec<_>>();
        let written = formats::write(Format::Openai, &tools, false);
        let written = serde_json::from_str::<Written>(&written.map(|it| it.body).unwrap_or_default())
            .map_err(|cause| Error::Internal(format!("exported tools are not JSON: {cause}")))?;
        let tools = attached.into_iter().map(|it| (names::exported(&it.tool.id), it)).collect();
        Ok(Self { tools, exported: written.tools, is_cut })
    }

    /// The tool that a model calls by this name: the name that it was given, or another one by which calls name the tool.
    /// Models see the id of a tool in texts, and `id@version`. Another version than the one that was offered is another tool.
    pub fn find(&self, name: &str) -> Option<CalledTool<'_>> {
        let (name, version) = match name.rsplit_once('@') {
            Some((name, version)) => (name, Some(Version::parse(version)?)),
            None => (name, None),
        };
        let by_id = || self.tools.get(&names::exported(&ToolId::parse(name)?));
        let Attached { tool, config } = self.tools.get(name).or_else(by_id)?;
        if version.is_some_and(|it| it != tool.version) {
            return None;
        }
        // A stored schema compiles; a tool whose schema does not is called as an unknown one, and refused with the reason.
        let parameters = schema::compiled(&tool.parameters_schema).ok()?;
        let max_result_bytes = config.as_ref().and_then(|it| it.max_result_bytes()).unwrap_or(MAX_RESULT_BYTES);
        Some(CalledTool { tool, parameters, max_result_bytes: max_result_bytes.min(MAX_RESULT_BYTES) })
    }

    /// The size at which results of a tool are cut, which the agent may not have any more.
    pub fn max_result_bytes(&self, name: &str) -> u32 {
        self.find(name).map_or(MAX_RESULT_BYTES, |it| it.max_result_bytes)
    }

    /// About how many tokens the exported tools take.
    pub fn tokens(&self) -> usize {
        self.exported.iter().map(|it| it.get().len()).sum::<usize>() / 4
    }
}
