//! Pages of lists in the format of the agent routes: `page` from 1 and `page_size`.

use crate::http::problem::{ApiProblem, ApiResult};

/// Maximum page size.
const MAX_PAGE_SIZE: u32 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageRequest {
    number: u32,
    size: u32,
}

/// The position of a page in the list.
#[derive(Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub(crate) struct PageInfo {
    total_items: u64,
    total_pages: u64,
    current_page: u32,
    page_size: u32,
}

impl PageRequest {
    /// The requested page, by default the first, of the requested or default size.
    pub(crate) fn requested(
        page: Option<u32>,
        page_size: Option<u32>,
        default_size: u32,
    ) -> ApiResult<Self> {
        let (number, size) = (page.unwrap_or(1), page_size.unwrap_or(default_size));
        if number == 0 {
            return Err(ApiProblem::invalid("page must be 1 or more."));
        }
        if !(1..=MAX_PAGE_SIZE).contains(&size) {
            return Err(ApiProblem::invalid(format!(
                "page_size must be from 1 to {MAX_PAGE_SIZE}."
            )));
        }
        Ok(Self { number, size })
    }

    pub(crate) fn size(self) -> u32 {
        self.size
    }

    pub(crate) fn offset(self) -> u64 {
        u64::from(self.number - 1) * u64::from(self.size)
    }

    pub(crate) fn among(self, total: u64) -> PageInfo {
        PageInfo {
            total_items: total,
            total_pages: total.div_ceil(u64::from(self.size)),
            current_page: self.number,
            page_size: self.size,
        }
    }

    /// This page of a complete list.
    pub(crate) fn of<T>(self, all: Vec<T>) -> (Vec<T>, PageInfo) {
        let pagination = self.among(all.len() as u64);
        let before = usize::try_from(self.offset()).unwrap_or(usize::MAX);
        (all.into_iter().skip(before).take(self.size as usize).collect(), pagination)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_contains_what_follows_the_pages_before_it() {
        let page =
            |number, size| PageRequest::requested(Some(number), Some(size), 50).expect("a page");
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
    fn an_invalid_page_is_refused() {
        for (page, size) in [(Some(0), None), (None, Some(0)), (None, Some(101))] {
            assert!(PageRequest::requested(page, size, 50).is_err(), "{page:?} {size:?}");
        }
        assert_eq!(PageRequest::requested(None, None, 20).expect("the default size").size(), 20);
    }
}
