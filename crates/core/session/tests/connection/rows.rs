//! Reads the values of rows in any order.

use proptest::collection::vec;
use proptest::prelude::*;
use trunkline_session::frontend::rows::{Frames, MARKS, RowError, RowMarks, RowView};
use trunkline_wire::backend::DataRow;

fn body(values: &[Option<Vec<u8>>]) -> Vec<u8> {
    let values: Vec<_> = values.iter().map(Option::as_deref).collect();
    let mut out = Vec::new();
    DataRow::write(&mut out, &values).expect("fits");
    out.split_off(5)
}

proptest! {
    #[test]
    fn values_are_found_in_any_order(
        values in vec(proptest::option::of(vec(any::<u8>(), 0..5)), 0..100),
        order in vec(any::<proptest::sample::Index>(), 0..50),
    ) {
        let body = body(&values);
        let view = RowView::new(&body);
        prop_assert_eq!(usize::from(view.columns()), values.len());
        for index in order.iter().filter(|_| !values.is_empty()).map(|at| at.index(values.len())) {
            prop_assert_eq!(view.value(index), Ok(values[index].as_deref()));
        }
        let columns = u16::try_from(values.len()).expect("few");
        prop_assert_eq!(view.value(values.len()), Err(RowError::NoColumn { index: values.len(), columns }));
    }

    #[test]
    fn a_malformed_row_is_an_error_where_it_is_read(
        bytes in vec(any::<u8>(), 0..60),
        order in vec(0..40_usize, 0..20),
    ) {
        let view = RowView::new(&bytes);
        let fresh = |index| RowView::new(&bytes).value(index);
        for index in order {
            prop_assert_eq!(view.value(index), fresh(index));
        }
    }
}

#[test]
fn a_wide_row_is_read_backwards_in_time() {
    // Values are read backwards. With marks each step reads a sixteenth of the row at most, without them half of it.
    let values = vec![Some(Vec::new()); 1_664];
    let body = body(&values);
    let view = RowView::new(&body);
    for index in (0..values.len()).rev() {
        assert_eq!(view.value(index), Ok(Some(&b""[..])));
    }
}

#[test]
fn marks_of_a_narrow_row_are_its_columns() {
    let values: Vec<_> = (0..MARKS).map(|n| Some(vec![7; n])).collect();
    let body = body(&values);
    let marks = RowMarks::default();
    assert_eq!(marks.value(&body, MARKS - 1), Ok(values[MARKS - 1].as_deref()));
    for (index, value) in values.iter().enumerate() {
        assert_eq!(marks.value(&body, index), Ok(value.as_deref()));
    }
}

#[test]
fn threads_may_read_one_row() {
    let values: Vec<_> = (0..200_u8).map(|n| Some(vec![n; 2])).collect();
    let body = body(&values);
    let view = RowView::new(&body);
    std::thread::scope(|scope| {
        for step in [1, 3, 7, 11] {
            let (view, values) = (&view, &values);
            scope.spawn(move || {
                for index in (0..200).map(|n| n * step % 200) {
                    assert_eq!(view.value(index), Ok(values[index].as_deref()));
                }
            });
        }
    });
}

#[test]
fn other_messages_are_skipped() {
    let mut run = b"2\0\0\0\x04".to_vec();
    DataRow::write(&mut run, &[Some(b"x")]).expect("fits");
    run.extend_from_slice(b"C\0\0\0\x06a\0D\0\0\0\x06\0\0D\0\0\0");
    let bodies: Vec<_> = Frames::rows(&run).collect();
    assert_eq!(bodies, [&b"\0\x01\0\0\0\x01x"[..], b"\0\0"]);
}
