//! Pages of lists: at most `limit` rows, and a cursor to the next page. A cursor is the place where the page ended, in
//! hexadecimal. A cursor reveals nothing that the page itself did not show.

use crate::error::{Error, Result};
use crate::hex;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

pub const MAX_LIMIT: u32 = 200;
pub const DEFAULT_LIMIT: u32 = 50;
const MAX_OFFSET: u32 = 10_000;

text_enum! {
    /// Whether the oldest or the newest item comes first.
    AgeOrder {
        Oldest = "oldest",
        Newest = "newest",
    }
}

/// The page that a caller asked for, checked.
#[derive(Debug)]
pub struct PageRequest {
    limit: u32,
    cursor: Option<String>,
}

#[derive(Debug)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// The items, each converted with `each`, and the cursor to the next page.
    pub fn map<U>(self, each: impl FnMut(T) -> U) -> (Vec<U>, Option<String>) {
        (self.items.into_iter().map(each).collect(), self.next_cursor)
    }
}

impl PageRequest {
    pub fn new(limit: Option<u32>, cursor: Option<&str>) -> Result<Self> {
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Error::query("limit", format!("must be from 1 to {MAX_LIMIT}, not {limit}")));
        }
        let cursor =
            cursor.map(|it| hex::decode_text(it).filter(|text| !text.is_empty()).ok_or_else(bad_cursor)).transpose()?;
        Ok(Self { limit, cursor })
    }

    /// A page that may hold more items than a caller may ask for.
    pub fn of_up_to(limit: u32, cursor: Option<&str>) -> Result<Self> {
        Ok(Self { limit, ..Self::new(None, cursor)? })
    }

    /// The same page size, after the position at which another page begins.
    pub fn after_page(mut self, other: &Self) -> Self {
        self.cursor.clone_from(&other.cursor);
        self
    }

    pub fn limit(&self) -> usize {
        self.limit as usize
    }

    /// The position after which the page begins.
    pub fn after(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// For lists by age: the time and id after which the page begins. Both are empty for the first page.
    pub fn after_age(&self) -> Result<(&str, &str)> {
        match &self.cursor {
            None => Ok(("", "")),
            Some(cursor) => {
                cursor.split_once(' ').filter(|(time, _)| Timestamp::parse(time).is_some()).ok_or_else(bad_cursor)
            }
        }
    }

    /// For ranked lists: how many rows come before the page. Such a page reads all rows before it, and so the offset
    /// has a limit.
    pub fn offset(&self) -> Result<u32> {
        match &self.cursor {
            None => Ok(0),
            Some(cursor) => cursor.parse().ok().filter(|it| *it <= MAX_OFFSET).ok_or_else(bad_cursor),
        }
    }

    /// A page of a ranked list. The page is the last one if the next page would begin beyond the largest offset.
    pub fn ranked_page<T>(&self, items: Vec<T>, is_cut: bool) -> Result<Page<T>> {
        let shown = u32::try_from(items.len()).unwrap_or(u32::MAX).min(self.limit);
        let next = self.offset()? + shown;
        let mut page = self.cut_page(items, is_cut, |_| next.to_string());
        page.next_cursor.take_if(|_| next > MAX_OFFSET);
        Ok(page)
    }

    pub fn age_cursor(time: Timestamp, id: &str) -> String {
        format!("{time} {id}")
    }

    /// The cursor to the rows after a position.
    pub fn cursor(position: &str) -> String {
        hex::encode(position.as_bytes())
    }

    /// How many rows to read: one more than the page shows, to know whether more follow.
    pub fn rows_to_ask(&self) -> u32 {
        self.limit + 1
    }

    /// Cuts the rows that were read down to the page. If more rows follow, the cursor is made from the last item of the
    /// page.
    pub fn page<T>(&self, items: Vec<T>, position: impl Fn(&T) -> String) -> Page<T> {
        self.cut_page(items, false, position)
    }

    /// The page of rows that may have been cut: further rows follow that were not read, because they would be too many
    /// bytes.
    pub fn cut_page<T>(&self, mut items: Vec<T>, is_cut: bool, position: impl Fn(&T) -> String) -> Page<T> {
        let limit = self.limit as usize;
        let more = is_cut || items.len() > limit;
        items.truncate(limit);
        let next_cursor = match items.last() {
            Some(last) if more => Some(Self::cursor(&position(last))),
            _ => None,
        };
        Page { items, next_cursor }
    }
}

pub fn bad_cursor() -> Error {
    Error::query("cursor", "is not a cursor that this list gave out")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_checked() {
        assert_eq!(PageRequest::new(None, None).unwrap().rows_to_ask(), DEFAULT_LIMIT + 1);
        for good in [1, 200] {
            assert!(PageRequest::new(Some(good), None).is_ok());
        }
        for bad in [0, 201, u32::MAX] {
            assert!(PageRequest::new(Some(bad), None).is_err());
        }
    }

    #[test]
    fn pages_lead_to_each_other() {
        let first = PageRequest::new(Some(2), None).unwrap();
        let page = first.page(vec!["a", "b", "c"], |it| (*it).to_owned());
        assert_eq!(page.items, ["a", "b"]);
        let second = PageRequest::new(Some(2), page.next_cursor.as_deref()).unwrap();
        assert_eq!(second.after(), Some("b"));
        let page = second.page(vec!["c", "d"], |it| (*it).to_owned());
        assert_eq!((page.items, page.next_cursor), (vec!["c", "d"], None));
    }

    #[test]
    fn a_cut_page_leads_on() {
        let request = PageRequest::new(Some(5), None).unwrap();
        let page = request.cut_page(vec!["a", "b"], true, |it| (*it).to_owned());
        assert_eq!((page.items, page.next_cursor), (vec!["a", "b"], Some(hex::encode(b"b"))));
        let ranked = request.ranked_page(vec!["a", "b"], true).unwrap();
        assert_eq!(ranked.next_cursor, Some(hex::encode(b"2")), "as many rows further as were shown");
    }

    #[test]
    fn a_made_up_cursor_is_refused() {
        for cursor in ["", "x", "zz", "-_", "ff"] {
            assert!(PageRequest::new(None, Some(cursor)).is_err(), "{cursor}");
        }
        let nonsense = PageRequest::new(None, Some(&hex::encode(b"nonsense"))).unwrap();
        assert!(nonsense.after_age().is_err() && nonsense.offset().is_err());
        let far = PageRequest::new(None, Some(&hex::encode(b"4294967295"))).unwrap();
        assert!(far.offset().is_err());
    }
}
