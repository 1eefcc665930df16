//! Pages of lists, as the clients of agents ask for them: `page` from 1 and `page_size`.

use super::problem::{Answer, Problem};

/// The most that one page holds.
const PAGE_SIZE: u32 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Page {
    number: u32,
    size: u32,
}

/// Where a page stands among all of them.
#[derive(Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub(crate) struct Pagination {
    total_items: u64,
    total_pages: u64,
    current_page: u32,
    page_size: u32,
}

impl Page {
    /// The one that was asked for, or the first, of a size that was asked for, or the usual one.
    pub(super) fn asked(page: Option<u32>, page_size: Option<u32>, usual: u32) -> Answer<Self> {
        let (number, size) = (page.unwrap_or(1), page_size.unwrap_or(usual));
        if number == 0 {
            return Err(Problem::invalid("page must be 1 or more."));
        }
        if !(1..=PAGE_SIZE).contains(&size) {
            return Err(Problem::invalid(format!("page_size must be from 1 to {PAGE_SIZE}.")));
        }
        Ok(Self { number, size })
    }

    pub(super) fn size(self) -> u32 {
        self.size
    }

    pub(super) fn offset(self) -> u64 {
        u64::from(self.number - 1) * u64::from(self.size)
    }

    pub(super) fn among(self, total: u64) -> Pagination {
        Pagination {
            total_items: total,
            total_pages: total.div_ceil(u64::from(self.size)),
            current_page: self.number,
            page_size: self.size,
        }
    }

    /// This page of a list that is there as a whole.
    pub(super) fn of<T>(self, all: Vec<T>) -> (Vec<T>, Pagination) {
        let pagination = self.among(all.len() as u64);
        let before = usize::try_from(self.offset()).unwrap_or(usize::MAX);
        (all.into_iter().skip(before).take(self.size as usize).collect(), pagination)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_what_follows_the_pages_before_it() {
        let page = |number, size| Page::asked(Some(number), Some(size), 50).expect("a page");
        let all: Vec<u32> = (1..=7).collect();
        assert_eq!(page(1, 3).of(all.clone()).0, [1, 2, 3]);
        let (last, pagination) = page(3, 3).of(all.clone());
        assert_eq!(last, [7]);
        assert_eq!((pagination.total_items, pagination.total_pages), (7, 3));
        assert!(page(4, 3).of(all.clone()).0.is_empty());
        assert!(page(u32::MAX, 100).of(all).0.is_empty());
        assert_eq!(page(1, 3).among(0).total_pages, 0);
    }

    #[test]
    fn a_page_that_cannot_be_is_refused() {
        for (page, size) in [(Some(0), None), (None, Some(0)), (None, Some(101))] {
            assert!(Page::asked(page, size, 50).is_err(), "{page:?} {size:?}");
        }
        assert_eq!(Page::asked(None, None, 20).expect("the usual one").size(), 20);
    }
}
