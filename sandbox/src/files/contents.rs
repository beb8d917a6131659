//! The contents of files, kept for the next calls. The contents of one share are never given to another: a share that does
//! not have some contents must send them, even if another share has them.
//!
//! There is a bound on the bytes of all contents, and half of it for one share. What was not used for longest is dropped.

use super::request::{PieceIn, hash, hex};
use crate::answer::Encoding;
use crate::folder::Hash;
use crate::slot_size::MAX_FILE_BYTES;
use data_encoding::BASE64;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the tables take besides the bytes themselves.
const ENTRY_BYTES: usize = 256;
/// All pieces of contents that are not complete yet: enough for a few of the largest files, whose text in base64 is longer
/// than their bytes.
const MAX_PARTS_BYTES: usize = 6 * MAX_FILE_BYTES as usize;

pub struct Contents {
    state: Mutex<State>,
    most: usize,
}

#[derive(Default)]
struct State {
    shares: HashMap<String, Share>,
    bytes: usize,
    /// How often contents were used; the number of the last use.
    uses: u64,
    /// Contents of which the last pieces have not come yet, the oldest first.
    parts: Vec<Parts>,
}

#[derive(Default)]
struct Share {
    kept: HashMap<Hash, Kept>,
    /// The contents in the order of their last use.
    order: BTreeMap<u64, Hash>,
    bytes: usize,
}

struct Kept {
    bytes: Arc<[u8]>,
    used: u64,
}

struct Parts {
    share: String,
    hash: Hash,
    encoding: Encoding,
    count: u32,
    next: u32,
    text: String,
}

impl Contents {
    pub fn new(most: usize) -> Self {
        Self { state: Mutex::default(), most }
    }

    pub fn bytes(&self) -> usize {
        self.state().bytes
    }

    pub fn most(&self) -> usize {
        self.most
    }

    /// Contents that a share has.
    pub fn get(&self, share: &str, hash: &Hash) -> Option<Arc<[u8]>> {
        let State { shares, uses, .. } = &mut *self.state();
        shares.get_mut(share)?.touch(hash, uses)
    }

    /// All the contents in their order; or the hashes of those that the share does not have.
    pub fn get_all<'a>(
        &self,
        share: &str,
        hashes: impl Iterator<Item = &'a Hash>,
    ) -> Result<Vec<Arc<[u8]>>, Vec<Hash>> {
        let State { shares, uses, .. } = &mut *self.state();
        let mut kept = shares.get_mut(share);
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for hash in hashes {
            match kept.as_mut().and_then(|share| share.touch(hash, uses)) {
                Some(bytes) => found.push(bytes),
                None => missing.push(*hash),
            }
        }
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() { Ok(found) } else { Err(missing) }
    }

    /// Keeps contents whose hash is known to be right.
    pub fn put(&self, share: &str, hash: Hash, bytes: Arc<[u8]>) {
        let cost = bytes.len() + ENTRY_BYTES;
        let mut state = self.state();
        let State { shares, uses, bytes: all, .. } = &mut *state;
        let of_share = shares.entry(share.to_owned()).or_default();
        if of_share.touch(&hash, uses).is_some() {
            return;
        }
        *uses += 1;
        of_share.kept.insert(hash, Kept { bytes, used: *uses });
        of_share.order.insert(*uses, hash);
        of_share.bytes += cost;
        *all += cost;
        while state.shares.get(share).is_some_and(|it| it.bytes > self.most / 2) {
            state.drop_oldest(share);
        }
        while state.bytes > self.most {
            let oldest = state.shares.iter().filter_map(|(name, it)| Some((it.order.keys().next()?, name))).min();
            let Some((_, name)) = oldest else { break };
            let name = name.clone();
            state.drop_oldest(&name);
        }
    }

    /// Takes a piece. Returns the hash if the contents are complete now, or the problem.
    pub fn take(&self, share: &str, piece: PieceIn) -> Result<Option<Hash>, String> {
        let name = piece.sha256.clone();
        let because = |why: &str| format!("pieces: {name}: {why}");
        let Some(hash) = hash(&piece.sha256) else {
            return Err(format!("pieces: {:?} is no sha256", name.chars().take(80).collect::<String>()));
        };
        let Some(Parts { encoding, text, .. }) = self.state().join(share, hash, piece).map_err(because)? else {
            return Ok(None);
        };
        let bytes = match encoding {
            Encoding::Utf8 => text.into_bytes(),
            Encoding::Base64 => match BASE64.decode(text.as_bytes()) {
                Ok(bytes) => bytes,
                Err(_) => return Err(because("this is no base64")),
            },
        };
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(because(&format!("it has {} bytes, and {MAX_FILE_BYTES} are allowed", bytes.len())));
        }
        let real: Hash = Sha256::digest(&bytes).into();
        if real != hash {
            return Err(because(&format!("its sha256 is {}", hex(&real))));
        }
        self.put(share, hash, bytes.into());
        Ok(Some(hash))
    }

    /// No code panics while it holds the state, so that the state of a poisoned lock is sound too.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Adds a piece to the pieces before it. Returns all of them if this was the last one.
    fn join(&mut self, share: &str, hash: Hash, piece: PieceIn) -> Result<Option<Parts>, &'static str> {
        let at = self.parts.iter().position(|parts| parts.hash == hash && parts.share == share);
        let before = at.map(|at| self.parts.remove(at));
        let mut parts = match before {
            _ if piece.number == 0 => {
                let (share, text) = (share.to_owned(), String::new());
                Parts { share, hash, encoding: piece.encoding, count: piece.count, next: 0, text }
            }
            Some(parts) => parts,
            None => return Err("its first piece is not here"),
        };
        let is_next = piece.number == parts.next && (parts.count, parts.encoding) == (piece.count, piece.encoding);
        if !is_next || piece.number >= piece.count {
            return Err("this is not its next piece");
        }
        if parts.text.len() + piece.data.len() > 2 * MAX_FILE_BYTES as usize {
            return Err("its pieces are too long");
        }
        parts.text.push_str(&piece.data);
        parts.next += 1;
        if parts.next == parts.count {
            return Ok(Some(parts));
        }
        self.parts.push(parts);
        // Whoever has not sent for longest begins again.
        while self.parts.iter().map(|parts| parts.text.len() + ENTRY_BYTES).sum::<usize>() > MAX_PARTS_BYTES {
            self.parts.remove(0);
        }
        Ok(None)
    }

    fn drop_oldest(&mut self, share: &str) {
        let Some(of_share) = self.shares.get_mut(share) else { return };
        let Some((_, hash)) = of_share.order.pop_first() else { return };
        if let Some(kept) = of_share.kept.remove(&hash) {
            let cost = kept.bytes.len() + ENTRY_BYTES;
            of_share.bytes -= cost;
            self.bytes -= cost;
        }
        if of_share.kept.is_empty() {
            self.shares.remove(share);
        }
    }
}

impl Share {
    /// Notes a use.
    fn touch(&mut self, hash: &Hash, uses: &mut u64) -> Option<Arc<[u8]>> {
        let kept = self.kept.get_mut(hash)?;
        *uses += 1;
        self.order.remove(&kept.used);
        kept.used = *uses;
        self.order.insert(kept.used, *hash);
        Some(kept.bytes.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::Random;

    fn of(bytes: &[u8]) -> Hash {
        Sha256::digest(bytes).into()
    }

    fn piece(bytes: &[u8], encoding: Encoding, number: u32, count: u32, data: &str) -> PieceIn {
        PieceIn { sha256: hex(&of(bytes)), encoding, number, count, data: data.into() }
    }

    #[test]
    fn pieces_become_contents() {
        let contents = Contents::new(1 << 20);
        let send = |piece| contents.take("a", piece);
        assert_eq!(send(piece(b"abc", Encoding::Utf8, 0, 1, "abc")), Ok(Some(of(b"abc"))));
        assert_eq!(send(piece(b"\xff\0abc", Encoding::Base64, 0, 2, "/wBh")), Ok(None));
        assert_eq!(send(piece(b"", Encoding::Utf8, 0, 1, "")), Ok(Some(of(b""))));
        assert_eq!(send(piece(b"\xff\0abc", Encoding::Base64, 1, 2, "YmM=")), Ok(Some(of(b"\xff\0abc"))));
        assert_eq!(contents.get("a", &of(b"\xff\0abc")).as_deref(), Some(&b"\xff\0abc"[..]));
        assert_eq!(contents.get("b", &of(b"abc")), None, "another share has nothing");
        let (known, unknown) = (of(b"abc"), of(b"x"));
        assert_eq!(contents.get_all("a", [known, unknown, unknown].iter()), Err(vec![unknown]));
        assert_eq!(contents.get_all("a", [known, known].iter()).unwrap().len(), 2);
    }

    #[test]
    fn wrong_pieces_are_refused() {
        let contents = Contents::new(1 << 20);
        let refused = |piece, expected: &str| {
            let why = contents.take("a", piece).unwrap_err();
            assert!(why.contains(expected), "{why}");
        };
        refused(piece(b"abc", Encoding::Utf8, 0, 1, "abd"), "its sha256 is a52d159f");
        refused(piece(b"abc", Encoding::Base64, 0, 1, "abc"), "no base64");
        refused(piece(b"abc", Encoding::Utf8, 1, 2, "c"), "its first piece is not here");
        refused(piece(b"abc", Encoding::Utf8, 0, 0, "abc"), "not its next piece");
        assert_eq!(contents.take("a", piece(b"abc", Encoding::Utf8, 0, 3, "a")), Ok(None));
        refused(piece(b"abc", Encoding::Utf8, 2, 3, "c"), "not its next piece");
        refused(PieceIn { sha256: "x".into(), ..piece(b"", Encoding::Utf8, 0, 1, "") }, "no sha256");
        let mega = "x".repeat(MAX_FILE_BYTES as usize + 1);
        refused(piece(mega.as_bytes(), Encoding::Utf8, 0, 1, &mega), "10485761 bytes");
        assert_eq!(contents.bytes(), 0);
    }

    #[test]
    fn pieces_that_wait_are_bounded() {
        let contents = Contents::new(1 << 20);
        let begin = |share: &str, number: u8| {
            let data = "x".repeat(MAX_FILE_BYTES as usize);
            contents.take(share, piece(&[number], Encoding::Utf8, 0, 2, &data))
        };
        for number in 0..100 {
            assert_eq!(begin(&format!("share {number}"), number), Ok(None));
        }
        let waiting = contents.state().parts.len();
        assert!((1..6).contains(&waiting), "{waiting}");
        let next = |number: u8| contents.take(&format!("share {number}"), piece(&[number], Encoding::Utf8, 1, 2, ""));
        assert!(next(0).unwrap_err().contains("first piece"));
        assert!(next(99).unwrap_err().contains("its sha256 is"));
        let long = "x".repeat(2 * MAX_FILE_BYTES as usize + 1);
        assert!(contents.take("a", piece(b"a", Encoding::Utf8, 0, 2, &long)).unwrap_err().contains("too long"));
        assert_eq!((contents.bytes(), contents.state().shares.len()), (0, 0));
    }

    #[test]
    fn what_was_not_used_for_longest_is_dropped() {
        let contents = Contents::new(10 * (ENTRY_BYTES + 1));
        let put = |share: &str, byte: u8| contents.put(share, of(&[byte]), Arc::from([byte]));
        (0..5).for_each(|byte| put("a", byte));
        assert!(contents.get("a", &of(&[0])).is_some());
        put("a", 5);
        let kept =
            |share: &str| (0..20).filter(|byte| contents.get(share, &of(&[*byte])).is_some()).collect::<Vec<_>>();
        assert_eq!(kept("a"), [0, 2, 3, 4, 5], "half of everything");
        (0..5).for_each(|byte| put("b", byte));
        put("c", 7);
        assert_eq!((kept("a"), kept("b").len(), kept("c").len()), (vec![2, 3, 4, 5], 5, 1));
        assert!(contents.bytes() <= contents.most());
        assert_eq!(contents.state().shares.len(), 3);
    }

    /// Random uses, from a fixed seed: the sums are right, and the bounds hold.
    #[test]
    fn the_books_are_right() {
        let contents = Contents::new(40_000);
        let mut random = Random(11);
        for _ in 0..20_000 {
            let share = ["a", "b", "c", "d"][random.below(4)];
            let bytes = vec![random.below(60) as u8; random.below(900)];
            match random.below(3) {
                0 => drop(contents.get(share, &of(&bytes))),
                _ => contents.put(share, of(&bytes), bytes.into()),
            }
            let state = contents.state();
            let cost = |share: &Share| share.kept.values().map(|kept| kept.bytes.len() + ENTRY_BYTES).sum::<usize>();
            assert_eq!(state.bytes, state.shares.values().map(|share| share.bytes).sum::<usize>());
            assert!(state.shares.values().all(|share| share.bytes == cost(share)
                && share.order.len() == share.kept.len()
                && share.bytes <= 20_000));
            assert!(state.bytes <= 40_000);
        }
    }
}
