//! What `jsonschema` and Pegboard need of the crate `data-encoding`: encodings of RFC 4648, strictly as it says.

use std::fmt;

pub static BASE64: Encoding = Encoding::new(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
pub static BASE64URL: Encoding = Encoding::new(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
pub static BASE32: Encoding = Encoding::new(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
pub static BASE32HEX: Encoding = Encoding::new(b"0123456789ABCDEFGHIJKLMNOPQRSTUV");
pub static HEXUPPER: Encoding = Encoding::new(b"0123456789ABCDEF");

/// The value of what is no symbol.
const NONE: u8 = u8::MAX;

/// Bytes as text, a few bits a symbol, filled up with `=` to whole groups.
#[derive(Debug)]
pub struct Encoding {
    symbols: &'static [u8],
    /// What each byte stands for as a symbol.
    values: [u8; 256],
    /// How many bits a symbol has.
    bits: u32,
    /// The smallest number of symbols that make whole bytes.
    group: usize,
}

impl Encoding {
    const fn new(symbols: &'static [u8]) -> Self {
        let mut values = [NONE; 256];
        let mut index = 0;
        while index < symbols.len() {
            values[symbols[index] as usize] = index as u8;
            index += 1;
        }
        let bits = symbols.len().ilog2();
        let group = match bits {
            4 => 2,
            5 => 8,
            _ => 4,
        };
        Self { symbols, values, bits, group }
    }

    pub fn encode_append(&self, input: &[u8], output: &mut String) {
        let start = output.len();
        let (mut buffer, mut held) = (0_u32, 0);
        for byte in input {
            buffer = buffer << 8 | u32::from(*byte);
            held += 8;
            while held >= self.bits {
                held -= self.bits;
                output.push(self.symbol(buffer >> held));
            }
        }
        if held > 0 {
            output.push(self.symbol(buffer << (self.bits - held)));
        }
        while !(output.len() - start).is_multiple_of(self.group) {
            output.push('=');
        }
    }

    fn symbol(&self, value: u32) -> char {
        char::from(self.symbols[value as usize % self.symbols.len()])
    }

    pub fn decode(&self, input: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let length = input.iter().rposition(|it| *it != b'=').map_or(0, |it| it + 1);
        let (symbols, padding) = input.split_at(length);
        let mut output = Vec::with_capacity(symbols.len() * self.bits as usize / 8);
        let (mut buffer, mut held) = (0_u32, 0);
        for symbol in symbols {
            let value = self.values[usize::from(*symbol)];
            if value == NONE {
                return Err(DecodeError);
            }
            buffer = buffer << self.bits | u32::from(value);
            held += self.bits;
            if held >= 8 {
                held -= 8;
                output.push((buffer >> held) as u8);
            }
        }
        // What is left over is the rest of a byte's last symbol: less than one, and zeros.
        let is_whole = input.len().is_multiple_of(self.group) && padding.len() < self.group && held < self.bits;
        if is_whole && buffer & ((1 << held) - 1) == 0 { Ok(output) } else { Err(DecodeError) }
    }
}

/// A text that is not what the encoding would have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError;

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a symbol, the padding or the length is wrong")
    }
}

impl std::error::Error for DecodeError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(encoding: &Encoding, bytes: &[u8]) -> String {
        let mut text = String::new();
        encoding.encode_append(bytes, &mut text);
        text
    }

    /// RFC 4648, section 10.
    #[test]
    fn the_standards_examples() {
        for (text, base64, base32, base32hex, base16) in [
            ("", "", "", "", ""),
            ("f", "Zg==", "MY======", "CO======", "66"),
            ("fo", "Zm8=", "MZXQ====", "CPNG====", "666F"),
            ("foo", "Zm9v", "MZXW6===", "CPNMU===", "666F6F"),
            ("foob", "Zm9vYg==", "MZXW6YQ=", "CPNMUOG=", "666F6F62"),
            ("fooba", "Zm9vYmE=", "MZXW6YTB", "CPNMUOJ1", "666F6F6261"),
            ("foobar", "Zm9vYmFy", "MZXW6YTBOI======", "CPNMUOJ1E8======", "666F6F626172"),
        ] {
            let encodings = [
                (&BASE64, base64),
                (&BASE64URL, base64),
                (&BASE32, base32),
                (&BASE32HEX, base32hex),
                (&HEXUPPER, base16),
            ];
            for (encoding, expected) in encodings {
                assert_eq!(encoded(encoding, text.as_bytes()), expected);
                assert_eq!(encoding.decode(expected.as_bytes()), Ok(text.into()), "{expected}");
            }
        }
    }

    #[test]
    fn every_byte_comes_back() {
        let bytes = (0..=u8::MAX).chain((0..=u8::MAX).rev()).collect::<Vec<_>>();
        for encoding in [&BASE64, &BASE64URL, &BASE32, &BASE32HEX, &HEXUPPER] {
            for length in [0, 1, 2, 3, 4, 5, 255, 511, 512] {
                let text = encoded(encoding, &bytes[..length]);
                assert_eq!(encoding.decode(text.as_bytes()).as_deref(), Ok(&bytes[..length]), "{text}");
            }
        }
        assert!(encoded(&BASE64, &bytes).contains(['+', '/']) && !encoded(&BASE64URL, &bytes).contains(['+', '/']));
    }

    #[test]
    fn what_no_encoder_writes_is_refused() {
        let refused = [
            (&BASE64, ["Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Z===", "====", "=", "Zg==Zg==", "Zm9v\n", "Zm9-", "Zmé"]),
            (
                &BASE32,
                [
                    "MY",
                    "MY=====",
                    "MZ======",
                    "M=======",
                    "MYA=====",
                    "my======",
                    "M1======",
                    "1",
                    "=",
                    "========",
                    " ",
                    "MY=======",
                ],
            ),
            (&HEXUPPER, ["6", "6f", "6=", "666", "G0", "=", "==", "66=", "66==", " 66", "0x66", "é"]),
        ];
        for (encoding, texts) in refused {
            for text in texts {
                assert_eq!(encoding.decode(text.as_bytes()), Err(DecodeError), "{text}");
            }
        }
    }
}
