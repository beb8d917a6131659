//! What becomes of a server's settings when its toolset is imported, upgraded, disabled and enabled. Pure.
//!
//! The bundle says what a server is: how it is reached, and with which values. An admin says what it may do: as soon as an
//! admin changes one of [`AdminSetting`], the bundle does not decide about that setting any more.

use crate::federation::server::{AdminSetting, ServerSettings, stdio_place};
use crate::registry::HeaderValue;
use crate::seal::Sealer;
use std::collections::BTreeMap;

/// The settings that a server gets from its bundle. `present` are those that it has now.
pub fn merged(
    present: Option<&ServerSettings>,
    mut wanted: ServerSettings,
    toolset_is_enabled: bool,
) -> ServerSettings {
    if let Some(present) = present {
        for setting in &present.own.by_admin {
            take(&mut wanted, present, *setting);
        }
        wanted.own.by_admin = present.own.by_admin.clone();
    }
    match resumed(&wanted).unwrap_or(wanted) {
        on if toolset_is_enabled => on,
        on => paused(&on).unwrap_or(on),
    }
}

fn take(wanted: &mut ServerSettings, present: &ServerSettings, setting: AdminSetting) {
    match setting {
        AdminSetting::Enabled => (wanted.enabled, wanted.paused) = (present.enabled, present.paused),
        AdminSetting::RequiresApproval => wanted.own.requires_approval = present.own.requires_approval,
        AdminSetting::RiskLevel => wanted.own.risk_level = present.own.risk_level,
        AdminSetting::AutoAccept => wanted.auto_accept = present.auto_accept,
        AdminSetting::AllowedHosts => {
            if let (Some(wanted), Some(present)) = (&mut wanted.own.process, &present.own.process) {
                wanted.allowed_hosts = present.allowed_hosts.clone();
            }
        }
    }
}

/// The settings while the toolset is disabled. None, if the server is off anyway.
pub fn paused(settings: &ServerSettings) -> Option<ServerSettings> {
    settings.enabled.then(|| ServerSettings { enabled: false, paused: true, ..settings.clone() })
}

/// The settings when the toolset is enabled again. None, if the server was not off because of its toolset.
pub fn resumed(settings: &ServerSettings) -> Option<ServerSettings> {
    settings.paused.then(|| ServerSettings { enabled: true, paused: false, ..settings.clone() })
}

/// Keeps the seals of literal values that have not changed. A value that is sealed again looks like another one.
pub fn keep_seals(sealer: Option<&Sealer>, id: &str, present: &ServerSettings, wanted: &mut ServerSettings) {
    if present.url == wanted.url {
        keep(sealer, &wanted.place(id), &present.headers, &mut wanted.headers);
    }
    if let (Some(present), Some(wanted)) = (&present.own.process, &mut wanted.own.process) {
        keep(sealer, &stdio_place(id), &present.env, &mut wanted.env);
    }
}

type Values = BTreeMap<String, HeaderValue>;

fn keep(sealer: Option<&Sealer>, place: &str, present: &Values, wanted: &mut Values) {
    for (name, value) in wanted {
        let open = |it: &HeaderValue| it.open(sealer, name, place);
        if let Some(present) = present.get(name).filter(|it| open(it).is_some_and(|it| Some(it) == open(value))) {
            *value = present.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::federation::bundled::fixture::process;
    use crate::registry::Risk;

    fn by_admin(settings: &[AdminSetting]) -> ServerSettings {
        let mut server = process();
        server.own.by_admin = settings.iter().copied().collect();
        server
    }

    #[test]
    fn a_bundle_decides_until_an_admin_does() {
        let mut wanted = process();
        (wanted.own.risk_level, wanted.own.requires_approval, wanted.auto_accept) = (Risk::Low, false, true);
        assert_eq!(merged(Some(&process()), wanted.clone(), true), wanted);
        assert_eq!(merged(None, wanted.clone(), true), wanted);

        let present = by_admin(&[AdminSetting::RequiresApproval, AdminSetting::AutoAccept]);
        let after = merged(Some(&present), wanted.clone(), true);
        assert_eq!((after.own.risk_level, after.own.requires_approval, after.auto_accept), (Risk::Low, true, false));
        assert_eq!(after.own.by_admin, present.own.by_admin, "it holds for the next upgrade too");

        let mut present = by_admin(&[AdminSetting::AllowedHosts, AdminSetting::RiskLevel]);
        if let Some(process) = &mut present.own.process {
            (process.allowed_hosts, process.command) = (vec!["a.example".into()], "node".into());
        }
        let after = merged(Some(&present), wanted, true);
        let process = after.own.process.unwrap();
        assert_eq!((process.allowed_hosts, process.command), (vec!["a.example".to_owned()], "python3".to_owned()));
        assert_eq!(after.own.risk_level, Risk::Medium);
    }

    #[test]
    fn servers_of_a_disabled_toolset_wait_for_it() {
        let state = |it: &ServerSettings| (it.enabled, it.paused);
        let new = merged(None, process(), false);
        assert_eq!(state(&new), (false, true));
        assert_eq!(state(&merged(Some(&new), process(), false)), (false, true));
        assert_eq!(state(&merged(Some(&new), process(), true)), (true, false));
        assert_eq!(state(&resumed(&new).unwrap()), (true, false));

        let mut off = process();
        off.enabled = false;
        assert_eq!(state(&merged(Some(&process()), off.clone(), false)), (false, false), "the bundle says so");
        off.own.by_admin.insert(AdminSetting::Enabled);
        assert_eq!(state(&merged(Some(&off), process(), true)), (false, false), "an admin says so");
        assert_eq!(state(&merged(Some(&off), process(), false)), (false, false));
        assert_eq!((paused(&off), resumed(&off)), (None, None));
        let paused_by_admin = paused(&by_admin(&[AdminSetting::Enabled])).unwrap();
        assert_eq!(state(&merged(Some(&paused_by_admin), off, true)), (true, false), "the admin had switched it on");
    }

    #[test]
    fn a_literal_value_that_stays_keeps_its_seal() {
        let sealer = Sealer::new("k");
        let sealed = |value: &str| {
            let plain = HeaderValue::Plain(value.into());
            plain.sealed(&sealer, "KEY", &stdio_place("m")).unwrap()
        };
        let with = |value: HeaderValue| {
            let mut server = process();
            if let Some(process) = &mut server.own.process {
                process.env = BTreeMap::from([("KEY".to_owned(), value)]);
            }
            server
        };
        let present = with(sealed("hunter2"));
        for (value, stays) in
            [(sealed("hunter2"), true), (sealed("hunter3"), false), (HeaderValue::Plain("${KEY}".into()), false)]
        {
            let mut wanted = with(value);
            assert_ne!(wanted, present);
            keep_seals(Some(&sealer), "m", &present, &mut wanted);
            assert_eq!(wanted == present, stays);
        }
        let mut wanted = with(sealed("hunter2"));
        keep_seals(Some(&Sealer::new("other")), "m", &present, &mut wanted);
        assert_ne!(wanted, present, "values that cannot be opened cannot be compared");
    }
}
