//! Secrets at rest. A secret that must wait in the database is sealed with a key that is not in the database. A secret
//! that must only be compared is stored as a keyed hash. A person who has only the database cannot test guesses against
//! this hash. A text that leaves the Worker and comes back is signed, so that the Worker recognises its own texts without
//! a look at the database.

use crate::error::{Error, Result};
use crate::hex;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

const NONCE_BYTES: usize = 24;

/// The number of bytes in a signature. 128 bits cannot be guessed, and keep a token short.
const SIGNATURE_BYTES: usize = 16;

pub struct Sealer {
    seal: [u8; 32],
    hash: [u8; 32],
    sign: [u8; 32],
}

impl Sealer {
    /// Derives one key for each use from one secret, so that no use reveals the key of another.
    pub fn new(secret: &str) -> Self {
        let key = |purpose: &str| Sha256::digest(format!("pegboard/{purpose}/{secret}")).into();
        Self { seal: key("seal"), hash: key("hash"), sign: key("sign") }
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
        Ok(hex::encode(&mac(&self.hash, text)?.finalize().into_bytes()))
    }

    /// The signature of `text`, in hexadecimal: the first half of a keyed hash.
    pub fn sign(&self, text: &str) -> Result<String> {
        Ok(hex::encode(&mac(&self.sign, text)?.finalize().into_bytes()[..SIGNATURE_BYTES]))
    }

    /// Whether `signature` is the signature of `text`. The comparison takes the same time for every wrong signature.
    pub fn is_signed(&self, text: &str, signature: &str) -> bool {
        let Some(bytes) = hex::decode(signature).filter(|it| it.len() == SIGNATURE_BYTES) else { return false };
        mac(&self.sign, text).is_ok_and(|it| it.verify_truncated_left(&bytes).is_ok())
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&Key::from(self.seal))
    }
}

fn mac(key: &[u8; 32], text: &str) -> Result<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key)
        .map_err(|cause| Error::Internal(format!("a hash key does not fit: {cause}")))?;
    mac.update(text.as_bytes());
    Ok(mac)
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
    fn only_the_same_secret_signs_the_same_text() {
        let sealer = Sealer::new("s3cret");
        let signature = sealer.sign("a").unwrap();
        assert_eq!(signature.len(), 2 * SIGNATURE_BYTES);
        assert!(sealer.is_signed("a", &signature));
        assert!(!sealer.is_signed("b", &signature) && !Sealer::new("other").is_signed("a", &signature));
        assert!(!signature.starts_with(&sealer.hash("a").unwrap()[..8]), "each use has its own key");
        for wrong in ["", "00", &signature[2..], &format!("{signature}00"), &format!("zz{}", &signature[2..])] {
            assert!(!sealer.is_signed("a", wrong), "{wrong}");
        }
    }

    #[test]
    fn hashes_depend_on_the_secret() {
        let hash = |secret: &str, text: &str| Sealer::new(secret).hash(text).unwrap();
        assert_eq!(hash("s", "a"), hash("s", "a"));
        assert_ne!(hash("s", "a"), hash("s", "b"));
        assert_ne!(hash("s", "a"), hash("t", "a"));
    }
}
