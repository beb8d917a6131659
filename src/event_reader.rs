//! Reads a stream of events (`text/event-stream`), in whatever pieces it arrives. Pure.

/// Why a stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventFault {
    /// An event has more bytes than the reader takes.
    TooLarge,
    /// A line is not UTF-8.
    NotText,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StreamEvent {
    /// `message`, unless the event says otherwise.
    pub kind: String,
    pub data: String,
}

/// What has been read so far.
pub struct EventReader {
    max_event_bytes: usize,
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return. A line feed after it belongs to it.
    after_return: bool,
    has_begun: bool,
    kind: String,
    data: Option<String>,
    /// The id of the last event that had one, for going on after the stream has ended.
    pub last_id: Option<String>,
    /// How many milliseconds the server wants the client to wait before it comes back.
    pub retry_millis: Option<u64>,
}

impl EventReader {
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            max_event_bytes,
            line: Vec::new(),
            after_return: false,
            has_begun: false,
            kind: String::new(),
            data: None,
            last_id: None,
            retry_millis: None,
        }
    }

    /// Reads the next piece. Returns the events that end in it.
    pub fn read(&mut self, mut piece: &[u8]) -> Result<Vec<StreamEvent>, EventFault> {
        let mut events = Vec::new();
        if self.after_return && !piece.is_empty() {
            self.after_return = false;
            piece = piece.strip_prefix(b"\n").unwrap_or(piece);
        }
        while let Some(end) = piece.iter().position(|it| matches!(it, b'\n' | b'\r')) {
            let (line, rest) = piece.split_at(end);
            self.keep(line)?;
            piece = match rest {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_return = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
            let line = std::mem::take(&mut self.line);
            events.extend(self.read_line(&line)?);
        }
        self.keep(piece)?;
        Ok(events)
    }

    fn keep(&mut self, part: &[u8]) -> Result<(), EventFault> {
        let event_bytes = self.line.len() + part.len() + self.data.as_ref().map_or(0, String::len);
        if event_bytes > self.max_event_bytes {
            return Err(EventFault::TooLarge);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    /// Reads a whole line. An empty line ends an event.
    fn read_line(&mut self, line: &[u8]) -> Result<Option<StreamEvent>, EventFault> {
        let line = std::str::from_utf8(line).map_err(|_| EventFault::NotText)?;
        let line = if self.has_begun { line } else { line.trim_start_matches('\u{feff}') };
        self.has_begun = true;
        if line.is_empty() {
            let kind = std::mem::take(&mut self.kind);
            let kind = if kind.is_empty() { "message".to_owned() } else { kind };
            return Ok(self.data.take().map(|data| StreamEvent { kind, data }));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                None => self.data = Some(value.to_owned()),
                Some(data) => data.extend(["\n", value]),
            },
            "event" => self.kind = value.to_owned(),
            "id" if !value.contains('\0') => self.last_id = Some(value.to_owned()).filter(|it| !it.is_empty()),
            "retry" if value.bytes().all(|it| it.is_ascii_digit()) => self.retry_millis = value.parse().ok(),
            // A line that begins with a colon is a comment. Unknown fields mean nothing.
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_EVENT_BYTES: usize = 10 * 1024 * 1024;

    fn event(kind: &str, data: &str) -> StreamEvent {
        StreamEvent { kind: kind.into(), data: data.into() }
    }

    fn read(pieces: &[&[u8]]) -> (Vec<StreamEvent>, Option<String>, Option<u64>) {
        let mut reader = EventReader::new(MAX_EVENT_BYTES);
        let events = pieces.iter().flat_map(|it| reader.read(it).unwrap()).collect();
        (events, reader.last_id, reader.retry_millis)
    }

    #[test]
    fn it_does_not_matter_where_a_stream_is_cut() {
        let stream = "\u{feff}: hello\r\nid: 1\r\nretry: 250\r\ndata\r\n\r\nevent: endpoint\rdata:/m?s=ä→🙂\r\r\
            data: a\ndata:  b\ndata\nid\nid: 2\n\n\n\nfoo: bar\nid: 3\0\ndata: {\"x\":1}\r\n\r\ndata: never ends";
        let expected = (
            vec![
                event("message", ""),
                event("endpoint", "/m?s=ä→🙂"),
                event("message", "a\n b\n"),
                event("message", "{\"x\":1}"),
            ],
            Some("2".to_owned()),
            Some(250),
        );
        let bytes = stream.as_bytes();
        assert_eq!(read(&[bytes]), expected);
        for cut in 0..=bytes.len() {
            let (before, after) = bytes.split_at(cut);
            assert_eq!(read(&[before, after]), expected, "cut at {cut}");
            for second in cut..=bytes.len() {
                assert_eq!(read(&[before, &bytes[cut..second], b"", &bytes[second..]]), expected, "{cut}, {second}");
            }
        }
        let single = bytes.chunks(1).collect::<Vec<_>>();
        assert_eq!(read(&single), expected);
    }

    #[test]
    fn an_event_without_data_is_none_but_its_id_counts() {
        assert_eq!(read(&[b"id: 7\nevent: x\n\ndata: a\n\n"]), (vec![event("message", "a")], Some("7".into()), None));
        assert_eq!(read(&[b"retry: 1x\n\n"]), (vec![], None, None));
    }

    #[test]
    fn what_is_not_utf8_is_a_failure() {
        let mut reader = EventReader::new(MAX_EVENT_BYTES);
        assert_eq!(reader.read(b"data: \xff\n"), Err(EventFault::NotText));
    }

    #[test]
    fn an_event_has_a_largest_size_in_one_line_and_in_many() {
        let chunk = vec![b'x'; 1024 * 1024];
        let mut reader = EventReader::new(MAX_EVENT_BYTES);
        assert_eq!((0..12).find_map(|_| reader.read(&chunk).err()), Some(EventFault::TooLarge));
        let mut line = b"data: ".to_vec();
        line.extend_from_slice(&chunk);
        line.push(b'\n');
        let mut reader = EventReader::new(MAX_EVENT_BYTES);
        assert_eq!((0..12).find_map(|_| reader.read(&line).err()), Some(EventFault::TooLarge));
    }
}
