//! Query parameters that several routes share: dry runs, and the form of schemas. This file serves no route.

use crate::error::Result;
use crate::page::PageRequest;
use crate::registry::SchemaForm;
use serde::Deserialize;
use utoipa::IntoParams;

/// The parameters of every list of tools.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ToolPageQuery {
    /// The most items that a page may hold.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before this one.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
    /// The form of the tools' schemas: `text`, a JSON string, if not given; `object` for objects.
    #[param(inline)]
    schemas: Option<SchemaForm>,
}

impl ToolPageQuery {
    pub fn check(&self) -> Result<(PageRequest, SchemaForm)> {
        let request = PageRequest::new(self.limit, self.cursor.as_deref())?;
        Ok((request, self.schemas.unwrap_or(SchemaForm::Text)))
    }
}

/// The parameters of routes that change something and show a tool.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ToolChangeQuery {
    /// Check the request and tell what it would do, with status 200, but write nothing.
    dry_run: Option<bool>,
    /// The form of the tool's schemas: `text`, a JSON string, if not given; `object` for objects.
    #[param(inline)]
    schemas: Option<SchemaForm>,
}

impl ToolChangeQuery {
    pub fn is_dry_run(&self) -> bool {
        self.dry_run.unwrap_or(false)
    }

    pub fn schemas(&self) -> SchemaForm {
        self.schemas.unwrap_or(SchemaForm::Text)
    }
}

/// The parameter of routes that change something and can be tried out.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DryRunQuery {
    /// Check the request and tell what it would do, but write nothing.
    dry_run: Option<bool>,
}

impl DryRunQuery {
    pub fn is_dry_run(&self) -> bool {
        self.dry_run.unwrap_or(false)
    }
}

/// The parameter of other routes that show a tool.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SchemasQuery {
    /// The form of the tool's schemas: `text`, a JSON string, if not given; `object` for objects.
    #[param(inline)]
    schemas: Option<SchemaForm>,
}

impl SchemasQuery {
    pub fn schemas(&self) -> SchemaForm {
        self.schemas.unwrap_or(SchemaForm::Text)
    }
}
