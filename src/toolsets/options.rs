//! What a caller asks of an import.

use super::toolset::Toolset;
use super::version::ToolsetVersion;
use crate::error::{Error, Result};

#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Tell what the import would do, and write nothing.
    pub dry_run: bool,
    /// Replace a toolset of the same id.
    pub replace: bool,
    /// Replace a newer version too.
    pub downgrade: bool,
    pub source_ref: Option<String>,
}

/// The longest `source_ref`.
const MAX_SOURCE_REF_CHARS: usize = 1_000;

/// What is wrong with a `source_ref`.
pub fn source_ref_fault(source_ref: Option<&str>) -> Option<String> {
    let text = source_ref.unwrap_or_default();
    (text.chars().count() > MAX_SOURCE_REF_CHARS || text.chars().any(char::is_control))
        .then(|| format!("must have at most {MAX_SOURCE_REF_CHARS} characters, and no control characters"))
}

impl ImportOptions {
    pub fn check(&self) -> Result<()> {
        if self.downgrade && !self.replace {
            return Err(Error::query("downgrade", "goes with replace=true only"));
        }
        match source_ref_fault(self.source_ref.as_deref()) {
            Some(message) => Err(Error::query("source_ref", message)),
            None => Ok(()),
        }
    }

    /// Whether a bundle of this version may take the place of the present toolset.
    pub fn may_replace(&self, present: &Toolset, version: &ToolsetVersion) -> Result<()> {
        let Toolset { id, version: old, .. } = present;
        if !self.replace {
            return Err(Error::AlreadyExists(format!(
                "The toolset {id} exists, at version {old}: add ?replace=true to replace it"
            )));
        }
        let is_older = ToolsetVersion::parse(old).is_some_and(|old| *version < old);
        if is_older && !self.downgrade {
            return Err(Error::Conflict(format!(
                "The toolset {id} is installed at version {old}, and the bundle has the older version {version}: add \
                 &downgrade=true to replace it all the same"
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn an_older_version_needs_a_downgrade() {
        let present = Toolset {
            id: "kit".into(),
            name: "Kit".into(),
            version: "1.2.0".into(),
            description: String::new(),
            enabled: true,
            installed_at: Timestamp::from_millis(0).unwrap(),
            source_ref: None,
            manifest_version: "1".into(),
            warnings: Vec::new(),
            revision: 1,
        };
        let code = |replace, downgrade, version: &str| {
            let options = ImportOptions { replace, downgrade, ..ImportOptions::default() };
            options
                .may_replace(&present, &ToolsetVersion::parse(version).unwrap())
                .map_err(|it| it.code().to_owned())
                .err()
        };
        assert_eq!(code(false, false, "2.0.0").as_deref(), Some("ALREADY_EXISTS"));
        assert_eq!(code(true, false, "1.2.0"), None);
        assert_eq!(code(true, false, "1.10.0"), None);
        assert_eq!(code(true, false, "1.2.0-rc.1").as_deref(), Some("CONFLICT"));
        assert_eq!(code(true, true, "0.1.0"), None);
        assert!(ImportOptions { downgrade: true, ..ImportOptions::default() }.check().is_err());
    }
}
