//! `/api/whoami`: the caller, and what the deployment can do.

use super::extract::Guest;
use super::respond::Json;
use crate::error::Result;
use crate::oversight::{self, WhoAmI};

/// See who you are, and what this deployment can do
///
/// For consoles and other clients that show only what will work. `features` tells how the deployment is configured; nothing
/// is asked whether it answers.
#[utoipa::path(get, path = "/api/whoami", tag = "workspace",
    responses((status = 200, description = "The caller and the deployment", body = WhoAmI)))]
#[worker::send]
pub async fn get_caller(Guest(scope): Guest) -> Result<Json<WhoAmI>> {
    oversight::whoami(&scope).await.map(Json)
}
