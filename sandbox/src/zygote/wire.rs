//! The messages between supervisor and zygote, over a socket that keeps messages apart. Any invalid message ends the
//! zygote, because guessing would gain nothing.
//!
//! | to the zygote | message | descriptors |
//! |---|---|---|
//! | first, once | the seccomp filters, a message each | |
//! | a call | `R`, id (8 bytes), address space (8), CPU seconds (4) | task, stdout, stderr, result; in the second room also the pipe for the supervisor's word, and the folder |
//!
//! | from the zygote | message | descriptors |
//! |---|---|---|
//! | slots | `D`; from the launcher, before Python starts, if it could mount slots | the slots |
//! | ready | `H`, Python's version | |
//! | born | `S`, id | the child's pidfd |
//! | unborn | `N`, id: the system has no process to give at the moment | |
//! | dead | `X`, id, status (4) | |

use crate::launch::slots;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::io::{Error, IoSlice, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

/// The most descriptors of a call.
const DESCRIPTORS: usize = 6;
const LONGEST: usize = 64;

#[derive(Debug)]
pub enum Said {
    Ready { python: String },
    Born { id: u64, pidfd: OwnedFd },
    Unborn { id: u64 },
    Dead { id: u64, status: i32 },
}

#[derive(Debug)]
pub enum Trouble {
    /// The other side has closed the socket.
    Over,
    Nonsense,
    Broken(#[expect(dead_code, reason = "shown in the log")] Error),
}

pub fn send_call(
    socket: BorrowedFd,
    id: u64,
    address_space: u64,
    cpu_seconds: u32,
    descriptors: &[BorrowedFd],
) -> Result<()> {
    let mut message = vec![b'R'];
    message.extend(id.to_le_bytes());
    message.extend(address_space.to_le_bytes());
    message.extend(cpu_seconds.to_le_bytes());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    if !rights.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::NOBUFS.into());
    }
    sendmsg(socket, &[IoSlice::new(&message)], &mut rights, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The slots that a launcher has mounted. Fails if the message is another one.
pub fn receive_slots(socket: BorrowedFd) -> Result<Vec<OwnedFd>> {
    let mut word = [0; 2];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(slots::MOST))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(socket, &mut [IoSliceMut::new(&mut word)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let descriptors = rights(&mut control);
    let is_cut = got.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC);
    match &word[..got.bytes] {
        slots::MESSAGE if !is_cut => Ok(descriptors),
        _ => Err(Error::other("the launcher sent no slots")),
    }
}

/// An error from the socket, such as "nothing to read yet", is returned as the outer error.
pub fn receive(socket: BorrowedFd) -> Result<std::result::Result<Said, Trouble>> {
    let mut bytes = [0; LONGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let descriptors = rights(&mut control);
    if got.bytes == 0 {
        return Ok(Err(Trouble::Over));
    }
    if got.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Ok(Err(Trouble::Nonsense));
    }
    Ok(parse(&bytes[..got.bytes], descriptors).ok_or(Trouble::Nonsense))
}

/// The descriptors that came with a message.
fn rights(control: &mut RecvAncillaryBuffer) -> Vec<OwnedFd> {
    let of_message = |message| match message {
        RecvAncillaryMessage::ScmRights(rights) => rights.collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    control.drain().flat_map(of_message).collect()
}

fn parse(bytes: &[u8], mut descriptors: Vec<OwnedFd>) -> Option<Said> {
    let (&word, rest) = bytes.split_first()?;
    let descriptor = descriptors.pop();
    match (word, descriptor) {
        (b'H', None) => Some(Said::Ready { python: String::from_utf8(rest.into()).ok()? }),
        (b'S', Some(pidfd)) if descriptors.is_empty() => {
            Some(Said::Born { id: u64::from_le_bytes(rest.try_into().ok()?), pidfd })
        }
        (b'N', None) => Some(Said::Unborn { id: u64::from_le_bytes(rest.try_into().ok()?) }),
        (b'X', None) => {
            let (id, status) = rest.split_first_chunk()?;
            Some(Said::Dead { id: u64::from_le_bytes(*id), status: i32::from_le_bytes(status.try_into().ok()?) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::Random;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, send, socketpair};
    use std::os::fd::AsFd;

    fn pair() -> (OwnedFd, OwnedFd) {
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
    }

    fn null() -> OwnedFd {
        std::fs::File::open("/dev/null").unwrap().into()
    }

    #[test]
    fn words_are_understood() {
        assert!(matches!(parse(b"H3.12.1", vec![]), Some(Said::Ready { python }) if python == "3.12.1"));
        assert!(matches!(parse(b"S\x01\0\0\0\0\0\0\0", vec![null()]), Some(Said::Born { id: 1, .. })));
        assert!(matches!(parse(b"N\x03\0\0\0\0\0\0\0", vec![]), Some(Said::Unborn { id: 3 })));
        assert!(matches!(
            parse(b"X\x02\0\0\0\0\0\0\0\xf7\xff\xff\xff", vec![]),
            Some(Said::Dead { id: 2, status: -9 })
        ));
    }

    #[test]
    fn nothing_else_is() {
        for bytes in [&b""[..], b"?", b"S", b"S\x01\0\0\0\0\0\0", b"N\x01", b"X\x01\0\0\0\0\0\0\0", b"H\xff"] {
            assert!(parse(bytes, vec![]).is_none(), "{bytes:?}");
        }
        assert!(parse(b"S\x01\0\0\0\0\0\0\0", vec![]).is_none(), "no pidfd");
        assert!(parse(b"S\x01\0\0\0\0\0\0\0", vec![null(), null()]).is_none(), "two");
        assert!(parse(b"N\x01\0\0\0\0\0\0\0", vec![null()]).is_none(), "one that there is not");
        assert!(parse(b"H3", vec![null()]).is_none(), "one too many");
    }

    /// Random messages, from a fixed seed, through a real socket: each is a valid message or invalid.
    #[test]
    fn any_message_is_a_word_or_nonsense() {
        let (ours, theirs) = pair();
        let mut random = Random(3);
        let (mut words, mut nonsense) = (0, 0);
        for _ in 0..20_000 {
            let mut message =
                [&b"H3.11"[..], b"S\0\0\0\0\0\0\0\0", b"X\0\0\0\0\0\0\0\0\0\0\0\0"][random.below(3)].to_vec();
            for _ in 0..random.below(3) {
                random.mutate(&mut message);
            }
            if message.is_empty() {
                continue;
            }
            send(&theirs, &message, SendFlags::empty()).unwrap();
            match receive(ours.as_fd()).unwrap() {
                Ok(_) => words += 1,
                Err(Trouble::Nonsense) => nonsense += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
        assert!(words > 1000 && nonsense > 1000, "{words} {nonsense}");
        drop(theirs);
        assert!(matches!(receive(ours.as_fd()).unwrap(), Err(Trouble::Over)));
    }

    #[test]
    fn a_call_carries_its_descriptors() {
        let (ours, theirs) = pair();
        let [a, b, c, d] = [null(), null(), null(), null()];
        send_call(ours.as_fd(), 7, 9, 5, &[a.as_fd(), b.as_fd(), c.as_fd(), d.as_fd()]).unwrap();
        // More descriptors than the one that `receive` has room for.
        assert!(matches!(receive(theirs.as_fd()).unwrap(), Err(Trouble::Nonsense)));
    }
}
