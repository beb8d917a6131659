//! The zygote's side of the wire, without a supervisor: the zygote either obeys a message exactly, or ends.

use crate::server::python;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, send, sendmsg, socketpair,
};
use std::fs::File;
use std::io::{IoSlice, IoSliceMut, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, Stdio};

struct Zygote {
    process: Child,
    socket: OwnedFd,
}

impl Zygote {
    fn start(filter: &[u8]) -> Self {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        let mut command = Command::new(python());
        command.args(["-I", "-S", "-B", "-c", include_str!("../../python/load.py"), "a-test"]);
        for (name, source) in [
            ("lockdown", include_str!("../../python/lockdown.py")),
            ("report", include_str!("../../python/report.py")),
            ("streams", include_str!("../../python/streams.py")),
            ("guest", include_str!("../../python/guest.py")),
            ("check", include_str!("../../python/check.py")),
            ("child", include_str!("../../python/child.py")),
            ("zygote", include_str!("../../python/zygote.py")),
        ] {
            command.args([name, source]);
        }
        let process = command.env_clear().stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let zygote = Self { process, socket: ours };
        send(&zygote.socket, filter, SendFlags::empty()).unwrap();
        zygote
    }

    fn send(&self, message: &[u8], descriptors: &[BorrowedFd]) {
        let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            assert!(rights.push(SendAncillaryMessage::ScmRights(descriptors)));
        }
        // The zygote may have ended at the previous message.
        let _ = sendmsg(&self.socket, &[IoSlice::new(message)], &mut rights, SendFlags::NOSIGNAL);
    }

    /// The next message; it is empty at the end.
    fn receive(&self) -> (Vec<u8>, Vec<OwnedFd>) {
        let mut bytes = [0; 64];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let got = recvmsg(&self.socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::empty());
        let length = got.map_or(0, |got| got.bytes);
        let descriptors = control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(rights) => rights.collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        let descriptors = descriptors.collect();
        (bytes[..length].to_vec(), descriptors)
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn call(id: u64) -> Vec<u8> {
    let mut message = vec![b'R'];
    message.extend(id.to_le_bytes());
    message.extend((1_u64 << 32).to_le_bytes());
    message.extend(5_u32.to_le_bytes());
    message
}

fn null() -> OwnedFd {
    File::open("/dev/null").unwrap().into()
}

/// A task, and a file that replaces all pipes.
fn task(code: &str) -> (File, File) {
    let mut files = [0, 1].map(|_| File::from(rustix::fs::memfd_create("x", rustix::fs::MemfdFlags::CLOEXEC).unwrap()));
    write!(files[0], "{{\"code\":{code:?}}}").unwrap();
    files.into()
}

#[test]
fn without_a_filter_no_code_is_run() {
    // No program, an invalid program, and a program that the kernel refuses.
    for filter in [&b"x"[..], &[0; 8], &[0xff; 64]] {
        let zygote = Zygote::start(filter);
        assert!(zygote.receive().0.starts_with(b"H3."));
        let (source, mut sink) = task("print('it was run')");
        let pipe = sink.as_fd();
        zygote.send(&call(7), &[source.as_fd(), pipe, pipe, pipe]);
        let (born, pidfd) = zygote.receive();
        assert_eq!((&born[..], pidfd.len()), (&b"S\x07\0\0\0\0\0\0\0"[..], 1));
        let (dead, _) = zygote.receive();
        assert_eq!(dead, b"X\x07\0\0\0\0\0\0\0\x46\0\0\0");
        let mut written = String::new();
        sink.rewind().unwrap();
        sink.read_to_string(&mut written).unwrap();
        assert_eq!(written, "");
    }
}

#[test]
fn nonsense_ends_the_zygote() {
    let null = null();
    let four = [null.as_fd(); 4];
    let long = [call(1), vec![0]].concat();
    let other = [b"Q", &call(1)[1..]].concat();
    for (message, descriptors) in [
        (&b"R"[..], &four[..]),
        (&call(1), &four[..0]),
        (&call(1), &four[..3]),
        (&call(1), &[null.as_fd(); 8][..]),
        (&long, &four),
        (&other, &four),
        (&[0xff; 60], &four),
        (&[0; 21], &[]),
    ] {
        let mut zygote = Zygote::start(b"x");
        assert!(zygote.receive().0.starts_with(b"H3."));
        zygote.send(message, descriptors);
        assert_eq!(zygote.receive().0, b"", "{message:?} with {}", descriptors.len());
        assert_eq!(zygote.process.wait().unwrap().code(), Some(65));
    }
}

#[test]
fn it_leaves_with_the_supervisor() {
    let mut zygote = Zygote::start(b"x");
    assert!(zygote.receive().0.starts_with(b"H3."));
    zygote.socket = null();
    assert_eq!(zygote.process.wait().unwrap().code(), Some(0));
}

/// Random messages, from a fixed seed. Whatever is sent, replies are about calls that were made, and in order, and
/// nothing hangs.
#[test]
fn random_messages_do_no_harm() {
    let mut state = 5_u64;
    let mut below = move |bound: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % bound
    };
    for _ in 0..12 {
        let zygote = Zygote::start(&[0; 8]);
        assert!(zygote.receive().0.starts_with(b"H3."));
        let null = null();
        let mut sent = 0;
        loop {
            let mut message = call(sent);
            let sound = below(3) != 0;
            let mut descriptors = 4;
            if !sound {
                match below(3) {
                    0 => message.truncate(1 + below(20) as usize),
                    1 => message[0] = below(256) as u8 & 0x3f,
                    _ => descriptors = below(4) as usize,
                }
            }
            zygote.send(&message, &[null.as_fd(); 4][..descriptors]);
            if !sound {
                break;
            }
            sent += 1;
        }
        let (mut born, mut dead) = (Vec::new(), 0);
        loop {
            let (message, descriptors) = zygote.receive();
            match message.first() {
                None => break,
                Some(b'S') => {
                    assert_eq!(descriptors.len(), 1);
                    born.push(u64::from_le_bytes(message[1..9].try_into().unwrap()));
                }
                Some(b'X') => dead += 1,
                Some(_) => panic!("{message:?}"),
            }
        }
        assert_eq!(born, (0..sent).collect::<Vec<_>>());
        assert!(dead <= sent);
    }
}
