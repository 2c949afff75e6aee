//! The rest of a message of which we have handled the beginning.

/// The bytes of a message that have not come yet. They go where the beginning of the message went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rest {
    /// The last message has come completely.
    #[default]
    None,
    /// This many bytes will be passed on.
    Passed(u32),
    /// This many bytes will be dropped.
    Dropped(u32),
}

impl Rest {
    /// The state after which this many bytes must still come.
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

    /// Whether a message was passed on in part. Until its end its receiver may get nothing else.
    pub(crate) fn is_passed(self) -> bool {
        matches!(self, Self::Passed(_))
    }

    /// Takes the message's bytes off the beginning of `available` bytes. Returns how many of them to pass on, and how
    /// many to drop. One of the two is 0.
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

    /// The receiver has gone, so the rest is dropped.
    pub(crate) fn discard(&mut self) {
        if let Self::Passed(bytes) = *self {
            *self = Self::Dropped(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_goes_one_way_until_it_is_complete() {
        let mut rest = Rest::of(10, true);
        assert_eq!(rest.take(4), (4, 0));
        assert!(rest.is_passed());
        rest.discard();
        assert_eq!(rest.take(4), (0, 4));
        assert_eq!(rest.take(4), (0, 2));
        assert!(rest.is_none());
        assert_eq!(rest.take(4), (0, 0));
        assert_eq!(Rest::of(0, true), Rest::None);
    }
}
