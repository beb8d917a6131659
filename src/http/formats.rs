//! Responses that list tools, in any format.

use super::respond::Text;
use crate::formats::WrittenTools;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// A list of tools in the registry's own format, or in the format that the caller asked for.
pub enum ListedTools<T> {
    Own(T),
    Written(WrittenTools),
}

impl<T: IntoResponse> IntoResponse for ListedTools<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Own(tools) => tools.into_response(),
            Self::Written(written) => respond(written),
        }
    }
}

fn respond(written: WrittenTools) -> Response {
    let mut response = Text(written.body).into_response();
    if written.is_json {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    response
}

/// The schema of a list whose items are `T`, or tools in a provider's format.
#[cfg(not(target_arch = "wasm32"))]
pub fn any_form<T: utoipa::ToSchema>() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
    use utoipa::openapi::schema::{AnyOfBuilder, ArrayBuilder, ObjectBuilder, SchemaType, Type};
    let of_provider = ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::Object))
        .description(Some("A tool in the format that was asked for"));
    let own = utoipa::openapi::Ref::from_schema_name(T::name());
    ArrayBuilder::new().items(AnyOfBuilder::new().item(own).item(of_provider)).into()
}
