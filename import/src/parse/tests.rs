//! One test for each trap of the corpus, with a real message that has it (samples/enron/edge-cases).

use super::*;
use std::path::Path;

fn sample(file: &str) -> Mail {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/enron/edge-cases/maildir").join(file);
    Parser::new().parse(&std::fs::read(path).unwrap()).unwrap()
}

fn parsed(text: &str) -> Mail {
    Parser::new().parse(text.as_bytes()).unwrap()
}

#[test]
fn a_message_as_most_are() {
    let mail = sample("sager-e/inbox/419.");
    assert!(mail.message_id.starts_with('<') && mail.message_id.ends_with(".JavaMail.evans@thyme>"));
    assert_eq!(mail.date.unwrap().len(), "2001-05-15T03:58:00Z".len());
}

/// Header lines end in CRLF, body lines in LF; in copies, all in LF or all in CRLF.
#[test]
fn lines_end_as_they_like() {
    let text = "Message-ID: <1@x>\nSubject: a\n\nfirst\n\nsecond\n";
    let mail = parsed(text);
    assert_eq!((mail.subject.as_str(), mail.body.as_str()), ("a", "first\n\nsecond\n"));
    assert_eq!(parsed(&text.replace('\n', "\r\n")), mail);
    assert_eq!(parsed("Message-ID: <1@x>\r\nSubject: a\r\n\r\nfirst\n\nsecond\n"), mail);
}

#[test]
fn folded_headers_are_one_line() {
    assert_eq!(sample("blair-l/meetings/844.").subject.lines().count(), 1);
    assert!(sample("blair-l/dra_info/2.").recipients.len() > 3);
    let cc = sample("blair-l/customer___oneok/13.");
    assert!(cc.recipients.iter().all(|each| !each.contains(char::is_whitespace)));
}

/// A subject with a line break in it: the rest of the header is neither lost nor taken for the body.
#[test]
fn a_header_line_without_a_name_continues_the_one_before() {
    let mail = sample("whalley-g/test/calendar/90.");
    assert!(mail.subject.starts_with("Analyst Mtg - EB3321 (I did not confirm you) Leslie Rich"), "{}", mail.subject);
    assert!(mail.body.starts_with("6/19 - Per LT"));
    let mail = sample("geaccone-t/inbox/537.");
    assert_eq!(mail.subject, "Are you taking full advantage of Streamer ?");
    assert!(mail.body.starts_with(" Datek <http"));
}

#[test]
fn headers_in_latin_1_are_read() {
    let mail = sample("griffith-j/inbox/66.");
    assert!(mail.recipients.iter().any(|each| each == "fælles.leklint@enron.com"));
    assert!(mail.recipients.iter().any(|each| each == "sanchez.jérôme@enron.com"));
    assert!(sample("beck-s/inbox/100.").recipients.iter().any(|each| each == "matthews.patricia\u{a0}@enron.com"));
    assert!(sample("ybarbo-p/inbox/163.").recipients.iter().any(|each| each == "rune.mørken@enron.com"));
    assert!(!sample("whalley-g/inbox/390.").body.contains('\u{fffd}'));
}

#[test]
fn a_body_in_latin_1_is_read_if_it_does_not_say_so() {
    let raw = b"Message-ID: <1@x>\nContent-Type: text/plain; charset=us-ascii\n\ncaf\xe9\n";
    assert_eq!(Parser::new().parse(raw).unwrap().body, "café\n");
}

#[test]
fn addresses_that_no_standard_knows_are_kept() {
    assert_eq!(sample("skilling-j/inbox/223.").sender, "performance.");
    assert_eq!(sample("allen-p/sent_items/269.").sender, "k..allen@enron.com");
    assert!(sample("allen-p/sent_items/269.").recipients.iter().any(|each| each.contains('\'')));
    assert!(sample("kean-s/sent/198.").recipients.iter().any(|each| each == "govt."));
    let angles = sample("derrick-j/deleted_items/232.").recipients;
    assert!(angles.iter().all(|each| !each.contains(['<', '>', ' '])), "{angles:?}");
    assert!(sample("blair-l/customer___oneok/13.").recipients.iter().any(|each| each.contains("..")));
    assert!(sample("sager-e/inbox/419.").sender.starts_with('.'));
}

#[test]
fn messages_to_nobody_and_to_many_are_both_kept() {
    assert!(sample("blair-l/meetings/164.").recipients.is_empty());
    assert_eq!(sample("blair-l/meetings/164.").sender, "no.address@enron.com");
    assert!(sample("beck-s/inbox/100.").recipients.len() > 30);
}

/// Bcc repeats Cc in the whole corpus.
#[test]
fn a_recipient_is_there_once() {
    let recipients = sample("blair-l/customer___oneok/13.").recipients;
    let mut once = recipients.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), recipients.len());
}

#[test]
fn a_subject_may_be_empty() {
    assert_eq!(sample("fossum-d/_sent_mail/61.").subject, "");
}

#[test]
fn quoted_printable_is_decoded() {
    let body = sample("blair-l/deleted_items/274.").body;
    assert!(!body.contains("=20") && !body.contains("=\n"), "{body}");
    let controls = "Message-ID: <1@x>\nContent-Type: text/plain; charset=ANSI_X3.4-1968\nContent-Transfer-Encoding: quoted-printable\n\na=01b =\nc=20\n";
    assert_eq!(parsed(controls).body, "a\u{1}b c \n");
}

#[test]
fn years_of_one_digit_are_of_this_century() {
    assert_eq!(sample("whitt-m/inbox/430.").date.unwrap()[..4], *"2001");
    assert_eq!(sample("kean-s/inbox/39.").date.unwrap()[..4], *"2001");
    assert_eq!(sample("buy-r/inbox/60.").date.unwrap()[..4], *"2002");
    // A clock that was not set: in UTC it is the next year.
    assert_eq!(sample("allen-p/all_documents/157.").date.unwrap(), "1980-01-01T00:00:00Z");
    assert_eq!(sample("zufferli-j/inbox/quotes/35.").date.unwrap()[..4], *"2044");
    assert_eq!(sample("presto-k/inbox/46.").date.unwrap()[..4], *"2004");
}

#[test]
fn a_date_that_is_none_is_left_out() {
    let mail = parsed("Message-ID: <1@x>\nDate: some day\n\nx");
    assert_eq!(mail.date, None);
    assert_eq!(
        parsed("Message-ID: <1@x>\nDate: Mon, 14 May 2001 20:58:00 -0700 (PDT)\n\nx").date.unwrap(),
        "2001-05-15T03:58:00Z"
    );
}

#[test]
fn a_header_that_the_file_ends_in_is_read_to_its_end() {
    for end in ["", "\n", "\r\n", "\n\n"] {
        let mail = parsed(&format!("Subject: cut\nMessage-ID: <1@x>{end}"));
        assert_eq!((mail.message_id.as_str(), mail.subject.as_str(), mail.body.as_str()), ("<1@x>", "cut", ""));
    }
}

/// Text in a body that looks like another format is text.
#[test]
fn bodies_are_text_whatever_is_in_them() {
    assert!(sample("blair-l/deleted_items/167.").body.lines().any(|line| line.starts_with("From ")));
    assert!(sample("geaccone-t/inbox/298.").body.contains('<'));
    assert!(sample("ermis-f/all_documents/21.").body.contains("begin "));
    assert!(sample("scott-s/sent/844.").body.len() > 500);
    assert!(sample("dasovich-j/inbox/95.").body.len() > 90_000);
    assert!(sample("corman-s/inbox/archives___post_revised_order/8.").body.starts_with("Greetings"));
    assert!(sample("mcconnell-m/inbox/37.").body.starts_with("\nHi Mark"));
}

#[test]
fn what_is_no_message_is_said_to_be_none() {
    let reason = |raw: &[u8]| Parser::new().parse(raw).unwrap_err();
    assert_eq!(reason(b""), Unusable::Empty);
    assert_eq!(reason(b"\r\n\n "), Unusable::Empty);
    assert_eq!(reason(b"just some text"), Unusable::NoMessageId);
    assert_eq!(reason(b"Subject: hello\n\nno id"), Unusable::NoMessageId);
    assert_eq!(reason(&[0xff; 100]), Unusable::NoMessageId);
}

/// Any bytes: cut and broken messages give a result, too.
#[test]
fn no_bytes_make_it_fail() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/enron/edge-cases/maildir/blair-l/sent_items/879.");
    let whole = std::fs::read(path).unwrap();
    let parser = Parser::new();
    for end in 0..whole.len() {
        let _ = parser.parse(&whole[..end]);
    }
    let mut broken = whole.clone();
    for at in 0..broken.len() {
        broken[at] = broken[at].wrapping_mul(31).wrapping_add(at as u8);
        if at % 7 == 0 {
            let _ = parser.parse(&broken);
        }
    }
}
