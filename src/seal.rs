//! Secrets at rest. A secret that must wait in the database is sealed with a key that is not in the database. A secret
//! that must only be compared is stored as a keyed hash. A person who has only the database cannot test guesses against
//! this hash.

use crate::error::{Error, Result};
use crate::hex;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

const NONCE_BYTES: usize = 24;

pub struct Sealer {
    seal: [u8; 32],
    hash: [u8; 32],
}

impl Sealer {
    /// Derives two keys from one secret, so that neither use reveals the other key.
    pub fn new(secret: &str) -> Self {
        let key = |purpose: &str| Sha256::digest(format!("pegboard/{purpose}/{secret}")).into();
        Self { seal: key("seal"), hash: key("hash") }
    }

    /// Seals `text` about one thing, such as a call. `about` is not hidden, but a text that was sealed about one thing
    /// cannot be opened about another.
    pub fn seal(&self, text: &str, about: &str) -> Result<String> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|cause| Error::Internal(format!("no randomness: {cause}")))?;
        let sealed = self
            .cipher()
            .encrypt(&XNonce::from(nonce), Payload { msg: text.as_bytes(), aad: about.as_bytes() })
            .map_err(|_| Error::Internal("a text could not be sealed".into()))?;
        Ok(hex::encode(&nonce) + &hex::encode(&sealed))
    }

    /// Returns the text that was sealed. None if the text was sealed with another secret or about another thing, or if
    /// `sealed` is damaged.
    pub fn open(&self, sealed: &str, about: &str) -> Option<String> {
        let bytes = hex::decode(sealed)?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg: sealed, aad: about.as_bytes() };
        String::from_utf8(self.cipher().decrypt(&XNonce::from(*nonce), payload).ok()?).ok()
    }

    /// The keyed hash of `text`.
    pub fn hash(&self, text: &str) -> Result<String> {
        let mut hash = Hmac::<Sha256>::new_from_slice(&self.hash)
            .map_err(|cause| Error::Internal(format!("a hash key does not fit: {cause}")))?;
        hash.update(text.as_bytes());
        Ok(hex::encode(&hash.finalize().into_bytes()))
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&Key::from(self.seal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_with_the_same_secret_about_the_same_thing() {
        let sealer = Sealer::new("s3cret");
        let sealed = sealer.seal("hunter2", "call_1").unwrap();
        assert!(!sealed.contains(&hex::encode(b"hunter2")));
        assert_eq!(sealer.open(&sealed, "call_1").as_deref(), Some("hunter2"));
        assert_eq!(sealer.open(&sealed, "call_2"), None);
        assert_eq!(Sealer::new("other").open(&sealed, "call_1"), None);
        assert_eq!(sealer.open(&sealed[..sealed.len() - 2], "call_1"), None);
        assert_eq!(sealer.open("", "call_1"), None);
    }

    #[test]
    fn the_same_text_is_never_sealed_the_same_way() {
        let sealer = Sealer::new("s3cret");
        assert_ne!(sealer.seal("a", "x").unwrap(), sealer.seal("a", "x").unwrap());
    }

    #[test]
    fn hashes_depend_on_the_secret() {
        let hash = |secret: &str, text: &str| Sealer::new(secret).hash(text).unwrap();
        assert_eq!(hash("s", "a"), hash("s", "a"));
        assert_ne!(hash("s", "a"), hash("s", "b"));
        assert_ne!(hash("s", "a"), hash("t", "a"));
    }
}
