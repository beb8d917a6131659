//! A server as a bundle declares it, for exports. No secret leaves: a value that names credentials keeps their names, and a
//! literal value becomes a name made of its key. Pure.

use crate::federation::given::ServerIn;
use crate::federation::server::{McpServer, Transport};
use crate::registry::{HeaderValue, Risk};
use std::collections::BTreeMap;

/// The longest name of a credential.
const MAX_NAME: usize = 64;

/// Only what differs from the defaults is declared, so that the same server always looks the same.
pub fn exported(server: &McpServer) -> ServerIn {
    let settings = &server.settings;
    let process = settings.own.process.as_ref();
    let default = if process.is_some() { Transport::Stdio } else { Transport::StreamableHttp };
    let is_on = settings.enabled || settings.paused;
    ServerIn {
        id: server.name().to_owned(),
        transport: Some(settings.transport).filter(|it| *it != default),
        url: settings.url.clone(),
        headers: without_secrets(&settings.headers),
        command: process.map(|it| it.command.clone()),
        args: process.map(|it| it.args.clone()).filter(|it| !it.is_empty()),
        env: process.and_then(|it| without_secrets(&it.env)),
        cwd: process.and_then(|it| it.cwd.clone()),
        enabled: (!is_on).then_some(false),
        requires_approval: (!settings.own.requires_approval).then_some(false),
        risk_level: Some(settings.own.risk_level).filter(|it| *it != Risk::Medium),
        auto_accept: settings.auto_accept.then_some(true),
        allowed_hosts: process.map(|it| it.allowed_hosts.clone()).filter(|it| !it.is_empty()),
    }
}

fn without_secrets(values: &BTreeMap<String, HeaderValue>) -> Option<BTreeMap<String, String>> {
    let named = |(key, value): (&String, &HeaderValue)| {
        let names_credentials = value.plain().filter(|_| !value.needs_seal());
        (key.clone(), names_credentials.map_or_else(|| format!("${{{}}}", name_of(key)), str::to_owned))
    };
    let values = values.iter().map(named).collect::<BTreeMap<_, _>>();
    (!values.is_empty()).then_some(values)
}

/// The name of a credential for the value of a header or a variable: the key in upper case, with `_` for what no name has.
fn name_of(key: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_uppercase() } else { '_' };
    let name = key.chars().map(plain).collect::<String>();
    let digit = if name.starts_with(|it: char| it.is_ascii_digit()) || name.is_empty() { "_" } else { "" };
    format!("{digit}{name}").chars().take(MAX_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::federation::bundled::fixture::{process, remote};
    use crate::federation::server::ServerSettings;
    use crate::ids::UpstreamId;
    use crate::registry::credential::is_credential_id;
    use crate::time::Timestamp;
    use crate::upstreams::Upstream;
    use serde_json::{Value, json};

    fn shown(settings: ServerSettings) -> Value {
        let id = UpstreamId::parse("m:").unwrap();
        json!(exported(&Upstream::new(id, settings, Timestamp::from_millis(0).unwrap())))
    }

    fn values(of: &[(&str, HeaderValue)]) -> BTreeMap<String, HeaderValue> {
        of.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    #[test]
    fn a_server_is_declared_as_shortly_as_it_can_be() {
        assert_eq!(shown(process()), json!({"id": "m", "command": "python3", "args": ["main.py"]}));
        assert_eq!(shown(remote()), json!({"id": "m", "url": "https://a.example/mcp"}));
        let mut all = remote();
        (all.transport, all.enabled, all.auto_accept) = (Transport::Sse, false, true);
        (all.own.risk_level, all.own.requires_approval) = (Risk::High, false);
        assert_eq!(
            shown(all.clone()),
            json!({"id": "m", "transport": "sse", "url": "https://a.example/mcp", "enabled": false, "auto_accept": true,
                "risk_level": "high", "requires_approval": false})
        );
        all.paused = true;
        assert_eq!(shown(all)["enabled"], Value::Null, "its toolset is disabled, and not the server");
    }

    #[test]
    fn secrets_are_names() {
        let sealed = || HeaderValue::Sealed { sealed: "c2VjcmV0".into() };
        let mut server = remote();
        server.headers = values(&[
            ("Authorization", HeaderValue::Plain("Bearer ${MY_KEY}".into())),
            ("X-Api-Key", sealed()),
            ("X-Old", HeaderValue::Plain("a literal that was never sealed".into())),
        ]);
        let expected = json!({"Authorization": "Bearer ${MY_KEY}", "X-Api-Key": "${X_API_KEY}", "X-Old": "${X_OLD}"});
        assert_eq!(shown(server)["headers"], expected);
        let mut server = process();
        if let Some(process) = &mut server.own.process {
            process.env = values(&[("api_key", sealed()), ("OTHER", HeaderValue::Plain("${A}${B}".into()))]);
        }
        assert_eq!(shown(server)["env"], json!({"OTHER": "${A}${B}", "api_key": "${API_KEY}"}));
    }

    #[test]
    fn every_key_gives_a_name() {
        for (key, name) in [("X-Api-Key", "X_API_KEY"), ("a", "A"), ("2fa", "_2FA"), ("é!", "__"), ("", "_")] {
            assert_eq!(name_of(key), name);
        }
        for key in ["x".repeat(200), "9".repeat(64), "!".to_owned()] {
            assert!(is_credential_id(&name_of(&key)), "{key}");
        }
    }
}
