//! What the files of a toolset are for, told by their paths.

use crate::text_enum::text_enum;

text_enum! {
    /// What a file of a toolset is for.
    FileKind {
        Python = "python",
        Artifact = "artifact",
        Asset = "asset",
        Config = "config",
    }
}

impl FileKind {
    /// The kind of the file at this path.
    pub fn of(path: &str) -> Self {
        let extension = path.rsplit_once('.').map_or("", |it| it.1).to_ascii_lowercase();
        match extension.as_str() {
            "py" => Self::Python,
            "html" | "htm" => Self::Artifact,
            _ if path.starts_with("artifacts/") => Self::Artifact,
            "yaml" | "yml" | "toml" | "json" | "cfg" | "ini" if !path.contains('/') => Self::Config,
            _ => Self::Asset,
        }
    }
}
