//! The owners of mailboxes. The corpus files messages by mailbox, `allen-p/inbox/1.`; an inbox has its owner's address.

use crate::hex::hex;
use crate::mail::Mail;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::Path;

/// Directory, TAB, address: measured on the corpus, as the head of the file explains.
const OWNERS: &str = include_str!("owners.tsv");

/// The name of the folder that holds all mailboxes.
pub const MAILDIR: &str = "maildir";

/// The inboxes of ART-E's questions: eight for tests, twenty for training.
#[rustfmt::skip]
pub const ART_E: [&str; 28] = [
    "karen.denne", "john.lavorato", "paul.kaufman", "sarah.novosel",
    "greg.whalley", "james.steffes", "sara.shackleton", "tim.belden",

    "louise.kitchen", "gerald.nemec", "susan.mara", "alan.comnes", "joe.hartsoe",
    "william.bradford", "harry.kingerski", "kate.symes", "richard.shapiro", "sally.beck",
    "jeff.dasovich", "kay.mann", "daren.farmer", "steven.kean", "richard.sanders",
    "mark.taylor", "pete.davis", "elizabeth.sager", "tana.jones", "sandra.mccubbin",
];

/// The rule that decides in which inboxes a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// The inbox of the mailbox where the message was found.
    Owner,
    /// Each chosen inbox that is in the message's From, To, Cc or Bcc (ART-E's rule).
    Participant,
}

impl Rule {
    /// The rule's name on the command line and in the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Participant => "participant",
        }
    }
}

/// The rule, and the chosen inboxes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inboxes {
    pub rule: Rule,
    /// In lower case of ASCII, like SQLite's lower(), which searches use. `None`, under the owner rule, means all
    /// inboxes.
    pub chosen: Option<BTreeSet<String>>,
}

impl Inboxes {
    pub fn new(rule: Rule, chosen: &[String]) -> Self {
        let chosen = match (rule, chosen) {
            (Rule::Owner, []) => None,
            (Rule::Participant, []) => Some(ART_E.iter().map(|name| format!("{name}@enron.com")).collect()),
            (_, some) => Some(some.iter().map(|inbox| inbox.to_ascii_lowercase()).collect()),
        };
        Self { rule, chosen }
    }

    /// The union of both selections, if one import can load it: each inbox must get the messages that it would get
    /// alone. The participant rule does not allow this: earlier imports left out the messages in which none of their
    /// inboxes took part.
    pub fn with(&self, more: &Self) -> Option<Self> {
        let chosen = match (self.rule, more.rule, &self.chosen, &more.chosen) {
            _ if self == more => self.chosen.clone(),
            (Rule::Owner, Rule::Owner, Some(some), Some(more)) => Some(some | more),
            (Rule::Owner, Rule::Owner, _, _) => None,
            _ => return None,
        };
        Some(Self { rule: self.rule, chosen })
    }

    /// The inboxes that hold the message; `owner` is the owner of the mailbox where it was found.
    pub fn of(&self, owner: &str, sender: &str, recipients: &[String]) -> BTreeSet<String> {
        let people: Vec<&str> = match self.rule {
            Rule::Owner => vec![owner],
            Rule::Participant => std::iter::once(sender).chain(recipients.iter().map(String::as_str)).collect(),
        };
        let chosen = |each: &String| self.chosen.as_ref().is_none_or(|some| some.contains(each));
        people.into_iter().map(str::to_ascii_lowercase).filter(chosen).collect()
    }

    /// Whether any inbox holds the message.
    pub fn want(&self, owner: &str, mail: &Mail) -> bool {
        match (self.rule, &self.chosen) {
            (Rule::Owner, None) => true,
            _ => !self.of(owner, &mail.sender, &mail.recipients).is_empty(),
        }
    }
}

impl fmt::Display for Inboxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--inbox-rule {}, ", self.rule.name())?;
        match &self.chosen {
            None => f.write_str("all inboxes"),
            Some(some) if some.len() > 3 => write!(f, "{} inboxes", some.len()),
            Some(some) => f.write_str(&Vec::from_iter(some.iter().map(String::as_str)).join(", ")),
        }
    }
}

/// The directories of mailboxes, and the addresses of their owners.
pub struct Owners(HashMap<String, String>);

impl Owners {
    /// The owners of the corpus, and the owners of a file in the same form, which override them.
    pub fn read(more: Option<&Path>) -> Result<Self> {
        let mut owners = HashMap::new();
        let more = match more {
            Some(path) => std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?,
            None => String::new(),
        };
        for line in OWNERS.lines().chain(more.lines()) {
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            let Some((directory, address)) = line.split_once('\t') else {
                bail!("owners are `directory TAB address`, one a line, and not `{line}`");
            };
            owners.insert(directory.trim().to_owned(), address.trim().to_ascii_lowercase());
        }
        Ok(Self(owners))
    }

    /// The inbox of a mailbox. Without a known owner it is called like the directory.
    pub fn inbox(&self, file: &str) -> String {
        let directory = mailbox(file);
        self.0.get(directory).cloned().unwrap_or_else(|| directory.to_ascii_lowercase())
    }

    pub fn know(&self, directory: &str) -> bool {
        self.0.contains_key(directory)
    }

    /// A hash of the owners. They decide where messages go, so an interrupted import needs the same owners.
    pub fn fingerprint(&self) -> String {
        let lines: Vec<String> =
            self.all().iter().map(|(directory, address)| format!("{directory}\t{address}\n")).collect();
        hex(&Sha256::digest(lines.concat())[..8])
    }

    /// Every mailbox, by directory, for synthetic mail.
    pub fn all(&self) -> Vec<(&str, &str)> {
        let mut all: Vec<_> =
            self.0.iter().map(|(directory, address)| (directory.as_str(), address.as_str())).collect();
        all.sort_unstable();
        all
    }
}

/// `allen-p` of `allen-p/inbox/1.`, `maildir/allen-p/inbox/1.` and `enron/maildir/allen-p/inbox/1.`.
fn mailbox(file: &str) -> &str {
    let parts: Vec<&str> = file.trim_start_matches("./").split('/').collect();
    // A mailbox is a folder: a file in `maildir` itself has none.
    let folders = &parts[..parts.len().saturating_sub(1)];
    let inside = folders.windows(2).rposition(|pair| pair[0] == MAILDIR).map_or(0, |at| at + 1);
    parts[inside]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mailbox_is_its_owners() {
        let owners = Owners::read(None).unwrap();
        assert_eq!(owners.inbox("allen-p/inbox/1."), "phillip.allen@enron.com");
        assert_eq!(owners.inbox("maildir/lay-k/inbox/family/2."), "kenneth.lay@enron.com");
        assert_eq!(owners.inbox("enron_mail_20150507/maildir/crandell-s/1."), "sean.crandall@enron.com");
        assert_eq!(owners.inbox("./steffes-j/1."), "james.steffes@enron.com");
        assert_eq!(owners.inbox("Nobody-X/inbox/1."), "nobody-x");
        assert_eq!(owners.inbox("allen-p/old_maildir/inbox/1."), "phillip.allen@enron.com");
        assert_eq!(owners.inbox("allen-p/maildir/1."), "phillip.allen@enron.com");
        assert_eq!(owners.inbox("Émile-X/1."), "Émile-x");
        assert_eq!(owners.0.len(), 144);
    }

    #[test]
    fn under_the_owner_rule_a_message_is_where_it_was_found() {
        let all = Inboxes::new(Rule::Owner, &[]);
        assert_eq!(Vec::from_iter(all.of("a@x", "b@x", &[])), ["a@x"]);
        let one = Inboxes::new(Rule::Owner, &["B@x".into()]);
        assert!(one.of("a@x", "b@x", &[]).is_empty());
    }

    #[test]
    fn under_the_participant_rule_it_is_with_all_who_are_named() {
        let two = Inboxes::new(Rule::Participant, &["b@x".into(), "C@x".into(), "d@x".into()]);
        let recipients = ["c@x".to_owned(), "e@x".to_owned()];
        assert_eq!(Vec::from_iter(two.of("a@x", "B@X", &recipients)), ["b@x", "c@x"]);
        assert!(two.of("d@x", "a@x", &[]).is_empty());
        assert_eq!(Inboxes::new(Rule::Participant, &[]).chosen.unwrap().len(), 28);
    }

    #[test]
    fn by_the_owner_rule_more_inboxes_take_none_away() {
        let of =
            |rule, chosen: &[&str]| Inboxes::new(rule, &chosen.iter().map(|&each| each.to_owned()).collect::<Vec<_>>());
        let owner = |chosen: &[&str]| of(Rule::Owner, chosen);
        assert_eq!(owner(&["a"]).with(&owner(&["b"])), Some(owner(&["a", "b"])));
        assert_eq!(owner(&[]).with(&owner(&["b"])), Some(owner(&[])));
        assert_eq!(owner(&["a"]).with(&owner(&[])), Some(owner(&[])));
        assert_eq!(owner(&["a"]).with(&of(Rule::Participant, &["a"])), None);
        assert_eq!(of(Rule::Participant, &["a"]).with(&of(Rule::Participant, &["b"])), None);
        assert_eq!(of(Rule::Participant, &[]).with(&of(Rule::Participant, &[])), Some(of(Rule::Participant, &[])));
    }
}
