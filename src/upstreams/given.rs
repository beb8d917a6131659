//! The rules for the URL and the headers that an admin gives to an upstream.

use crate::callers::Scope;
use crate::error::{Error, Place, Problem, Result};
use crate::outgoing::{check_url, credentials_in, fault_of_header, may_carry_credentials};
use crate::registry::credential::is_credential_id;
use crate::registry::{HeaderValue, NOT_OPENED};
use std::collections::BTreeMap;

const MAX_URL_BYTES: usize = 2_048;
const MAX_HEADERS: usize = 32;

/// What is shown instead of a value that may be secret.
pub const MASK: &str = "***";

const MASKED: &str = "is masked: give the value itself";
pub const NO_NAME: &str = "must be 1 to 64 lower-case letters, digits, _ or -";
const NO_PRESENT_VALUE: &str = "is masked, and stands for no present value at the same origin: give the value itself";
const NO_KEY: &str = "has a literal value, which is stored sealed, and no SECRET_KEY is configured: \
    npx wrangler secret put SECRET_KEY, or name a credential as ${NAME}";

/// Values by their names, as they are stored: literal values are sealed.
type Values = BTreeMap<String, HeaderValue>;

/// Collects everything that is wrong with a body.
#[derive(Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    pub fn add(&mut self, path: &str, message: &str) {
        self.0.push(Problem { place: Place::Body, path: path.to_owned(), message: message.to_owned() });
    }

    pub fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        self.0.extend(problems);
    }

    /// Fails if there is any problem.
    pub fn none(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Invalid(self.0)) }
    }

    /// Checks the address that the headers are sent to.
    pub fn url(&mut self, scope: &Scope, url: &str, headers: &Values) {
        if url.len() > MAX_URL_BYTES {
            return self.add("/url", "is too long");
        }
        match check_url(url, scope.app().url_rules()) {
            Ok(url)
                if !credentials_of(headers).is_empty() && !may_carry_credentials(&url, scope.app().settings().open) =>
            {
                self.add("/url", "must be https, because the headers hold credentials");
            }
            Ok(_) => {}
            Err(fault) => self.add("/url", fault),
        }
    }

    pub fn headers(&mut self, headers: &Values) {
        if headers.len() > MAX_HEADERS {
            self.add("/headers", &format!("holds {} headers; {MAX_HEADERS} are allowed", headers.len()));
        }
        for (name, value) in headers {
            let value = value.plain().unwrap_or_default();
            if let Some(fault) = fault_of_header(name, value).or_else(|| fault_of_credentials(value)) {
                self.add(&format!("/headers/{}", name.chars().take(64).collect::<String>()), fault);
            }
        }
    }

    /// A masked value stands for no value of its own.
    pub fn masked(&mut self, field: &str, values: &Values) {
        for (name, _) in values.iter().filter(|(_, value)| value.plain() == Some(MASK)) {
            self.add(&format!("/{field}/{name}"), MASKED);
        }
    }

    /// The values that a change gives. A masked value keeps the present value of its name.
    pub fn changed(&mut self, field: &str, given: BTreeMap<String, String>, present: &Values) -> Values {
        let mut values = plain(given);
        for (name, value) in values.iter_mut().filter(|(_, value)| value.plain() == Some(MASK)) {
            match present.get(name) {
                Some(present) => *value = present.clone(),
                None => self.add(&format!("/{field}/{name}"), NO_PRESENT_VALUE),
            }
        }
        values
    }

    /// Opens values that were sealed for the place, so that they can be checked.
    pub fn opened(&mut self, scope: &Scope, field: &str, values: &mut Values, sealed_for: &str) {
        let sealer = scope.app().settings().sealer.as_ref();
        for (name, value) in values {
            let path = format!("/{field}/{name}");
            match value.open(sealer, name, sealed_for) {
                Some(text) if text == MASK => self.add(&path, MASKED),
                Some(text) => *value = HeaderValue::Plain(text),
                None => self.add(&path, NOT_OPENED),
            }
        }
    }

    /// The values as they are stored, sealed for the place `sealed_for`. Values that were sealed before stay as they are.
    /// Fails if there is any problem.
    pub fn sealed(self, scope: &Scope, field: &str, values: &Values, sealed_for: &str) -> Result<Values> {
        self.none()?;
        let mut problems = Self::default();
        let sealer = scope.app().settings().sealer.as_ref();
        let mut sealed = BTreeMap::new();
        for (name, value) in values {
            match sealer {
                Some(sealer) => {
                    sealed.insert(name.clone(), value.sealed(sealer, name, sealed_for)?);
                }
                None if value.needs_seal() => problems.add(&format!("/{field}/{name}"), NO_KEY),
                None => {
                    sealed.insert(name.clone(), value.clone());
                }
            }
        }
        problems.none().map(|()| sealed)
    }
}

/// The fault of a value whose `${NAME}` can be no credential.
pub fn fault_of_credentials(value: &str) -> Option<&'static str> {
    let named = credentials_in(value).all(is_credential_id);
    (!named).then_some("names what could be no credential between ${ and }")
}

/// The credentials that the values name. No credential is in a sealed value.
pub fn credentials_of(values: &Values) -> Vec<String> {
    let values = values.values().filter_map(HeaderValue::plain);
    values.flat_map(credentials_in).map(str::to_owned).collect()
}

/// The headers that stay when the URL changes: all of them at the same origin, and none at another. Values are sealed for
/// the whole URL, so another path needs them opened, to be sealed again.
pub fn kept_headers(scope: &Scope, headers: &Values, before: &str, after: &str) -> Values {
    let same_origin = origin(after).is_some_and(|it| origin(before) == Some(it));
    let kept = headers.iter().filter(|_| same_origin).map(|(name, value)| {
        let sealer = scope.app().settings().sealer.as_ref().filter(|_| after != before);
        let opened = sealer.and_then(|it| value.open(Some(it), name, before));
        (name.clone(), opened.map_or_else(|| value.clone(), HeaderValue::Plain))
    });
    kept.collect()
}

pub fn trimmed(url: &str) -> String {
    url.trim().trim_end_matches('/').to_owned()
}

pub fn plain(values: BTreeMap<String, String>) -> Values {
    values.into_iter().map(|(name, value)| (name, HeaderValue::Plain(value))).collect()
}

/// The scheme, the host and the port.
fn origin(url: &str) -> Option<String> {
    web_sys::Url::new(url).ok().map(|it| it.origin())
}
