//! The calls of an answer, put together from their pieces. Servers disagree about how a piece tells to which call it
//! belongs: by an index, by an id, by neither, or by an index that is 0 for all calls.

use super::answer::{AskedCall, ModelDelta, UnreadableArguments};
use super::assembly::ModelLimits;
use super::chunk::CallPiece;
use super::fault::ModelFault;
use crate::formats::calls::arguments;
use crate::json_size::MAX_VALUES;
use serde_json::Value;

/// The longest name and the longest id that are kept. No tool has a longer name.
const MAX_NAME_BYTES: usize = 256;

#[derive(Default)]
pub struct Calls {
    calls: Vec<OpenCall>,
    /// How many calls have been told.
    told: usize,
}

#[derive(Default)]
struct OpenCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    nesting: Nesting,
    extra_content: Option<Value>,
    /// The ordinal under which the call was told. A call is told when its name is known.
    ordinal: Option<usize>,
}

impl Calls {
    pub fn take(
        &mut self,
        mut piece: CallPiece,
        limits: &ModelLimits,
        deltas: &mut Vec<ModelDelta>,
    ) -> Result<(), ModelFault> {
        if piece.is_empty() {
            return Ok(());
        }
        for text in [&mut piece.id, &mut piece.name] {
            text.truncate(text.floor_char_boundary(MAX_NAME_BYTES));
        }
        let place = match self.candidate(&piece) {
            Some(at) if self.calls[at].is_repeated_by(&piece) => return Ok(()),
            Some(at) if !self.calls[at].is_ended_by(&piece) => at,
            Some(_) | None => {
                if self.calls.len() == limits.calls {
                    return Err(ModelFault::TooManyCalls(limits.calls));
                }
                self.calls.push(OpenCall { index: piece.index, ..OpenCall::default() });
                self.calls.len() - 1
            }
        };
        if let Some(call) = self.calls.get_mut(place) {
            call.add(piece, limits, &mut self.told, deltas)?;
        }
        Ok(())
    }

    /// The call that the piece belongs to, unless it begins a call.
    fn candidate(&self, piece: &CallPiece) -> Option<usize> {
        let last = |is_meant: &dyn Fn(&OpenCall) -> bool| self.calls.iter().rposition(is_meant);
        let has_id = |it: &OpenCall| !piece.id.is_empty() && it.id == piece.id;
        let newest = self.calls.len().checked_sub(1);
        if piece.is_whole {
            return None;
        }
        if piece.index.is_none() {
            return last(&has_id).or(newest);
        }
        let has_index = |it: &OpenCall| it.index == piece.index;
        // A server that gave no index at first may give one later.
        let lacks_index = || newest.filter(|at| self.calls[*at].index.is_none() && piece.is_continuation());
        last(&|it| has_index(it) && has_id(it)).or_else(|| last(&has_index)).or_else(lacks_index)
    }

    pub fn is_empty(&self) -> bool {
        self.calls.iter().all(OpenCall::says_nothing)
    }

    /// All calls, in the order in which they were told. Calls that never got a name are told now.
    pub fn end(mut self, deltas: &mut Vec<ModelDelta>) -> Vec<AskedCall> {
        self.calls.retain(|it| !it.says_nothing());
        for call in &mut self.calls {
            call.tell("", &mut self.told, deltas);
        }
        self.calls.sort_by_key(|it| it.ordinal);
        // All calls are in memory at once, so their values are counted together.
        let mut values_left = MAX_VALUES;
        self.calls.into_iter().map(|it| it.asked(&mut values_left)).collect()
    }
}

impl CallPiece {
    /// Whether the piece can only continue a call.
    fn is_continuation(&self) -> bool {
        self.id.is_empty() && self.name.is_empty()
    }

    fn begins_arguments(&self) -> bool {
        self.arguments.trim_start().starts_with('{')
    }
}

impl OpenCall {
    /// Whether this is no call: a server that makes a new id for each piece may close a call with an id alone.
    fn says_nothing(&self) -> bool {
        self.name.is_empty() && self.arguments.trim().is_empty() && self.extra_content.is_none()
    }

    /// Whether the piece is this whole call once more. Some servers repeat a call in their last piece.
    fn is_repeated_by(&self, piece: &CallPiece) -> bool {
        !self.id.is_empty()
            && (self.index, &self.id, &self.name, &self.arguments)
                == (piece.index, &piece.id, &piece.name, &piece.arguments)
            && self.nesting.is_complete()
    }

    /// Whether the piece belongs to another call, although it has the same index, or no index.
    fn is_ended_by(&self, piece: &CallPiece) -> bool {
        if !piece.id.is_empty() && !self.id.is_empty() && piece.id != self.id {
            // Some servers make a new id for each piece, so a piece that goes on with open arguments is no new call.
            return !piece.name.is_empty() || piece.arguments.is_empty() || self.nesting.is_complete();
        }
        if piece.name.is_empty() || self.name.is_empty() {
            return false;
        }
        let is_next = self.nesting.is_complete() && piece.begins_arguments();
        // Without index and id, another name is all that tells two calls without arguments apart.
        let is_other = piece.index.is_none() && piece.id.is_empty() && piece.name != self.name;
        is_next || (is_other && !self.nesting.is_open())
    }

    fn add(
        &mut self,
        piece: CallPiece,
        limits: &ModelLimits,
        told: &mut usize,
        deltas: &mut Vec<ModelDelta>,
    ) -> Result<(), ModelFault> {
        if self.id.is_empty() {
            self.id = piece.id;
        }
        if self.name.is_empty() {
            self.name = piece.name;
        }
        if piece.extra_content.is_some() {
            self.extra_content = piece.extra_content;
            if self.extra_content.as_ref().is_some_and(|it| it.to_string().len() > limits.argument_bytes) {
                return Err(ModelFault::TooLarge("the extra content of a call"));
            }
        }
        if self.arguments.len() + piece.arguments.len() > limits.argument_bytes {
            return Err(ModelFault::TooLarge("the arguments of a call"));
        }
        self.arguments.push_str(&piece.arguments);
        self.nesting.read(&piece.arguments);
        if !self.name.is_empty() {
            self.tell(&piece.arguments, told, deltas);
        }
        Ok(())
    }

    /// Tells the new part of the arguments, or the whole call if it has not been told yet.
    fn tell(&mut self, new_part: &str, told: &mut usize, deltas: &mut Vec<ModelDelta>) {
        let (index, text) = match self.ordinal {
            Some(index) => (index, new_part),
            None => {
                let index = *told;
                *told += 1;
                self.ordinal = Some(index);
                deltas.push(ModelDelta::CallBegun { index, name: self.name.clone() });
                (index, self.arguments.as_str())
            }
        };
        if !text.is_empty() {
            deltas.push(ModelDelta::CallArguments { index, text: text.to_owned() });
        }
    }

    fn asked(self, values_left: &mut usize) -> AskedCall {
        let text = self.arguments;
        let arguments = arguments(Some(text.as_str().into()), values_left);
        AskedCall {
            name: self.name,
            arguments: arguments.map_err(|message| UnreadableArguments { text, message }),
            extra_content: self.extra_content,
        }
    }
}

/// How deep a JSON text is nested after its last byte. The text itself is parsed at the end only, because a stream may
/// come in a million pieces.
#[derive(Default)]
struct Nesting {
    depth: usize,
    has_begun: bool,
    in_string: bool,
    is_escaped: bool,
}

impl Nesting {
    fn read(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.has_begun |= !byte.is_ascii_whitespace();
        }
    }

    fn is_open(&self) -> bool {
        self.has_begun && (self.depth > 0 || self.in_string)
    }

    fn is_complete(&self) -> bool {
        self.has_begun && !self.is_open()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of (index, id, name, arguments).
    type Piece = (Option<u64>, &'static str, &'static str, &'static str);

    /// The calls, as `name arguments`.
    fn read(pieces: &[Piece]) -> Vec<String> {
        let (mut calls, mut deltas) = (Calls::default(), Vec::new());
        for (index, id, name, arguments) in pieces {
            let piece = CallPiece {
                index: *index,
                id: (*id).into(),
                name: (*name).into(),
                arguments: (*arguments).into(),
                ..CallPiece::default()
            };
            calls.take(piece, &ModelLimits::default(), &mut deltas).unwrap();
        }
        let asked = calls.end(&mut deltas);
        let mut told = vec![String::new(); asked.len()];
        for delta in deltas {
            match delta {
                ModelDelta::CallBegun { index, name } => {
                    assert!(told[index].is_empty());
                    told[index] = format!("{name} ");
                }
                ModelDelta::CallArguments { index, text } => told[index].push_str(&text),
                other => panic!("{other:?}"),
            }
        }
        for (told, asked) in told.iter().zip(&asked) {
            assert!(told.starts_with(&format!("{} ", asked.name)), "{told}");
        }
        told
    }

    #[test]
    fn an_id_alone_is_no_call() {
        let pieces = [(Some(0), "a", "x", "{}"), (Some(0), "b", "", "")];
        assert_eq!(read(&pieces), ["x {}"]);
        assert_eq!(read(&[(Some(0), "a", "", " ")]), Vec::<String>::new());
    }

    #[test]
    fn pieces_with_an_index_may_be_mixed() {
        let pieces =
            [(Some(0), "a", "x", ""), (Some(1), "b", "y", "{"), (Some(0), "", "", "{}"), (Some(1), "", "", "}")];
        assert_eq!(read(&pieces), ["x {}", "y {}"]);
    }

    #[test]
    fn a_new_id_begins_a_call_at_the_same_index() {
        let pieces = [(Some(0), "a", "x", "{}"), (Some(0), "b", "x", "{\"n\":"), (Some(0), "b", "", "1}")];
        assert_eq!(read(&pieces), ["x {}", "x {\"n\":1}"]);
        assert_eq!(
            read(&[(Some(0), "a", "x", "{"), (Some(0), "b", "y", "{}"), (Some(0), "a", "", "}")]),
            ["x {}", "y {}"]
        );
    }

    #[test]
    fn a_new_id_for_each_piece_does_not_cut_the_arguments() {
        assert_eq!(
            read(&[(Some(0), "a", "x", ""), (Some(0), "b", "", "{\"n\""), (Some(0), "c", "", ":1}")]),
            ["x {\"n\":1}"]
        );
    }

    #[test]
    fn a_name_and_arguments_begin_a_call_after_complete_arguments() {
        for index in [None, Some(0)] {
            assert_eq!(read(&[(index, "", "x", "{\"s\":\"}\"}"), (index, "", "x", "{}")]), ["x {\"s\":\"}\"}", "x {}"]);
            assert_eq!(read(&[(index, "i", "x", "{\"n\":1}"), (index, "i", "x", "{}")]), ["x {\"n\":1}", "x {}"]);
        }
    }

    #[test]
    fn a_repeated_name_is_no_new_call() {
        let pieces =
            [(Some(0), "a", "x", ""), (Some(0), "a", "x", "{"), (Some(0), "", "x", "}"), (Some(0), "", "x", "")];
        assert_eq!(read(&pieces), ["x {}"]);
        assert_eq!(read(&[(Some(0), "a", "x", "{}"), (Some(0), "a", "x", "{}")]), ["x {}"], "the whole call again");
    }

    #[test]
    fn calls_without_arguments_are_told_apart_by_their_names() {
        assert_eq!(read(&[(None, "", "x", ""), (None, "", "y", ""), (None, "", "z", "{}")]), ["x ", "y ", "z {}"]);
    }

    #[test]
    fn a_piece_with_neither_index_nor_id_continues_the_last_call() {
        assert_eq!(
            read(&[(None, "a", "x", "{"), (None, "", "", "}"), (None, "b", "y", "{"), (None, "", "", "}")]),
            ["x {}", "y {}"]
        );
        assert_eq!(read(&[(None, "a", "x", "{"), (Some(0), "", "", "}")]), ["x {}"]);
    }

    #[test]
    fn a_name_may_come_late_or_never() {
        let late =
            [(Some(0), "a", "", ""), (Some(0), "", "", "{\"n\":"), (Some(0), "", "x", ""), (Some(0), "", "", "1}")];
        assert_eq!(read(&late), ["x {\"n\":1}"]);
        assert_eq!(read(&[(Some(0), "a", "", "{}"), (Some(1), "b", "y", "{}")]), ["y {}", " {}"]);
    }

    #[test]
    fn the_first_index_need_not_be_0() {
        assert_eq!(read(&[(Some(1), "a", "x", "{"), (Some(1), "", "", "}"), (Some(7), "b", "y", "")]), ["x {}", "y "]);
    }

    #[test]
    fn empty_pieces_begin_nothing() {
        assert_eq!(read(&[(Some(0), "", "", ""), (None, "", "", "")]), [""; 0]);
    }
}
