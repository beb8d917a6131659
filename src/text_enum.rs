//! Enums whose variants are one word of text everywhere: in SQL, in JSON, in a query string and in the docs.

/// An enum that [`text_enum!`] declares: its variants can be listed, and found by their words.
pub trait TextEnum: Copy + 'static {
    /// Every variant, in the order of the declaration.
    const ALL: &'static [Self];

    fn word(self) -> &'static str;

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.word() == word)
    }
}

/// Declares such an enum. The variants are ordered as they are declared, and the text of each is written once.
macro_rules! text_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:tt),+ $(,)? }) => {
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, utoipa::ToSchema,
        )]
        $(#[$meta])*
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl $crate::text_enum::TextEnum for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn word(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use text_enum;

#[cfg(test)]
mod tests {
    use super::TextEnum;

    text_enum! {
        /// For the test.
        Size { Small = "small", Large = "large" }
    }

    #[test]
    fn variants_are_listed_and_found_by_their_words() {
        assert_eq!(Size::ALL, [Size::Small, Size::Large]);
        for size in Size::ALL {
            assert_eq!(Size::parse(size.as_str()), Some(*size));
            assert_eq!(size.to_string(), size.word());
        }
        assert_eq!(Size::parse("Small"), None);
    }
}
