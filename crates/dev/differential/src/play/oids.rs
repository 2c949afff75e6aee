//! OIDs of objects. They may differ between two databases with the same contents, and nothing else in an answer may.

use trunkline_probes::testkit::Frame;

/// The first OID that is not the same in every database (PostgreSQL's `FirstNormalObjectId`).
pub(super) const FIRST_OF_USERS: u32 = 16_384;

/// Replaces OIDs of users' objects by numbers in the order in which a side has shown them first. So two sides that show the same
/// objects at the same places have equal numbers, and a side that shows a dropped object does not.
#[derive(Debug, Default)]
pub(super) struct Oids {
    seen: Vec<u32>,
}

impl Oids {
    /// Replaces the OIDs of a RowDescription (tables and types) or a ParameterDescription (types).
    pub(super) fn replace(&mut self, frame: &mut Frame) {
        match frame.tag {
            b'T' => self.rows(&mut frame.body),
            b't' => {
                let count = frame.body.len().saturating_sub(2) / 4;
                (0..count).for_each(|index| self.at(&mut frame.body, 2 + 4 * index));
            }
            _ => {}
        }
    }

    /// Each column: a name that ends in a zero byte, the table's OID, 2 bytes, the type's OID, 8 bytes.
    fn rows(&mut self, body: &mut [u8]) {
        let mut at = 2;
        while let Some(name) = body.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0)) {
            at += name + 1;
            self.at(body, at);
            self.at(body, at + 6);
            at += 18;
        }
    }

    fn at(&mut self, body: &mut [u8], at: usize) {
        let Some(place) = body.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) else { return };
        let oid = u32::from_be_bytes(*place);
        if oid < FIRST_OF_USERS {
            return;
        }
        let known = self.seen.iter().position(|seen| *seen == oid);
        let number = known.unwrap_or_else(|| {
            self.seen.push(oid);
            self.seen.len() - 1
        });
        *place = (FIRST_OF_USERS + u32::try_from(number).unwrap_or(u32::MAX - FIRST_OF_USERS)).to_be_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(oids: &[u32]) -> Frame {
        let mut body = u16::try_from(oids.len()).expect("few").to_be_bytes().to_vec();
        body.extend(oids.iter().flat_map(|oid| oid.to_be_bytes()));
        Frame { tag: b't', body }
    }

    #[test]
    fn objects_are_numbered_in_their_order_and_types_of_the_system_stay() {
        let mut oids = Oids::default();
        for (shown, expected) in [
            ([23, 20_000, 30_000], [23, 16_384, 16_385]),
            ([30_000, 20_000, 20_001], [16_385, 16_384, 16_386]),
        ] {
            let mut frame = parameters(&shown);
            oids.replace(&mut frame);
            assert_eq!(frame, parameters(&expected));
        }
    }

    #[test]
    fn tables_and_types_of_columns_are_replaced() {
        let column = |table: u32, kind: u32| {
            let fields: [&[u8]; 5] = [
                b"ab\0",
                &table.to_be_bytes(),
                b"\0\x01",
                &kind.to_be_bytes(),
                b"\0\x04\xff\xff\xff\xff\0\0",
            ];
            fields.concat()
        };
        let body = |columns: [Vec<u8>; 2]| [b"\0\x02".to_vec(), columns.concat()].concat();
        let mut frame = Frame { tag: b'T', body: body([column(50_000, 23), column(50_000, 60_000)]) };
        Oids::default().replace(&mut frame);
        assert_eq!(frame.body, body([column(16_384, 23), column(16_384, 16_385)]));
    }
}
