//! The vars and secrets that operators set, read once per isolate: they cannot change within one.

use sha2::{Digest, Sha256};
use std::sync::OnceLock;
use worker::Env;

pub struct Settings {
    /// Without a token, a caller owns the workspace it names. For development only.
    pub open: bool,
    /// SHA-256 of the token that is owner everywhere.
    pub root_token: Option<[u8; 32]>,
    /// Origins that browsers may call from; `*` for all.
    pub cors_origins: Vec<String>,
    /// Whether answers tell what they cost.
    pub cost_header: bool,
}

impl Settings {
    pub fn of(env: &Env) -> &'static Self {
        static SETTINGS: OnceLock<Settings> = OnceLock::new();
        SETTINGS.get_or_init(|| Self::read(|name| env.var(name).ok().map(|it| it.to_string())))
    }

    /// Fails closed: no other word opens.
    fn read(var: impl Fn(&str) -> Option<String>) -> Self {
        let is = |name: &str, word: &str| var(name).is_some_and(|it| it.trim() == word);
        Self {
            open: is("AUTH", "open"),
            root_token: var("ROOT_TOKEN").filter(|token| !token.is_empty()).map(|token| Sha256::digest(token).into()),
            cors_origins: var("CORS_ORIGINS")
                .unwrap_or_default()
                .split(',')
                .map(|origin| origin.trim().to_owned())
                .filter(|origin| !origin.is_empty())
                .collect(),
            cost_header: is("COST_HEADER", "on"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Settings {
        Settings::read(|name| vars.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn nothing_set_is_closed() {
        let settings = read(&[]);
        assert!(!settings.open && !settings.cost_header);
        assert!(settings.root_token.is_none() && settings.cors_origins.is_empty());
    }

    #[test]
    fn only_the_exact_word_opens() {
        assert!(read(&[("AUTH", "open")]).open);
        for word in ["", "Open", "required", "true", "opened"] {
            assert!(!read(&[("AUTH", word)]).open, "{word}");
        }
    }

    #[test]
    fn an_empty_root_token_is_none() {
        assert!(read(&[("ROOT_TOKEN", "")]).root_token.is_none());
        assert!(read(&[("ROOT_TOKEN", "x")]).root_token.is_some());
    }

    #[test]
    fn origins_are_a_comma_list() {
        assert_eq!(
            read(&[("CORS_ORIGINS", "https://a.example, https://b.example,")]).cors_origins,
            ["https://a.example", "https://b.example"]
        );
    }
}
