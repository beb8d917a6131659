//! Durations of calls as counts on a logarithmic scale. Counts can be added up for any time and any number of calls, and
//! still tell every quantile. The steps of the scale are exact below 8 ms, and from there on every doubling has four steps.
//! A quantile is therefore off by an eighth at most.
//!
//! SQL finds the step of a call (`store::series`), and this file turns steps into milliseconds again.

use std::collections::BTreeMap;

/// How often each step was met.
pub type StepCounts = BTreeMap<u8, u32>;

/// Up to how many doublings after 4 ms the scale goes: the last step begins after 61 minutes. Longer durations count there.
pub const DOUBLINGS: u32 = 19;

/// The last step.
pub const LAST_STEP: u32 = 4 * DOUBLINGS + 7;

/// The duration that stands for a step: the middle of the durations that the step counts.
fn middle_millis(step: u8) -> u32 {
    let (doublings, step) = (u32::from(step / 4).saturating_sub(1).min(DOUBLINGS), u32::from(step));
    let (least, width) = ((step - 4 * doublings) << doublings, 1_u32 << doublings);
    least + (width - 1) / 2
}

/// The duration below which this percentage of the counted durations lies, by nearest rank as in the summary of calls. None
/// if nothing was counted.
pub fn quantile(counts: &StepCounts, percent: u64) -> Option<u32> {
    let all = counts.values().map(|it| u64::from(*it)).sum::<u64>();
    let rank = (percent * all).div_ceil(100);
    let mut reached = 0;
    let at_rank = |(_, count): &(&u8, &u32)| {
        reached += u64::from(**count);
        reached >= rank && rank > 0
    };
    counts.iter().find(at_rank).map(|(step, _)| middle_millis(*step))
}

/// The step of a duration, as SQL finds it.
#[cfg(test)]
pub fn step_of(millis: u32) -> u8 {
    let doublings = millis.checked_ilog2().unwrap_or(0).saturating_sub(2);
    u8::try_from((4 * doublings + (millis >> doublings)).min(LAST_STEP)).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    #[test]
    fn steps_rise_with_the_duration_and_stay_near_it() {
        let mut last = 0;
        for millis in (0..5_000).chain((5_000..3_600_000).step_by(997)) {
            let step = step_of(millis);
            assert!(step >= last && u32::from(step) <= LAST_STEP, "{millis}");
            assert!(millis >= 8 || u32::from(step) == millis, "{millis}");
            let middle = middle_millis(step);
            assert!(middle.abs_diff(millis) * 8 <= millis, "{millis} is told as {middle}");
            last = step;
        }
        assert_eq!((step_of(3_670_015), step_of(3_670_016), step_of(u32::MAX)), (82, 83, 83));
        // A step that no duration has, if another version of the code wrote it, has a duration too.
        for step in 0..=u8::MAX {
            middle_millis(step);
        }
    }

    #[test]
    fn quantiles_are_off_by_an_eighth_at_most() {
        let mut dice = Dice(7);
        for round in 0..300 {
            let calls = 1 + dice.below(400);
            let mut durations = (0..calls)
                .map(|_| {
                    let size = dice.below(22);
                    u32::try_from(dice.below(1 << size).max(round % 3)).unwrap()
                })
                .collect::<Vec<_>>();
            durations.sort_unstable();
            let mut counts = StepCounts::new();
            for it in &durations {
                *counts.entry(step_of(*it)).or_default() += 1;
            }
            for percent in [1, 50, 95, 99, 100] {
                let exact = durations[(percent * calls).div_ceil(100) - 1];
                let told = quantile(&counts, percent as u64).unwrap();
                assert!(told.abs_diff(exact) * 8 <= exact, "{percent} of {durations:?}: {told} for {exact}");
            }
        }
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert_eq!(quantile(&StepCounts::new(), 50), None);
        assert_eq!(quantile(&StepCounts::from([(3, 0)]), 50), None);
        let counts = StepCounts::from([(1, 1), (5, 1)]);
        assert_eq!((quantile(&counts, 50), quantile(&counts, 51), quantile(&counts, 95)), (Some(1), Some(5), Some(5)));
    }
}
