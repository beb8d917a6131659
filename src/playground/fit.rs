//! Makes a message small enough to be stored. Only a step with many large calls is too large.

use super::messages::MAX_STORED_BYTES;
use super::part::Part;

/// How many bytes the parts of an answer may have together. The rest up to [`MAX_STORED_BYTES`] is for what JSON adds around
/// them.
const MAX_FITTED_BYTES: usize = MAX_STORED_BYTES - 500_000;

const LEFT_OUT: &str = "[left out of the message: the record of the call has the result]";
const INPUT_LEFT_OUT: &str = "[left out of the message: the record of the call has the arguments]";
const TEXT_LEFT_OUT: &str = "[left out: the message had grown too large]";

/// The longest error that is kept whatever else is left out.
const MAX_KEPT_ERROR_BYTES: usize = 1_000;

/// What is left out of a part, in the order in which it goes. The records of the calls have all but the texts and what a
/// model's server wants to get back.
const SHORTENINGS: [fn(&mut Part); 5] =
    [leave_out_plan, leave_out_result, leave_out_input, leave_out_extra_content, leave_out_text];

/// The parts. If they are too large, then without the render plans, the results, the arguments and the texts: of each kind the
/// oldest go first, and only as many as must.
pub fn fitted(mut parts: Vec<Part>) -> Vec<Part> {
    let mut bytes = parts.iter().map(Part::bytes).sum::<usize>();
    for shorten in SHORTENINGS {
        for part in &mut parts {
            if bytes <= MAX_FITTED_BYTES {
                return parts;
            }
            let before = part.bytes();
            shorten(part);
            bytes = bytes + part.bytes() - before;
        }
    }
    parts
}

fn leave_out_plan(part: &mut Part) {
    match part {
        Part::CallRecord { data, .. } => data.render_plan = None,
        Part::Call(_) | Part::StepStart | Part::Reasoning { .. } | Part::Text { .. } => {}
    }
}

fn leave_out_result(part: &mut Part) {
    if let Some(call) = part.as_call_mut() {
        for output in call.output.iter_mut().filter(|it| it.to_string().len() > LEFT_OUT.len()) {
            *output = LEFT_OUT.into();
        }
        for error in call.error_text.iter_mut().filter(|it| it.len() > MAX_KEPT_ERROR_BYTES) {
            *error = LEFT_OUT.into();
        }
    }
}

fn leave_out_input(part: &mut Part) {
    if let Some(call) = part.as_call_mut().filter(|it| it.input.to_string().len() > INPUT_LEFT_OUT.len()) {
        call.input = INPUT_LEFT_OUT.into();
    }
}

fn leave_out_extra_content(part: &mut Part) {
    if let Some(call) = part.as_call_mut() {
        call.call_provider_metadata = None;
    }
}

fn leave_out_text(part: &mut Part) {
    match part {
        Part::Text { text } | Part::Reasoning { text } if text.len() > TEXT_LEFT_OUT.len() => {
            *text = TEXT_LEFT_OUT.into();
        }
        Part::Text { .. } | Part::Reasoning { .. } | Part::Call(_) | Part::CallRecord { .. } | Part::StepStart => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playground::part::{CallData, CallPart, CallState};
    use serde_json::{Value, json};

    fn call(id: usize, bytes: usize) -> [Part; 2] {
        let text = "x".repeat(bytes);
        let call = CallPart {
            tool_call_id: id.to_string(),
            tool_name: "t".into(),
            state: CallState::OutputAvailable,
            input: json!({}),
            output: Some(text.as_str().into()),
            error_text: None,
            approval: None,
            call_provider_metadata: None,
        };
        let data = CallData {
            call_id: format!("call_{id}"),
            version: None,
            status: "success".into(),
            duration_ms: 1,
            render_plan: Some(json!({"config": {"content": text}})),
            approval_id: None,
        };
        [Part::Call(Box::new(call)), Part::CallRecord { id: id.to_string(), data }]
    }

    fn left(parts: &[Part]) -> (usize, usize) {
        let plan = |it: &&Part| matches!(it, Part::CallRecord { data, .. } if data.render_plan.is_some());
        let result = |it: &&Part| matches!(it, Part::Call(call) if call.output != Some(Value::from(LEFT_OUT)));
        (parts.iter().filter(plan).count(), parts.iter().filter(result).count())
    }

    #[test]
    fn plans_go_before_results_and_the_oldest_go_first() {
        for (calls, bytes, expected) in [(10, 100_000, (10, 10)), (10, 500_000, (4, 10)), (10, 1_000_000, (0, 7))] {
            let parts = (0..calls).flat_map(|it| call(it, bytes)).collect::<Vec<_>>();
            let count = parts.len();
            let fitted = fitted(parts);
            assert_eq!((fitted.len(), left(&fitted)), (count, expected));
            assert!(serde_json::to_string(&fitted).unwrap().len() < 8_000_000);
        }
        let fitted = fitted((0..10).flat_map(|it| call(it, 1_000_000)).collect());
        assert!(matches!(&fitted[0], Part::Call(it) if it.output == Some(LEFT_OUT.into())));
    }

    /// A call with arguments of so many bytes, and nothing else that is large.
    fn asked(id: usize, bytes: usize) -> Part {
        let [Part::Call(call), _] = call(id, 1) else { panic!() };
        Part::Call(Box::new(CallPart { input: json!({"text": "x".repeat(bytes)}), ..*call }))
    }

    fn text(bytes: usize) -> Part {
        // Each character has six bytes in JSON.
        Part::Text { text: "\u{1}".repeat(bytes) }
    }

    #[test]
    fn arguments_go_before_texts_and_the_newest_stay() {
        let is_whole = |it: &Part| match it {
            Part::Call(call) => call.input.is_object(),
            Part::Text { text } => text.starts_with('\u{1}'),
            Part::StepStart | Part::Reasoning { .. } | Part::CallRecord { .. } => true,
        };
        let asked = |calls: usize, bytes: usize| (0..calls).map(|it| asked(it, bytes)).collect::<Vec<_>>();
        let texts = |count: usize, bytes: usize| (0..count).map(|_| text(bytes)).collect::<Vec<_>>();
        for (parts, calls, whole_texts) in [
            (asked(32, 200_000), 32, 0),
            (asked(32, 250_000), 29, 0),
            ([texts(1, 1_000), asked(32, 250_000)].concat(), 29, 1),
            ([texts(1, 1_000_000), asked(32, 250_000)].concat(), 5, 1),
            ([texts(3, 1_000_000), asked(2, 250_000)].concat(), 0, 1),
        ] {
            let fitted = fitted(parts);
            assert!(serde_json::to_string(&fitted).unwrap().len() < MAX_STORED_BYTES);
            let whole = |is_call| fitted.iter().filter(|it| it.as_call().is_some() == is_call && is_whole(it)).count();
            assert_eq!((whole(true), whole(false)), (calls, whole_texts));
            assert!(fitted.last().is_some_and(is_whole) || calls == 0, "the newest stay");
        }
        let fitted = fitted([texts(3, 1_000_000), asked(1, 250_000)].concat());
        assert_eq!(fitted[0], Part::Text { text: TEXT_LEFT_OUT.into() });
        assert_eq!(fitted[3].as_call().unwrap().input, INPUT_LEFT_OUT);
    }

    #[test]
    fn whatever_a_turn_has_gathered_it_fits() {
        let signed = |id: usize| {
            let signature = json!({"pegboard": {"extra_content": "x".repeat(250_000)}}).as_object().cloned();
            let Part::Call(call) = asked(id, 250_000) else { panic!() };
            Part::Call(Box::new(CallPart {
                call_provider_metadata: signature,
                error_text: Some("x".repeat(250_000)),
                ..*call
            }))
        };
        let parts = [(0..32).map(signed).collect::<Vec<_>>(), vec![text(1_000_000), text(1_000_000)]].concat();
        assert!(serde_json::to_string(&fitted(parts)).unwrap().len() < MAX_STORED_BYTES);
    }
}
