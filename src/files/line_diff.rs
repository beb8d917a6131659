//! The difference between two texts, line by line, in the unified form that `diff -u` and git write. Pure.
//!
//! The search for the fewest changed lines (Myers, 1986) takes time that grows with the square of their number. Two
//! hostile files of 100 KB may differ in 100,000 lines. So the search ends after [`MAX_EDITS`] changed lines, and the
//! lines between the first and the last difference are then shown as replaced.

use std::collections::BTreeMap;
use std::fmt::Write;

/// How many changed lines are searched for. The search takes at most this number squared in steps, and four bytes of
/// memory for each step.
const MAX_EDITS: usize = 1_000;

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;

/// The difference between two texts.
#[derive(Clone, Debug, PartialEq)]
pub struct LineDiff {
    pub text: String,
    /// Whether as few lines as possible are shown as changed.
    pub is_minimal: bool,
}

/// The difference between a file before and after. None stands for a file that does not exist.
pub fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> LineDiff {
    let [old, new] = [before, after].map(|it| it.unwrap_or_default().split_inclusive('\n').collect::<Vec<_>>());
    let (lines, is_minimal) = compare(&old, &new);
    let name = |side: &str, file: Option<&str>| match file {
        Some(_) => format!("{side}{path}"),
        None => "/dev/null".to_owned(),
    };
    let mut text = format!("--- {}\n+++ {}\n", name("a", before), name("b", after));
    write_hunks(&lines, &mut text);
    LineDiff { text, is_minimal }
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Kept,
    Removed,
    Added,
}

/// A line of either text.
type Line<'a> = (Fate, &'a str);

/// All lines of both texts in one sequence, and whether as few lines as possible are changed.
fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> (Vec<Line<'a>>, bool) {
    let same_start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[same_start..], &new[same_start..]);
    let same_end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_middle = &old_rest[..old_rest.len() - same_end];
    let new_middle = &new_rest[..new_rest.len() - same_end];

    let [old_numbers, new_numbers] = numbered(old_middle, new_middle);
    let changed = changed_lines(&old_numbers, &new_numbers);
    let is_minimal = changed.is_some();
    let changed = changed.unwrap_or_else(|| ChangedLines::all(old_middle.len(), new_middle.len()));

    let kept = |line: &&'a str| (Fate::Kept, *line);
    let mut lines = old[..same_start].iter().map(kept).collect::<Vec<_>>();
    merge(old_middle, new_middle, &changed, &mut lines);
    lines.extend(old_rest[old_middle.len()..].iter().map(kept));
    (lines, is_minimal)
}

/// Adds the lines of both texts in one sequence, removed lines before added ones.
fn merge<'a>(old: &[&'a str], new: &[&'a str], changed: &ChangedLines, lines: &mut Vec<Line<'a>>) {
    let mut added = new.iter().zip(&changed.added).peekable();
    for (line, is_removed) in old.iter().zip(&changed.removed) {
        if *is_removed {
            lines.push((Fate::Removed, line));
            continue;
        }
        while let Some((line, _)) = added.next_if(|(_, is_added)| **is_added) {
            lines.push((Fate::Added, line));
        }
        // The kept line is in both texts.
        added.next();
        lines.push((Fate::Kept, line));
    }
    lines.extend(added.map(|(line, _)| (Fate::Added, *line)));
}

/// The lines as numbers, so that the search compares no texts. Equal lines have equal numbers. A map by order, because
/// hostile lines could not make it slow.
fn numbered(old: &[&str], new: &[&str]) -> [Vec<u32>; 2] {
    let mut numbers = BTreeMap::new();
    let mut number = |line| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(line).or_insert(next)
    };
    let old = old.iter().map(|it| number(*it)).collect();
    [old, new.iter().map(|it| number(*it)).collect()]
}

/// For each line of the old and of the new text, whether only this text has the line.
struct ChangedLines {
    removed: Vec<bool>,
    added: Vec<bool>,
}

impl ChangedLines {
    fn all(old: usize, new: usize) -> Self {
        Self { removed: vec![true; old], added: vec![true; new] }
    }
}

/// The fewest changed lines. None if there are more than [`MAX_EDITS`] of them.
fn changed_lines(old: &[u32], new: &[u32]) -> Option<ChangedLines> {
    if old.is_empty() || new.is_empty() {
        return Some(ChangedLines::all(old.len(), new.len()));
    }
    let max = MAX_EDITS.min(old.len() + new.len());
    // A diagonal is the place in the old text minus the place in the new one, plus `zero`, so that it is never negative.
    let zero = max + 1;
    // For each diagonal, the furthest place in the old text that can be reached with the edits so far.
    let mut furthest = vec![0_u32; 2 * max + 3];
    // The same after each number of edits, from the diagonal `zero - edits` on.
    let mut history: Vec<Vec<u32>> = Vec::new();
    for edits in 0..=max {
        for diagonal in (zero - edits..=zero + edits).step_by(2) {
            let (from, is_added) = step_to(diagonal, zero, edits, |it| furthest[it]);
            let mut at_old = furthest[from] as usize + usize::from(!is_added && edits > 0);
            let mut at_new = at_old + zero - diagonal;
            while at_old < old.len() && at_new < new.len() && old[at_old] == new[at_new] {
                at_old += 1;
                at_new += 1;
            }
            furthest[diagonal] = u32::try_from(at_old).unwrap_or(u32::MAX);
            if at_old >= old.len() && at_new >= new.len() {
                return Some(walked_back(old.len(), new.len(), zero, &history));
            }
        }
        history.push(furthest[zero - edits..=zero + edits].to_vec());
    }
    None
}

/// The diagonal from which the last edit led to `diagonal`, and whether this edit added a line.
fn step_to(diagonal: usize, zero: usize, edits: usize, furthest: impl Fn(usize) -> u32) -> (usize, bool) {
    if edits == 0 {
        return (diagonal, false);
    }
    let is_added =
        diagonal == zero - edits || (diagonal != zero + edits && furthest(diagonal - 1) < furthest(diagonal + 1));
    (if is_added { diagonal + 1 } else { diagonal - 1 }, is_added)
}

/// The edits that led from the beginning of both texts to their ends.
fn walked_back(old: usize, new: usize, zero: usize, history: &[Vec<u32>]) -> ChangedLines {
    let mut changed = ChangedLines { removed: vec![false; old], added: vec![false; new] };
    let (mut at_old, mut at_new) = (old, new);
    for (before, furthest) in history.iter().enumerate().rev() {
        let reached = |diagonal: usize| furthest[diagonal + before - zero];
        let (from, is_added) = step_to(at_old + zero - at_new, zero, before + 1, reached);
        at_old = reached(from) as usize;
        at_new = at_old + zero - from;
        if is_added {
            changed.added[at_new] = true;
        } else {
            changed.removed[at_old] = true;
        }
    }
    changed
}

/// Writes the changed lines with the lines around them. Changes that are close to each other share a hunk.
fn write_hunks(lines: &[Line<'_>], text: &mut String) {
    let is_change = |index: &usize| lines[*index].0 != Fate::Kept;
    let mut changes = (0..lines.len()).filter(is_change).peekable();
    // The end of the hunk before, and the numbers of the lines there.
    let (mut written, mut old_line, mut new_line) = (0, 1, 1);
    while let Some(first) = changes.next() {
        let mut last = first;
        while let Some(next) = changes.next_if(|it| *it <= last + 2 * CONTEXT + 1) {
            last = next;
        }
        let start = first.saturating_sub(CONTEXT).max(written);
        let hunk = &lines[start..(last + CONTEXT + 1).min(lines.len())];
        old_line += start - written;
        new_line += start - written;
        let old_count = hunk.iter().filter(|(fate, _)| *fate != Fate::Added).count();
        let new_count = hunk.iter().filter(|(fate, _)| *fate != Fate::Removed).count();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "@@ -{} +{} @@", range(old_line, old_count), range(new_line, new_count));
        hunk.iter().for_each(|line| write_line(*line, text));
        (old_line, new_line, written) = (old_line + old_count, new_line + new_count, start + hunk.len());
    }
}

/// The lines of a hunk, as its head names them. A range without lines names the line before it.
fn range(first: usize, count: usize) -> String {
    match count {
        0 => format!("{},0", first - 1),
        1 => first.to_string(),
        _ => format!("{first},{count}"),
    }
}

fn write_line((fate, line): Line<'_>, text: &mut String) {
    text.push(match fate {
        Fate::Kept => ' ',
        Fate::Removed => '-',
        Fate::Added => '+',
    });
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        let before = (1..=20).map(|it| format!("line {it}\n")).collect::<String>();
        let after =
            before.replace("line 2\n", "line two\n").replace("line 12\n", "").replace("line 19\n", "line 19\nmore\n");
        insta::assert_snapshot!(unified("/notes/a b.txt", Some(&before), Some(&after)).text, @r"
        --- a/notes/a b.txt
        +++ b/notes/a b.txt
        @@ -1,5 +1,5 @@
         line 1
        -line 2
        +line two
         line 3
         line 4
         line 5
        @@ -9,7 +9,6 @@
         line 9
         line 10
         line 11
        -line 12
         line 13
         line 14
         line 15
        @@ -17,4 +16,5 @@
         line 17
         line 18
         line 19
        +more
         line 20
        ");
    }

    #[test]
    fn files_that_come_and_go_are_shown_whole() {
        assert_eq!(unified("/x", None, Some("a\nb\n")).text, "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(unified("/x", Some("a\n"), None).text, "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
        assert_eq!(unified("/x", None, Some("")).text, "--- /dev/null\n+++ b/x\n");
    }

    #[test]
    fn a_missing_end_of_the_last_line_is_told() {
        let shown = unified("/x", Some("a\nb"), Some("a\nb\n")).text;
        assert!(shown.ends_with(" a\n-b\n\\ No newline at end of file\n+b\n"), "{shown}");
    }

    /// Applies a unified difference to the text before.
    fn applied(before: &str, diff: &str) -> String {
        let old = before.split_inclusive('\n').collect::<Vec<_>>();
        let (mut at, mut after) = (0, String::new());
        let mut lines = diff.split_inclusive('\n').skip(2).peekable();
        while let Some(line) = lines.next() {
            if let Some(head) = line.strip_prefix("@@ -") {
                let range = head.split(' ').next().unwrap();
                let (first, count) = range.split_once(',').unwrap_or((range, "1"));
                let first = first.parse::<usize>().unwrap() - usize::from(count != "0");
                after.extend(old[at..first].iter().copied());
                at = first;
                continue;
            }
            let is_unended = lines.next_if(|it| it.starts_with('\\')).is_some();
            let content = if is_unended { line[1..].trim_end_matches('\n') } else { &line[1..] };
            if !line.starts_with('+') {
                assert_eq!(old[at], content);
                at += 1;
            }
            if !line.starts_with('-') {
                after.push_str(content);
            }
        }
        after.extend(old[at..].iter().copied());
        after
    }

    /// The number of changed lines, by the plain table of longest common subsequences.
    fn fewest_changes(old: &[&str], new: &[&str]) -> usize {
        let mut table = vec![vec![0; new.len() + 1]; old.len() + 1];
        for (row, a) in old.iter().enumerate() {
            for (column, b) in new.iter().enumerate() {
                table[row + 1][column + 1] = match a == b {
                    true => table[row][column] + 1,
                    false => table[row][column + 1].max(table[row + 1][column]),
                };
            }
        }
        old.len() + new.len() - 2 * table[old.len()][new.len()]
    }

    #[test]
    fn a_difference_leads_from_one_text_to_the_other_in_the_fewest_lines() {
        let mut dice = Dice(7);
        for _ in 0..2_000 {
            let mut text = || {
                let count = dice.below(30);
                let mut text = (0..count).map(|_| dice.pick(&["a\n", "b\n", "c\n", "\n"])).collect::<String>();
                if dice.once_in(3) {
                    text.pop();
                }
                text
            };
            let (before, after) = (text(), text());
            let diff = unified("/x", Some(&before), Some(&after));
            assert_eq!(applied(&before, &diff.text), after, "{before:?}\n{}", diff.text);
            let changed = diff.text.lines().skip(2).filter(|it| it.starts_with(['-', '+'])).count();
            let [old, new] = [&before, &after].map(|it| it.split_inclusive('\n').collect::<Vec<_>>());
            assert_eq!((changed, diff.is_minimal), (fewest_changes(&old, &new), true), "{before:?} {after:?}");
        }
    }

    #[test]
    fn texts_with_too_many_differences_are_shown_as_replaced() {
        let text = |first: usize| {
            let middle = (first..first + 30_000).map(|it| format!("{it}\n")).collect::<String>();
            format!("start\n{middle}end\n")
        };
        let (before, after) = (text(0), text(50_000));
        let diff = unified("/x", Some(&before), Some(&after));
        assert!(!diff.is_minimal);
        assert_eq!(applied(&before, &diff.text), after);
        assert!(diff.text.contains("\n start\n-0\n") && diff.text.ends_with("+79999\n end\n"));
        // Lines that were only added or only removed need no search.
        assert!(unified("/x", Some("start\nend\n"), Some(&after)).is_minimal);
        assert!(unified("/x", Some(&before), None).is_minimal);
        // As many differences as are searched for are found.
        let many = |word: &str| (0..MAX_EDITS / 2).map(|it| format!("{it}\n{word}{it}\n")).collect::<String>();
        assert!(unified("/x", Some(&many("a")), Some(&many("b"))).is_minimal);
        assert!(!unified("/x", Some(&(many("a") + "a\nz\n")), Some(&(many("b") + "b\nz\n"))).is_minimal);
    }
}
