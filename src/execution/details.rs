//! What the record of a call tells besides its arguments and its result: the text that the tool printed, warnings, and the
//! content blocks of MCP.

use super::resolve::ResolvedCall;
use crate::error::{Error, Result, shortened};
use crate::registry::Warning;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// How many unknown arguments are named.
const MAX_NAMED: usize = 20;

/// What a record tells besides arguments and result.
#[derive(Deserialize, Serialize, ToSchema)]
pub struct CallDetails {
    /// The text that a `python` tool printed before it returned its result: at most 64 KiB.
    pub output: Option<String>,
    /// Arguments that were passed on, but that the tool's schema does not name.
    pub warnings: Vec<Warning>,
    /// The content blocks that a tool of an MCP server gave, if they say more than the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub content: Option<Box<RawValue>>,
    /// True, if the result is the list of the content blocks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub result_is_content: bool,
}

/// The longest content blocks that are recorded besides a result.
const MAX_CONTENT_BYTES: usize = 64 * 1024;

/// The content blocks of a call, as far as the record keeps them.
#[derive(Default)]
pub struct KeptContent {
    blocks: Option<Box<RawValue>>,
    are_result: bool,
}

impl KeptContent {
    /// Blocks that are the result itself, or one text that is the result, are not recorded twice.
    pub fn of(blocks: &str, result: Option<&RawValue>) -> Result<Self> {
        let result = result.map(RawValue::get).unwrap_or_default();
        if blocks == result {
            return Ok(Self { blocks: None, are_result: true });
        }
        let is_one_text = || blocks == format!(r#"[{{"type":"text","text":{result}}}]"#);
        if blocks.len() > MAX_CONTENT_BYTES || is_one_text() {
            return Ok(Self::default());
        }
        let blocks = RawValue::from_string(blocks.to_owned());
        let blocks = blocks.map_err(|cause| Error::Internal(format!("content blocks are not JSON: {cause}")))?;
        Ok(Self { blocks: Some(blocks), are_result: false })
    }

    fn is_empty(&self) -> bool {
        self.blocks.is_none() && !self.are_result
    }
}

impl CallDetails {
    /// The details as JSON, if there is something to tell.
    pub fn to_json(call: &ResolvedCall, output: Option<String>, kept: Option<KeptContent>) -> Result<Option<String>> {
        let warnings = unknown_arguments(call).iter().map(|it| warning(it)).collect::<Vec<_>>();
        let kept = kept.unwrap_or_default();
        if output.is_none() && warnings.is_empty() && kept.is_empty() {
            return Ok(None);
        }
        let details = Self { output, warnings, content: kept.blocks, result_is_content: kept.are_result };
        let json = serde_json::to_string(&details);
        json.map(Some).map_err(|cause| Error::Internal(format!("the details of a call are not JSON: {cause}")))
    }

    /// The content blocks of the call, as a JSON array.
    pub fn content(&self, result: Option<&RawValue>) -> Option<String> {
        let blocks = if self.result_is_content { result } else { self.content.as_deref() };
        blocks.map(|it| it.get().to_owned())
    }
}

fn warning(name: &str) -> Warning {
    let path = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    Warning::new(&path, "is not named by the schema, and may be misspelt")
}

/// The arguments that the tool's schema does not name, if it counts as closed.
pub fn unknown_arguments(call: &ResolvedCall) -> Vec<String> {
    call.parameters.unknown_fields(&call.arguments).into_iter().take(MAX_NAMED).map(shortened).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_points_to_its_argument() {
        let told = serde_json::to_value(warning("a/b~c")).unwrap();
        assert_eq!(told["path"], "/a~1b~0c");
    }

    #[test]
    fn content_is_recorded_only_if_it_says_more_than_the_result() {
        let kept = |blocks: &str, result: &str| {
            let result = RawValue::from_string(result.to_owned()).unwrap();
            let kept = KeptContent::of(blocks, Some(&result)).unwrap();
            (kept.blocks.map(|it| it.get().to_owned()), kept.are_result)
        };
        assert_eq!(kept(r#"[{"type":"text","text":"a"}]"#, r#""a""#), (None, false));
        assert_eq!(kept(r#"[{"type":"image"}]"#, r#"[{"type":"image"}]"#), (None, true));
        let text = r#"[{"type":"text","text":"{}"}]"#;
        assert_eq!(kept(text, "{}"), (Some(text.to_owned()), false));
        assert_eq!(kept(&format!(r#"[{{"type":"text","text":"{}"}}]"#, "x".repeat(70_000)), "{}"), (None, false));
    }
}
