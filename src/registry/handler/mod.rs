//! Handlers, which carry out the calls of tools. In the registry, only this folder distinguishes the kinds of handler.
//! Where calls are run, `runners::prepare` distinguishes them.
//!
//! | file | contents |
//! |---|---|
//! | `form` | how a handler is given |
//! | `check` | what a handler may hold |
//! | `mask` | how a handler is shown, and how what was shown is given again |
//! | `secrets` | how the header values of a handler are stored |
//! | `python` | a function in Python, and what it may use |
//! | `rest` | requests to a REST API: where each argument goes |
//! | `url_template` | URLs with parameters in their path |

mod check;
mod form;
mod mask;
mod python;
mod rest;
mod secrets;
mod url_template;

pub use mask::masked_url;
pub use python::PythonHandler;
pub use rest::{QueryStyle, RestBody, RestHandler, RestMethod, is_json_type};
pub use url_template::UrlTemplate;

use super::Tool;
use super::header_value::HeaderValue;
use crate::error::{Error, Place, Problem, Result};
use crate::outgoing::credentials_in;
use crate::text_enum::{TextEnum, text_enum};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

text_enum! {
    /// The handlers that are code of the Worker itself.
    Builtin {
        ExecutePython = "execute_python",
        ReadFile = "read_file",
        WriteFile = "write_file",
        ListFiles = "list_files",
        EmailSearch = "email_search",
        EmailGet = "email_get",
    }
}

/// The headers of a handler's requests, by their names.
type Headers = BTreeMap<String, HeaderValue>;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Handler {
    /// Code of the Worker itself. The Worker may no longer have a built-in of this key; only a lookup tells
    /// ([`TextEnum::parse`]).
    Builtin { key: String },
    /// A server that receives calls as POST requests.
    Http {
        url: String,
        #[serde(default)]
        headers: Headers,
    },
    /// A REST API, which receives the arguments as parts of a request.
    Rest(RestHandler),
    /// A function that runs in the sandbox.
    Python(PythonHandler),
    /// The module of this name. Only discovery makes such a handler.
    Module { module: String },
    /// A tool of the MCP server of this id. Only discovery makes such a handler.
    Mcp {
        server: String,
        /// The name of the tool on its server. The tool's id holds it as far as an id can.
        tool: String,
        /// The server's own remarks about the tool, as they came. They are a part of the definition that an admin accepts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        annotations: Option<Map<String, Value>>,
    },
    /// A function of the toolset whose id the tool's id begins with. Only an import makes such a handler.
    Toolset {
        /// `module:function`, in the files of the toolset.
        entrypoint: String,
    },
}

impl Handler {
    pub fn of(tool: &Tool) -> Result<Self> {
        serde_json::from_str(tool.handler.get())
            .map_err(|cause| Error::Internal(format!("the tool {} has a broken handler: {cause}", tool.id)))
    }

    /// The word that lists show for the handler: `http`, `rest`, `python`, or the key of the built-in.
    pub fn key(&self) -> &str {
        match self {
            Self::Builtin { key } => key,
            Self::Http { .. } => "http",
            Self::Rest(_) => "rest",
            Self::Python(_) => "python",
            Self::Module { .. } => "module",
            Self::Mcp { .. } => "mcp",
            Self::Toolset { .. } => "toolset",
        }
    }

    /// The key of the built-in, whether this deployment has that built-in or not.
    pub fn builtin_key(&self) -> Option<&str> {
        match self {
            Self::Builtin { key } => Some(key),
            Self::Http { .. }
            | Self::Rest(_)
            | Self::Python(_)
            | Self::Module { .. }
            | Self::Mcp { .. }
            | Self::Toolset { .. } => None,
        }
    }

    /// Whether calls of the handler read or write the files of their session.
    pub fn works_on_files(&self) -> bool {
        match self {
            Self::Builtin { key } => match Builtin::parse(key) {
                Some(Builtin::ReadFile | Builtin::WriteFile | Builtin::ListFiles) => true,
                Some(Builtin::ExecutePython | Builtin::EmailSearch | Builtin::EmailGet) | None => false,
            },
            Self::Python(python) => python.files,
            Self::Toolset { .. } => true,
            Self::Http { .. } | Self::Rest(_) | Self::Module { .. } | Self::Mcp { .. } => false,
        }
    }

    /// The reason why calls of the handler would reach nothing, if there is one. Servers and sandbox code are assumed
    /// to exist.
    pub fn missing_target(&self) -> Option<String> {
        self.builtin_key().and_then(missing_builtin)
    }

    /// The URL and the headers of the handler's requests, if the handler has its own.
    fn server(&self) -> Option<(&str, &Headers)> {
        match self {
            Self::Http { url, headers } => Some((url, headers)),
            Self::Rest(rest) => Some((&rest.url, &rest.headers)),
            Self::Builtin { .. } | Self::Python(_) | Self::Module { .. } | Self::Mcp { .. } | Self::Toolset { .. } => {
                None
            }
        }
    }

    fn server_mut(&mut self) -> Option<(&mut String, &mut Headers)> {
        match self {
            Self::Http { url, headers } => Some((url, headers)),
            Self::Rest(rest) => Some((&mut rest.url, &mut rest.headers)),
            Self::Builtin { .. } | Self::Python(_) | Self::Module { .. } | Self::Mcp { .. } | Self::Toolset { .. } => {
                None
            }
        }
    }

    /// The credentials that the handler's headers name. A sealed value tells none: see [`Self::opened`].
    pub fn credentials(&self) -> Vec<&str> {
        let headers = self.server().into_iter().flat_map(|(_, headers)| headers.values());
        headers.filter_map(HeaderValue::plain).flat_map(credentials_in).collect()
    }
}

/// The reason why a built-in of that key cannot be called, if there is one.
pub fn missing_builtin(key: &str) -> Option<String> {
    Builtin::parse(key).is_none().then(|| format!("its handler {key} is not part of this deployment"))
}

/// A problem at a place within the handler.
fn problem(path: &str, message: impl Into<String>) -> Problem {
    Problem { place: Place::Body, path: format!("/handler{path}"), message: message.into() }
}

fn header_problem(name: &str, message: &str) -> Problem {
    let shown = name.chars().take(64).collect::<String>();
    problem(&format!("/headers/{shown}"), message)
}

#[cfg(test)]
fn headers(given: &[(&str, &str)]) -> Headers {
    given.iter().map(|(name, value)| ((*name).to_owned(), HeaderValue::Plain((*value).to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_found_where_headers_name_them() {
        let headers = headers(&[("A", "Bearer ${ONE}"), ("B", "${TWO}${THREE} ${"), ("C", "$ONE {TWO}")]);
        let handler = Handler::Http { url: "https://a.example".into(), headers: headers.clone() };
        assert_eq!(handler.credentials(), ["ONE", "TWO", "THREE"]);
        let rest = Handler::Rest(RestHandler { headers, ..RestHandler::get("https://a.example") });
        assert_eq!(rest.credentials(), ["ONE", "TWO", "THREE"]);
    }
}
