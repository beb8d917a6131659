//! Tells a message so far to a client that comes back, so that the client can go on with the events that follow.

use super::event::{Dynamic, Event};
use super::writer::{
    BegunCall, MessageWriter, call_approval, call_input, call_outcome, has_ended, is_unreadable, text_id,
};
use crate::playground::part::{CallPart, Part};
use std::collections::HashMap;

impl MessageWriter {
    /// The events that rebuild the message: each text is one piece, and each input is whole. If they would have more
    /// than `max_bytes`, the oldest parts are left out. What later events may refer to is never left out: calls that
    /// have not ended, the open text, and the beginning of the step.
    pub fn replay(&self, max_bytes: usize) -> Vec<u8> {
        let mut out = Vec::new();
        Event::Start { message_id: self.id.as_str() }.sse(&mut out);
        let begun = self.begun_calls();
        let end = self.end.as_deref().unwrap_or_default();
        let room =
            max_bytes.saturating_sub(out.len() + begun.iter().map(|(_, it)| it.len()).sum::<usize>() + end.len());
        let told = self.told_parts(room);

        let mut begun = begun.into_iter().peekable();
        let mut in_step = false;
        for (index, told) in told.into_iter().enumerate() {
            while let Some((_, call)) = begun.next_if(|(at, _)| *at <= index) {
                out.extend(call);
            }
            let Some(told) = told else { continue };
            if matches!(self.parts.get(index), Some(Part::StepStart)) && std::mem::replace(&mut in_step, true) {
                Event::FinishStep.sse(&mut out);
            }
            out.extend(told);
        }
        begun.for_each(|(_, call)| out.extend(call));
        if in_step && !self.in_step {
            Event::FinishStep.sse(&mut out);
        }
        out.extend_from_slice(end);
        out
    }

    /// The events of the calls whose arguments are not complete, with the index of the part before which they belong.
    fn begun_calls(&self) -> Vec<(usize, Vec<u8>)> {
        let told = |call: &BegunCall| {
            let mut out = Vec::new();
            self.tell_beginning(&call.tool_call_id, &call.tool_name, &mut out);
            if !call.arguments.is_empty() {
                Event::ToolInputDelta { tool_call_id: &call.tool_call_id, input_text_delta: &call.arguments }
                    .sse(&mut out);
            }
            (call.at, out)
        };
        self.begun.iter().map(told).collect()
    }

    /// The events of each part; `None` for the parts that are left out. A part is told with the beginning of its step,
    /// and a call with its record.
    fn told_parts(&self, room: usize) -> Vec<Option<Vec<u8>>> {
        let Places { numbers, steps, records } = Places::of(&self.parts);
        let last_step = steps.last().copied().flatten().filter(|_| self.in_step);
        let is_needed = |index: usize| {
            let is_open = self.open.as_ref().is_some_and(|it| it.at == index);
            is_open || last_step == Some(index) || self.parts[index].as_call().is_some_and(|it| !has_ended(it))
        };
        // Each step costs its end too.
        let mut finish_step = Vec::new();
        Event::FinishStep.sse(&mut finish_step);

        let mut told = vec![None; self.parts.len()];
        let mut used = 0;
        let newest_first = || (0..self.parts.len()).rev();
        let needed = newest_first().filter(|it| is_needed(*it));
        let others = newest_first().filter(|it| !is_needed(*it));
        for (index, is_needed) in needed.map(|it| (it, true)).chain(others.map(|it| (it, false))) {
            let part = &self.parts[index];
            if told[index].is_some() || matches!(part, Part::CallRecord { .. }) {
                continue;
            }
            let record = part.as_call().and_then(|it| records.get(it.tool_call_id.as_str()));
            let step = steps[index].filter(|it| *it != index && told[*it].is_none());
            let mut bytes = 0;
            let together = [Some(index), record.copied(), step].into_iter().flatten().map(|at| {
                let events = self.events(at, numbers[at]);
                bytes += events.len();
                bytes += if steps[at] == Some(at) { finish_step.len() } else { 0 };
                (at, events)
            });
            let together = together.collect::<Vec<_>>();
            if !is_needed && used + bytes > room {
                break;
            }
            used += bytes;
            for (at, events) in together {
                told[at] = Some(events);
            }
        }
        told
    }

    fn events(&self, index: usize, number: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let is_open = self.open.as_ref().is_some_and(|it| it.at == index);
        let id = &text_id(number);
        match &self.parts[index] {
            Part::StepStart => Event::StartStep.sse(&mut out),
            Part::Reasoning { text } => {
                Event::ReasoningStart { id }.sse(&mut out);
                Event::ReasoningDelta { id, delta: text }.sse(&mut out);
                if !is_open {
                    Event::ReasoningEnd { id }.sse(&mut out);
                }
            }
            Part::Text { text } => {
                Event::TextStart { id }.sse(&mut out);
                Event::TextDelta { id, delta: text }.sse(&mut out);
                if !is_open {
                    Event::TextEnd { id }.sse(&mut out);
                }
            }
            Part::Call(call) => self.tell_call(call, &mut out),
            Part::CallRecord { id, data } => Event::DataCall { id, data }.sse(&mut out),
        }
        out
    }

    fn tell_call(&self, call: &CallPart, out: &mut Vec<u8>) {
        self.tell_beginning(&call.tool_call_id, &call.tool_name, out);
        call_input(call, out);
        // The client keeps the approval of a call that has ended.
        call_approval(call, self.style, self.told.get(&call.tool_call_id), out);
        if !is_unreadable(call) {
            call_outcome(call, self.style, out);
        }
    }

    fn tell_beginning(&self, tool_call_id: &str, tool_name: &str, out: &mut Vec<u8>) {
        let title = self.told.get(tool_call_id).and_then(|it| it.title.as_deref());
        Event::ToolInputStart { tool_call_id, tool_name, dynamic: Dynamic, title }.sse(out);
    }
}

/// Where the parts of a message stand.
struct Places<'a> {
    /// For each part, the number of texts before it.
    numbers: Vec<usize>,
    /// For each part, the index of its step's beginning.
    steps: Vec<Option<usize>>,
    /// The indices of the records, by `toolCallId`.
    records: HashMap<&'a str, usize>,
}

impl<'a> Places<'a> {
    fn of(parts: &'a [Part]) -> Self {
        let mut places = Self { numbers: Vec::new(), steps: Vec::new(), records: HashMap::new() };
        let (mut texts, mut step) = (0, None);
        for (index, part) in parts.iter().enumerate() {
            places.numbers.push(texts);
            match part {
                Part::StepStart => step = Some(index),
                Part::Reasoning { .. } | Part::Text { .. } => texts += 1,
                Part::Call(_) => {}
                Part::CallRecord { id, .. } => {
                    places.records.insert(id, index);
                }
            }
            places.steps.push(step);
        }
        places
    }
}
