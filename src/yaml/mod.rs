//! YAML 1.2 as JSON values, read and written. Strangers write the texts, and only what JSON can say is read.
//!
//! | file | contents |
//! |---|---|
//! | `read` | a text as a value, or the line of its fault |
//! | `located` | a value that knows the lines of its parts |
//! | `write` | a value as a text in block style |

mod located;
mod read;
mod write;

pub use located::{Located, Node};
pub use read::{read, read_located};
pub use write::write;
