//! Reading the contents of many blobs as they are stored, in as few round trips as memory allows.

use super::store::blob::{SizeRow, StoredPiece, find_pieces, find_sizes};
use crate::callers::Scope;
use crate::db::Rows;
use crate::error::Result;
use std::collections::{HashMap, VecDeque};

/// How many bytes of stored text one round trip reads at most. A chunk takes room twice in an isolate's 128 MB: in the
/// answer of D1, and on its way to whoever wants it.
const ROUND_TRIP_BYTES: u32 = 4 * 1024 * 1024;

/// The sizes of those of these contents that the workspace has. No round trip, if nothing is asked for.
pub async fn stored_sizes(scope: &Scope, sha256: &[&str]) -> Result<HashMap<String, u32>> {
    let mut sizes = HashMap::new();
    let statements = find_sizes(scope.workspace(), sha256)?;
    if statements.is_empty() {
        return Ok(sizes);
    }
    for rows in scope.enter(statements).await? {
        sizes.extend(rows.all::<SizeRow>()?.into_iter().map(|it| (it.sha256, it.size)));
    }
    Ok(sizes)
}

/// Contents that are still to be read, in order, each with the number of its next chunk.
pub struct WantedContents(VecDeque<(String, u32)>);

/// Some chunks of contents, in order.
pub struct StoredPieces(Rows);

impl StoredPieces {
    pub fn all(&self) -> Result<Vec<StoredPiece<'_>>> {
        self.0.all()
    }
}

impl WantedContents {
    pub fn new(sha256: impl IntoIterator<Item = String>) -> Self {
        Self(sha256.into_iter().map(|it| (it, 0)).collect())
    }

    /// The contents that could not be read to their end.
    pub fn left(&self) -> usize {
        self.0.len()
    }

    /// The next chunks of the contents, from the caller's workspace only. None, if nothing is wanted any more, or if what
    /// is wanted is not there: then [`Self::left`] tells.
    pub async fn next(&mut self, scope: &Scope) -> Result<Option<StoredPieces>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let wanted = self.0.iter().map(|(sha256, next)| (sha256.as_str(), *next)).collect::<Vec<_>>();
        let [rows] = scope.read([find_pieces(scope.workspace(), &wanted, ROUND_TRIP_BYTES)]).await?;
        let pieces = StoredPieces(rows);
        let is_whole = self.take(pieces.all()?.iter().map(|it| (it.sha256, it.number, it.count)));
        Ok(is_whole.then_some(pieces))
    }

    /// Notes which chunks have been read. False, if one of them is not the one that was to come: contents before it are
    /// not there.
    fn take<'p>(&mut self, pieces: impl Iterator<Item = (&'p str, u32, u32)>) -> bool {
        let mut any = false;
        for (sha256, number, count) in pieces {
            match self.0.front_mut() {
                Some((wanted, next)) if wanted == sha256 && *next == number => *next += 1,
                _ => return false,
            }
            if number + 1 >= count {
                self.0.pop_front();
            }
            any = true;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(sha256: &[&str]) -> WantedContents {
        WantedContents::new(sha256.iter().map(|it| (*it).to_owned()))
    }

    #[test]
    fn contents_are_read_chunk_after_chunk() {
        let mut it = wanted(&["a", "b", "c"]);
        assert!(it.take([("a", 0, 1), ("b", 0, 3)].into_iter()));
        assert_eq!(it.0, [("b".to_owned(), 1), ("c".to_owned(), 0)]);
        assert!(it.take([("b", 1, 3), ("b", 2, 3), ("c", 0, 1)].into_iter()));
        assert_eq!(it.left(), 0);
    }

    #[test]
    fn missing_contents_are_noticed() {
        assert!(!wanted(&["a", "b"]).take([("b", 0, 1)].into_iter()), "the first are not there");
        assert!(!wanted(&["a"]).take([("a", 1, 2)].into_iter()), "a chunk is not there");
        assert!(!wanted(&["a"]).take(std::iter::empty()), "nothing is there");
    }
}
