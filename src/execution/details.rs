//! What the record of a call tells besides its arguments and its result: the text that the tool printed, and warnings.

use super::resolve::ResolvedCall;
use crate::error::{Error, Result, shortened};
use crate::registry::Warning;
use serde::{Deserialize, Serialize};
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
}

impl CallDetails {
    /// The details as JSON, if there is something to tell.
    pub fn to_json(call: &ResolvedCall, output: Option<String>) -> Result<Option<String>> {
        let warnings = unknown_arguments(call).iter().map(|it| warning(it)).collect::<Vec<_>>();
        if output.is_none() && warnings.is_empty() {
            return Ok(None);
        }
        let json = serde_json::to_string(&Self { output, warnings });
        json.map(Some).map_err(|cause| Error::Internal(format!("the details of a call are not JSON: {cause}")))
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
}
