//! Reading and parsing, in a thread of its own beside the one that writes. What is between the two is bounded, in
//! messages and in bytes, so that memory does not grow with the corpus.

use super::Plan;
use crate::mail::{Mail, NAME_BYTES, Unusable};
use crate::parse::Parser;
use crate::source::Found;
use anyhow::Result;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Messages, and their bytes, that are handed over at a time; and how many such parcels may wait.
const PARCEL_MESSAGES: usize = 256;
const PARCEL_BYTES: u64 = 1 << 20;
const PARCELS: usize = 8;

pub struct Item {
    pub file: String,
    pub bytes: u64,
    /// How far into the source.
    pub at: u64,
    pub outcome: Outcome,
}

pub enum Outcome {
    /// To be loaded; with the inbox of the mailbox it was found in.
    Wanted {
        mail: Mail,
        owner: String,
    },
    /// In no chosen inbox.
    Elsewhere,
    Unusable(Unusable),
}

/// Reads the source from after the first `skip` messages, and hands each on. Ends early if `each` fails.
pub fn read(plan: &Plan, skip: u64, mut each: impl FnMut(Item) -> Result<()>) -> Result<()> {
    thread::scope(|scope| {
        let (sender, receiver): (SyncSender<Vec<Item>>, Receiver<_>) = sync_channel(PARCELS);
        let reading = scope.spawn(move || send(plan, skip, &sender));
        let mut written = Ok(());
        'parcels: for parcel in &receiver {
            for item in parcel {
                written = each(item);
                if written.is_err() {
                    break 'parcels;
                }
            }
        }
        // Whoever still sends must notice that nobody listens any more.
        drop(receiver);
        let read = reading.join().unwrap_or_else(|_| Err(anyhow::anyhow!("the reader failed")));
        written.and(read)
    })
}

fn send(plan: &Plan, skip: u64, sender: &SyncSender<Vec<Item>>) -> Result<()> {
    let parser = Parser::new();
    let mut left = plan.limit.map_or(u64::MAX, |limit| limit.saturating_sub(skip));
    if left == 0 {
        return Ok(());
    }
    let mut parcel = Vec::new();
    let mut bytes = 0;
    plan.source.read(skip, &mut |found| {
        let item = look_at(plan, &parser, found);
        bytes += item.bytes;
        parcel.push(item);
        left -= 1;
        if parcel.len() == PARCEL_MESSAGES || bytes >= PARCEL_BYTES {
            bytes = 0;
            if sender.send(std::mem::take(&mut parcel)).is_err() {
                return ControlFlow::Break(());
            }
        }
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    // An error here is a listener that has gone, which knows why.
    let _ = sender.send(parcel);
    Ok(())
}

fn look_at(plan: &Plan, parser: &Parser, found: Found) -> Item {
    let Found { mut file, content, at } = found;
    let (bytes, parsed) = content.parse(parser);
    let owner = plan.owners.inbox(&file);
    let longest_name = file.len().max(owner.len());
    let outcome = match parsed {
        Err(unusable) => Outcome::Unusable(unusable),
        Ok(_) if longest_name > NAME_BYTES => Outcome::Unusable(Unusable::TooLarge(longest_name as u64)),
        Ok(mail) if plan.inboxes.want(&owner, &mail) => Outcome::Wanted { mail, owner },
        Ok(_) => Outcome::Elsewhere,
    };
    // All that is left of it is a line in the report.
    file.truncate(file.floor_char_boundary(NAME_BYTES));
    Item { file, bytes, at, outcome }
}
