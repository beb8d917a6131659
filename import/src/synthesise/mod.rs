//! A synthetic corpus of any size for measurements. It is made from the lines of real messages in a new order. Made-up
//! words are mixed in, as rare as the words of a language, and the mailboxes are as unequal as real ones. The same
//! sample makes the same corpus.
//!
//! The corpus has everything that makes search hard: some words in nearly every message, most in a few, many in one;
//! words of one mailbox, and words of all. The text itself makes no sense.

mod random;

use crate::args;
use crate::mail::Mail;
use crate::mailboxes::Owners;
use crate::parse::Parser;
use crate::progress::Progress;
use crate::source::Source;
use anyhow::{Context, Result, ensure};
use csv::{QuoteStyle, WriterBuilder};
use mail_parser::DateTime;
use random::Random;
use std::ops::ControlFlow;

const SEED: u64 = 5;
/// The number of made-up words, and how many of a hundred words they replace.
const WORDS: usize = 200_000;
const MADE_UP: u64 = 12;
/// How many of these belong to the mailbox alone.
const OWN: u64 = 30;
const MOST_LINES: usize = 80;
const FOLDERS: [&str; 4] = ["all_documents", "inbox", "sent", "sent_items"];
/// From the first of January 1999, for three and a half years.
const FIRST_DATE: i64 = 915_148_800;
const SECONDS: usize = 110_000_000;

pub fn synthesise(options: &args::Synthesise) -> Result<()> {
    let owners = Owners::read(None)?;
    let sample = Sample::read(&Source::open(&options.sample, |name| owners.know(name))?)?;
    let failed = || format!("cannot write {}", options.output.display());
    let mut csv =
        WriterBuilder::new().quote_style(QuoteStyle::Always).from_path(&options.output).with_context(failed)?;
    csv.write_record(["file", "message"])?;
    let mut progress = Progress::bar("making up", options.messages);
    let mut random = Random::new(SEED);
    let mut bytes = 0;
    let mut made = 0;
    for (number, (directory, owner, messages)) in mailboxes(&owners, options.messages).into_iter().enumerate() {
        for in_mailbox in 1..=messages {
            let file = format!("{directory}/{}/{in_mailbox}.", random.pick(&FOLDERS));
            let text = sample.message(&mut random, made, number, owner);
            bytes += text.len() as u64;
            csv.write_record([&file, &text]).with_context(failed)?;
            made += 1;
            progress.at(made, made, bytes);
        }
    }
    csv.flush().with_context(failed)?;
    progress.finish(&format!("{made} messages, {} MB", bytes / 1_000_000));
    Ok(())
}

/// The number of messages of each mailbox: the n-th largest mailbox has one n-th of the largest, and at least one
/// message.
fn mailboxes(owners: &Owners, messages: u64) -> Vec<(&str, &str, u64)> {
    let all = owners.all();
    // Large and small mailboxes are mixed: each next mailbox is this far ahead in the list.
    let mut shares: Vec<(&str, &str, f64)> = (0..all.len())
        .map(|rank| (all[rank * 5 % all.len()], 1.0 / (rank + 1) as f64))
        .map(|((a, b), c)| (a, b, c))
        .collect();
    let whole: f64 = shares.iter().map(|share| share.2).sum();
    shares.sort_by_key(|share| share.0);
    let mut left = messages;
    let mut mailboxes: Vec<_> = shares
        .into_iter()
        .map(|(directory, owner, share)| {
            let count = ((share / whole * messages as f64) as u64).max(1).min(left);
            left -= count;
            (directory, owner, count)
        })
        .collect();
    // The largest mailbox gets the remainder of the rounding.
    if let Some(largest) = mailboxes.iter_mut().max_by_key(|it| it.2) {
        largest.2 += left;
    }
    mailboxes
}

/// The parts of real messages.
struct Sample {
    subjects: Vec<String>,
    /// The lines of each body.
    bodies: Vec<Vec<String>>,
    addresses: Vec<String>,
}

impl Sample {
    fn read(source: &Source) -> Result<Self> {
        let mut sample = Self { subjects: Vec::new(), bodies: Vec::new(), addresses: Vec::new() };
        let parser = Parser::new();
        source.read(0, &mut |found| {
            if let (_, Ok(mail)) = found.content.parse(&parser) {
                sample.add(mail);
            }
            ControlFlow::Continue(())
        })?;
        sample.addresses.sort();
        sample.addresses.dedup();
        ensure!(!sample.bodies.is_empty() && !sample.addresses.is_empty(), "the sample has no messages");
        Ok(sample)
    }

    fn add(&mut self, mail: Mail) {
        let lines: Vec<String> = mail.body.lines().take(MOST_LINES).map(str::to_owned).collect();
        if !lines.is_empty() {
            self.subjects.push(mail.subject);
            self.bodies.push(lines);
            self.addresses.extend(std::iter::once(mail.sender).chain(mail.recipients).filter(|it| it.contains('@')));
        }
    }

    fn message(&self, random: &mut Random, number: u64, mailbox: usize, owner: &str) -> String {
        let date = DateTime::from_timestamp(FIRST_DATE + random.below(SECONDS) as i64).to_rfc822();
        let mut to: Vec<&str> = (0..=random.zipf(12)).map(|_| random.pick(&self.addresses).as_str()).collect();
        let mut from = random.pick(&self.addresses).as_str();
        if random.percent(40) {
            from = owner;
        } else if random.percent(80) {
            to[0] = owner;
        }
        let mut text = format!(
            "Message-ID: <{}.{number}.JavaMail.evans@thyme>\r\nDate: {date}\r\nFrom: {from}\r\nTo: {}\r\nSubject: ",
            random.next() >> 32,
            to.join(", \r\n\t"),
        );
        let subject = random.pick(&self.subjects);
        with_made_up(random, mailbox, subject, &mut text);
        text.push_str(
            "\r\nMime-Version: 1.0\r\nContent-Type: text/plain; charset=us-ascii\r\nContent-Transfer-Encoding: 7bit\r\n\r\n",
        );
        // As long as a real message, with lines of several others.
        let lines = random.pick(&self.bodies).len();
        let others: [&Vec<String>; 3] = std::array::from_fn(|_| random.pick(&self.bodies));
        for _ in 0..lines {
            let body = random.pick(&others);
            let line = random.pick(body);
            with_made_up(random, mailbox, line, &mut text);
            text.push('\n');
        }
        text
    }
}

/// A line with some of its words replaced by made-up ones. It stays one line.
fn with_made_up(random: &mut Random, mailbox: usize, line: &str, text: &mut String) {
    for (at, word) in line.split_ascii_whitespace().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        if !random.percent(MADE_UP) {
            text.push_str(word);
        } else if random.percent(OWN) {
            push_word(text, WORDS + mailbox * 1_000 + random.zipf(1_000));
        } else {
            push_word(text, random.zipf(WORDS));
        }
    }
}

/// The n-th made-up word: its number in syllables.
fn push_word(text: &mut String, number: usize) {
    const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
    const VOWELS: &[u8; 4] = b"aeio";
    let mut rest = number + 64;
    while rest > 0 {
        let syllable = rest % 64;
        text.extend([CONSONANTS[syllable / 4], VOWELS[syllable % 4]].map(char::from));
        rest /= 64;
    }
}
