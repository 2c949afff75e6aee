//! C's enums as Rust's, and the node tags. C may store any number in an enum; these take only the declared ones.

/// An enum's names, for code that treats all enums alike.
#[derive(Debug, Clone, Copy)]
pub struct EnumInfo {
    /// The enum's name in C.
    pub name: &'static str,
    /// Its constants: value, and name in C.
    pub constants: &'static [(i32, &'static str)],
}

impl EnumInfo {
    /// The C name of a value; None for a number that is none of the enum's constants.
    #[must_use]
    pub fn constant(&self, value: i32) -> Option<&'static str> {
        // Nearly all enums count from 0 without a gap: the value is the place.
        let at_place = usize::try_from(value).ok().and_then(|place| self.constants.get(place));
        match at_place {
            Some((found, name)) if *found == value => Some(name),
            _ => self.constants.iter().find(|(found, _)| *found == value).map(|(_, name)| *name),
        }
    }
}

macro_rules! node_enum {
    ($name:ident $c:literal { $first:ident = $first_value:literal $first_c:literal, $($variant:ident = $value:literal $variant_c:literal,)* }) => {
        #[doc = concat!("C's enum `", $c, "`. A getter whose field holds no constant of it gives the first.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(i32)]
        pub enum $name {
            #[doc = concat!("`", $first_c, "`.")]
            $first = $first_value,
            $(#[doc = concat!("`", $variant_c, "`.")]
            $variant = $value,)*
        }

        impl $name {
            /// Names and values of all constants.
            pub const INFO: EnumInfo =
                EnumInfo { name: $c, constants: &[($first_value, $first_c), $(($value, $variant_c),)*] };

            /// The variant of C's number; None if no constant has it.
            #[inline]
            #[must_use]
            pub const fn from_raw(value: i32) -> Option<Self> {
                match value {
                    $first_value => Some(Self::$first),
                    $($value => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The constant's name in C.
            #[must_use]
            pub fn c_name(self) -> &'static str {
                Self::INFO.constant(self as i32).unwrap_or($first_c)
            }

            #[allow(dead_code, reason = "not every enum is the type of a field")]
            /// The variant of a field: the first for a number that is none of C's constants.
            #[inline]
            pub(crate) const fn of_field(value: i32) -> Self {
                match Self::from_raw(value) {
                    Some(variant) => variant,
                    None => Self::$first,
                }
            }
        }
    };
}

macro_rules! node_tags {
    ($($variant:ident = $value:literal $c:literal,)*) => {
        /// The type of a node: C's `NodeTag`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum NodeTag {
            /// No node.
            Invalid = 0,
            $(#[doc = concat!("`T_", $c, "`.")]
            $variant = $value,)*
        }

        /// All tags and their names, each at the place of its number.
        static TAGS: &[(NodeTag, &str)] = &[(NodeTag::Invalid, "Invalid"), $((NodeTag::$variant, $c),)*];
    };
}

include!(concat!(env!("OUT_DIR"), "/enums.rs"));

impl NodeTag {
    /// The tag of C's number; [`NodeTag::Invalid`] for a number that is no tag.
    #[inline]
    #[must_use]
    pub const fn from_raw(number: u32) -> Self {
        if number as usize >= TAGS.len() {
            return Self::Invalid;
        }
        // SAFETY: the enum has a variant for every number below the table's length: asserted right below.
        unsafe { std::mem::transmute::<u32, Self>(number) }
    }

    /// The node's name in C, without `T_`.
    #[must_use]
    pub fn c_name(self) -> &'static str {
        TAGS.get(self as usize).map_or("Invalid", |(_, name)| *name)
    }
}

// The table has the variant of each number at its place: no number below its length is without one.
const _: () = {
    let mut number = 0;
    while number < TAGS.len() {
        assert!(TAGS[number].0 as usize == number);
        number += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_an_enum_are_none() {
        assert_eq!(LimitOption::from_raw(2), Some(LimitOption::LimitOptionWithTies));
        assert_eq!(LimitOption::from_raw(3), None);
        assert_eq!(LimitOption::of_field(-7), LimitOption::LimitOptionDefault);
        assert_eq!(
            PartitionStrategy::from_raw(i32::from(b'r')),
            Some(PartitionStrategy::PartitionStrategyRange)
        );
        assert_eq!(PartitionStrategy::PartitionStrategyRange.c_name(), "PARTITION_STRATEGY_RANGE");
        assert_eq!(PartitionRangeDatumKind::INFO.constant(-1), Some("PARTITION_RANGE_DATUM_MINVALUE"));
        assert_eq!(AExprKind::AexprOpAny.c_name(), "AEXPR_OP_ANY");
    }

    #[test]
    fn tags_stand_at_the_place_of_their_number() {
        for (place, (tag, _)) in (0_u32..).zip(TAGS) {
            assert_eq!(*tag as u32, place);
            assert_eq!(NodeTag::from_raw(place), *tag);
        }
        assert_eq!(NodeTag::from_raw(u32::MAX), NodeTag::Invalid);
        assert_eq!(NodeTag::AConst.c_name(), "A_Const");
    }
}
