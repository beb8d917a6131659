//! How the result of a call is to be shown. A tool may have a renderer with a configuration, and a call of such a tool has
//! a render plan: the configuration with the values of the call filled in. docs/rendering.md describes both. The room is
//! pure.
//!
//! | file | contents |
//! |---|---|
//! | `expression` | the expressions in the texts of a configuration, such as `$args.path` |
//! | `renderer` | the renderers, and what their configuration may hold |
//! | `plan` | the plan of one call |
//! | `values` | finds the values of expressions, and bounds them |
//! | `frame` | the addresses that a frame may show |
//! | `inject` | the page of a call, with its data |

mod expression;
mod frame;
mod inject;
mod plan;
#[cfg(test)]
mod random;
mod renderer;
mod values;

pub use inject::with_data;
pub use plan::{PlanFailure, PlanSources};
pub use renderer::{Renderer, RendererKind};
