//! The playground: a chat in which an agent uses its tools. A turn asks the agent's model, runs the calls that the model
//! asks for through `execution`, and goes on until the model answers. The turn is streamed to the client as an AI SDK "UI
//! message stream".
//!
//! `door` is the Worker's side of a chat: it checks the caller, and hands the request to the Durable Object of the session.
//! `owner` is the object's side: it lets one `turn` run at a time. `model` and `ui` are pure: they read what models say, and
//! write what clients read.

mod approvals;
mod asked_calls;
mod asking;
mod broadcast;
mod calls;
mod conversation;
mod door;
mod ending;
mod fit;
mod kept;
mod live;
mod loading;
mod memory;
mod messages;
mod model;
mod order;
mod owner;
mod part;
mod pieces;
mod planned;
mod results;
mod seat;
mod standing;
mod start;
mod times;
mod toolkit;
mod turn;
mod ui;
mod whole;

pub use door::{approve, chat, check_out, delete_session, deny, resume, stop};
pub use messages::{MessageOut, list as list_messages};
pub use order::OwnerRequest;
pub use owner::Owner;
pub use start::CheckedOutMessage;
pub use turn::Turn;
pub use ui::{ChatIn, STREAM_HEADERS};
pub use whole::WholeTurn;
