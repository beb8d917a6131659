//! Reads and parses in a thread of its own, beside the thread that writes. The queue between the two is bounded, in
//! messages and in bytes, so that memory does not grow with the corpus.

use super::Plan;
use crate::mail::{Mail, NAME_BYTES, Unusable};
use crate::parse::Parser;
use crate::source::Found;
use anyhow::Result;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// The messages and the bytes of one parcel, and how many parcels may wait in the queue.
const PARCEL_MESSAGES: usize = 256;
const PARCEL_BYTES: u64 = 1 << 20;
const PARCELS: usize = 8;

pub struct Item {
    pub file: String,
    pub bytes: u64,
    /// The position in the source.
    pub at: u64,
    pub outcome: Outcome,
}

pub enum Outcome {
    /// A message to load, with the inbox of the mailbox where it was found.
    Wanted {
        mail: Mail,
        owner: String,
    },
    /// A message in no chosen inbox.
    Elsewhere,
    Unusable(Unusable),
}

/// Reads the source after the first `skip` messages, and passes each message on. Ends early if `each` fails.
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
        // A thread that still sends must notice that the receiver is gone.
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
    // Sending fails only if the receiver is gone, and the receiver knows the reason.
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
    // Only a line in the report is left of the message.
    file.truncate(file.floor_char_boundary(NAME_BYTES));
    Item { file, bytes, at, outcome }
}
