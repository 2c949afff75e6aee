//! Properties that hold for any bytes and any fields.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use trunkline_wire::backend::{self, Column, DataRow, ErrorResponse, RowDescription};
use trunkline_wire::frame::{self, HEADER_BYTES};
use trunkline_wire::frontend::{self, Bind, BindNames, PasswordKind, bind};
use trunkline_wire::startup::{
    CancelRequest, FirstPacket, ProtocolVersion, StartupMessage, first_packet_bytes,
};
use trunkline_wire::{Format, SqlState};

const KINDS: [PasswordKind; 4] =
    [PasswordKind::Password, PasswordKind::SaslInitial, PasswordKind::Sasl, PasswordKind::Gss];

/// A string that the protocol can carry.
fn text() -> impl Strategy<Value = Vec<u8>> {
    vec(1..=255u8, 0..20)
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..200)
}

/// Bytes that have a chance to be a valid body, because counts and lengths in them are mostly small.
fn body() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![4 => Just(0u8), 2 => 0..4u8, 1 => any::<u8>(), 1 => Just(b'S')], 0..40)
}

fn values() -> impl Strategy<Value = Vec<Option<Vec<u8>>>> {
    vec(option::of(bytes()), 0..12)
}

fn formats() -> impl Strategy<Value = Vec<Format>> {
    vec((-1..3i16).prop_map(Format), 0..6)
}

fn borrowed(values: &[Option<Vec<u8>>]) -> Vec<Option<&[u8]>> {
    values.iter().map(Option::as_deref).collect()
}

/// The body of `frame`, which must hold exactly one frame.
fn body_of(frame: &[u8]) -> &[u8] {
    let header = frame::header(frame).expect("a valid length").expect("a header");
    assert_eq!(header.frame_bytes(), frame.len());
    &frame[HEADER_BYTES..]
}

proptest! {
    #[test]
    fn any_server_body_is_refused_or_encoded_to_the_same_bytes(tag in prop::sample::select(&backend::message::TAGS[..]), body in prop_oneof![body(), bytes()]) {
        if let Ok(message) = backend::Message::decode(tag, &body) {
            let mut out = Vec::new();
            message.encode(&mut out).expect("fits as it did");
            prop_assert_eq!(out[0], tag);
            prop_assert_eq!(body_of(&out), &body[..]);
            let shown = format!("{message:?}");
            prop_assert!(!shown.is_empty());
        }
    }

    #[test]
    fn any_client_body_is_refused_or_encoded_to_the_same_bytes(tag in prop::sample::select(&frontend::message::TAGS[..]), body in prop_oneof![body(), bytes()], kind in prop::sample::select(&KINDS[..])) {
        if let Ok(message) = frontend::Message::decode(tag, &body, kind) {
            let mut out = Vec::new();
            message.encode(&mut out).expect("fits as it did");
            prop_assert_eq!(out[0], tag);
            prop_assert_eq!(body_of(&out), &body[..]);
            let shown = format!("{message:?}");
            prop_assert!(!shown.is_empty());
        }
    }

    #[test]
    fn an_unknown_type_is_refused(tag: u8, body in body()) {
        if !backend::message::TAGS.contains(&tag) {
            prop_assert!(backend::Message::decode(tag, &body).is_err());
        }
        if !frontend::message::TAGS.contains(&tag) {
            prop_assert!(frontend::Message::decode(tag, &body, PasswordKind::Password).is_err());
        }
    }

    #[test]
    fn any_first_packet_is_refused_or_encoded_to_the_same_bytes(code in prop::sample::select(vec![80_877_102u32, 80_877_103, 80_877_104, 196_608, 196_610, 0x3270f, 0x20000]), body in prop_oneof![body(), bytes()]) {
        let mut packet = u32::try_from(body.len() + 8).expect("short").to_be_bytes().to_vec();
        packet.extend(code.to_be_bytes());
        packet.extend(&body);
        prop_assert_eq!(first_packet_bytes(&packet), Ok(Some(packet.len())));
        if let Ok(first) = FirstPacket::decode(&packet) {
            let mut out = Vec::new();
            first.encode(&mut out);
            prop_assert_eq!(out, packet);
        }
    }

    #[test]
    fn headers_can_be_read_back(tag: u8, length: u32) {
        let mut input = vec![tag];
        input.extend(length.to_be_bytes());
        match frame::header(&input) {
            Ok(header) => {
                let header = header.expect("five bytes");
                prop_assert_eq!((header.tag, header.length), (tag, length));
                prop_assert_eq!(header.frame_bytes(), length as usize + 1);
                prop_assert_eq!(header.body_bytes(), length as usize - 4);
            }
            Err(_) => prop_assert!(!(4..=0x7fff_ffff).contains(&length)),
        }
    }

    #[test]
    fn a_bind_can_be_read_back(portal in text(), statement in text(), given in formats(), values in values(), wanted in formats()) {
        let mut out = Vec::new();
        Bind::write(&mut out, &portal, &statement, &given, &borrowed(&values), &wanted).expect("fits");
        let read = Bind::decode(body_of(&out)).expect("well-formed");
        prop_assert_eq!((read.portal, read.statement), (&portal[..], &statement[..]));
        prop_assert_eq!(read.parameter_formats.collect::<Vec<_>>(), given);
        prop_assert_eq!(read.values.collect::<Vec<_>>(), borrowed(&values));
        prop_assert_eq!(read.result_formats.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_bind_is_renamed_from_any_prefix(portal in text(), statement in text(), new in text(), values in values(), cut in 0..200usize) {
        let mut whole = Vec::new();
        Bind::write(&mut whole, &portal, &statement, &[], &borrowed(&values), &[]).expect("fits");
        let header = frame::header(&whole).expect("valid").expect("whole");
        let body = body_of(&whole);
        let prefix = &body[..cut.min(body.len())];
        let Some(names) = BindNames::decode(prefix).expect("short names") else {
            prop_assert!(prefix.len() < portal.len() + statement.len() + 2);
            return Ok(());
        };
        prop_assert_eq!((names.portal, names.statement), (&portal[..], &statement[..]));
        let mut renamed = Vec::new();
        bind::encode_prefix(&mut renamed, names.renamed_length(header, &portal, &new).expect("fits"), &portal, &new);
        renamed.extend_from_slice(&body[names.names_bytes..]);
        let mut expected = Vec::new();
        Bind::write(&mut expected, &portal, &new, &[], &borrowed(&values), &[]).expect("fits");
        prop_assert_eq!(renamed, expected);
    }

    #[test]
    fn a_parse_is_renamed_without_its_text_being_touched(name in text(), new in text(), query in text(), types in vec(any::<u32>(), 0..9)) {
        let (mut out, mut renamed, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        frontend::Parse::write(&mut out, &name, &query, &types).expect("fits");
        let parse = frontend::Parse::decode(body_of(&out)).expect("well-formed");
        prop_assert_eq!((parse.name, parse.query), (&name[..], &query[..]));
        prop_assert_eq!(parse.parameter_types.collect::<Vec<_>>(), &types[..]);
        frontend::parse::write_renamed(&mut renamed, &new, parse.body_after_name());
        frontend::Parse::write(&mut expected, &new, &query, &types).expect("fits");
        prop_assert_eq!(renamed, expected);
    }

    #[test]
    fn a_row_is_read_back_but_a_cut_row_is_refused(values in values(), cut in 1..50usize) {
        let mut out = Vec::new();
        DataRow::write(&mut out, &borrowed(&values)).expect("fits");
        let body = body_of(&out);
        let row = DataRow::decode(body).expect("well-formed");
        prop_assert_eq!(row.values.len(), values.len());
        prop_assert_eq!(row.values.collect::<Vec<_>>(), borrowed(&values));
        prop_assert!(DataRow::decode(&body[..body.len().saturating_sub(cut)]).is_err());
    }

    #[test]
    fn columns_can_be_read_back(columns in vec((text(), any::<u32>(), any::<i16>(), any::<u32>(), any::<i16>(), any::<i32>(), any::<i16>()), 0..9)) {
        let columns: Vec<Column<'_>> = columns.iter().map(|(name, table, attribute, type_oid, type_size, type_modifier, format)| Column {
            name, table: *table, attribute: *attribute, type_oid: *type_oid, type_size: *type_size, type_modifier: *type_modifier, format: Format(*format),
        }).collect();
        let mut out = Vec::new();
        RowDescription::write(&mut out, &columns).expect("fits");
        let read = RowDescription::decode(body_of(&out)).expect("well-formed");
        prop_assert_eq!(read.columns.collect::<Vec<_>>(), columns);
    }

    #[test]
    fn a_report_with_any_text_is_well_formed(message: String, detail: String, kind: u8, other: String) {
        let mut out = Vec::new();
        ErrorResponse::fatal(SqlState::PROTOCOL_VIOLATION, message.as_str()).detail(detail.as_str()).field(kind, other.as_str()).encode(&mut out);
        let error = ErrorResponse::decode(body_of(&out)).expect("well-formed");
        prop_assert_eq!(error.code(), Some(SqlState::PROTOCOL_VIOLATION));
        prop_assert_eq!(error.message(), message.split('\0').next().unwrap_or_default().as_bytes());
        prop_assert_eq!(error.iter().count(), 5 + usize::from(kind != 0));
    }

    #[test]
    fn start_up_parameters_can_be_read_back(minor in 0..=9999u16, parameters in vec((vec(1..=255u8, 1..9), text()), 0..9)) {
        let version = ProtocolVersion { major: 3, minor };
        let mut out = Vec::new();
        StartupMessage::write(&mut out, version, parameters.iter().map(|(name, value)| (&name[..], &value[..])));
        let Ok(FirstPacket::Startup(startup)) = FirstPacket::decode(&out) else { panic!("{out:?} is not a StartupMessage") };
        prop_assert_eq!(startup.version, version);
        let read: Vec<_> = startup.parameters().map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
        for (name, _) in &parameters {
            let last = parameters.iter().rfind(|(other, _)| other == name).map(|(_, value)| &value[..]);
            prop_assert_eq!(startup.get(name), last);
        }
        prop_assert_eq!(read, parameters);
    }

    #[test]
    fn keys_of_any_allowed_length_can_be_read_back(process_id: i32, secret_key in vec(any::<u8>(), 0..300)) {
        let mut out = Vec::new();
        CancelRequest { process_id, secret_key: &secret_key }.encode(&mut out);
        match FirstPacket::decode(&out) {
            Ok(FirstPacket::Cancel(cancel)) => {
                prop_assert!((4..=256).contains(&secret_key.len()));
                prop_assert_eq!((cancel.process_id, cancel.secret_key), (process_id, &secret_key[..]));
            }
            other => prop_assert!(other.is_err() && !(4..=256).contains(&secret_key.len())),
        }
    }
}
