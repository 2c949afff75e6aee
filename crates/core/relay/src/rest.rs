//! The rest of a message whose beginning was dealt with.

/// Bytes of a message that are still to come: they go where its beginning went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rest {
    /// No message is cut in the middle.
    #[default]
    None,
    /// They are passed on.
    Passed(u32),
    /// They are dropped.
    Dropped(u32),
}

impl Rest {
    /// This many bytes are to come.
    #[inline]
    pub(crate) fn of(bytes: usize, passed: bool) -> Self {
        // A message's length has 31 bits.
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        match (bytes, passed) {
            (0, _) => Self::None,
            (bytes, true) => Self::Passed(bytes),
            (bytes, false) => Self::Dropped(bytes),
        }
    }

    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self == Self::None
    }

    /// Whether a message was passed on in part: nothing else may be said before its end.
    pub(crate) fn is_passed(self) -> bool {
        matches!(self, Self::Passed(_))
    }

    /// Takes what is there of `available` bytes; returns how many are passed on, and how many dropped.
    #[inline]
    pub(crate) fn take(&mut self, available: usize) -> (usize, usize) {
        match *self {
            Self::None => (0, 0),
            Self::Passed(bytes) => {
                let taken = (bytes as usize).min(available);
                *self = Self::of(bytes as usize - taken, true);
                (taken, 0)
            }
            Self::Dropped(bytes) => {
                let taken = (bytes as usize).min(available);
                *self = Self::of(bytes as usize - taken, false);
                (0, taken)
            }
        }
    }

    /// What was to be passed on is dropped: its receiver has gone.
    pub(crate) fn drop_it(&mut self) {
        if let Self::Passed(bytes) = *self {
            *self = Self::Dropped(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_goes_one_way_until_it_is_all_there() {
        let mut rest = Rest::of(10, true);
        assert_eq!(rest.take(4), (4, 0));
        assert!(rest.is_passed());
        rest.drop_it();
        assert_eq!(rest.take(4), (0, 4));
        assert_eq!(rest.take(4), (0, 2));
        assert!(rest.is_none());
        assert_eq!(rest.take(4), (0, 0));
        assert_eq!(Rest::of(0, true), Rest::None);
    }
}
