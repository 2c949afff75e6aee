//! Any message of a server, for tools and tests. The proxy does not use this: it looks at the tags, and decodes only
//! the messages that it needs.

use super::{
    Authentication, BackendKeyData, CommandComplete, CopyBothResponse, CopyData, CopyInResponse,
    CopyOutResponse, DataRow, ErrorResponse, FunctionCallResponse, NegotiateProtocolVersion, NoticeResponse,
    NotificationResponse, ParameterDescription, ParameterStatus, ReadyForQuery, RowDescription,
};
use super::{
    authentication, backend_key_data, bind_complete, close_complete, command_complete, copy_both_response,
    copy_data, copy_done, copy_in_response, copy_out_response, data_row, empty_query_response,
    error_response, function_call_response, negotiate_protocol_version, no_data, notice_response,
    notification_response, parameter_description, parameter_status, parse_complete, portal_suspended,
    ready_for_query, row_description,
};
use crate::read::{Malformed, Problem, Reader};
use crate::write::TooLarge;

/// The type bytes of all messages that a server sends.
pub const TAGS: [u8; 24] = [
    authentication::TAG,
    backend_key_data::TAG,
    bind_complete::TAG,
    close_complete::TAG,
    command_complete::TAG,
    copy_both_response::TAG,
    copy_data::TAG,
    copy_done::TAG,
    copy_in_response::TAG,
    copy_out_response::TAG,
    data_row::TAG,
    empty_query_response::TAG,
    error_response::TAG,
    function_call_response::TAG,
    negotiate_protocol_version::TAG,
    no_data::TAG,
    notice_response::TAG,
    notification_response::TAG,
    parameter_description::TAG,
    parameter_status::TAG,
    parse_complete::TAG,
    portal_suspended::TAG,
    ready_for_query::TAG,
    row_description::TAG,
];

/// A message of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Each variant is the message of that name, which has its own docs.
pub enum Message<'a> {
    Authentication(Authentication<'a>),
    BackendKeyData(BackendKeyData<'a>),
    BindComplete,
    CloseComplete,
    CommandComplete(CommandComplete<'a>),
    CopyBothResponse(CopyBothResponse<'a>),
    CopyData(CopyData<'a>),
    CopyDone,
    CopyInResponse(CopyInResponse<'a>),
    CopyOutResponse(CopyOutResponse<'a>),
    DataRow(DataRow<'a>),
    EmptyQueryResponse,
    ErrorResponse(ErrorResponse<'a>),
    FunctionCallResponse(FunctionCallResponse<'a>),
    NegotiateProtocolVersion(NegotiateProtocolVersion<'a>),
    NoData,
    NoticeResponse(NoticeResponse<'a>),
    NotificationResponse(NotificationResponse<'a>),
    ParameterDescription(ParameterDescription<'a>),
    ParameterStatus(ParameterStatus<'a>),
    ParseComplete,
    PortalSuspended,
    ReadyForQuery(ReadyForQuery),
    RowDescription(RowDescription<'a>),
}

impl<'a> Message<'a> {
    /// Decodes the body of a message of type `tag`.
    ///
    /// # Errors
    /// [`Malformed`] when no message has that type, or when the body does not have the form of that message.
    pub fn decode(tag: u8, body: &'a [u8]) -> Result<Message<'a>, Malformed> {
        Ok(match tag {
            authentication::TAG => Message::Authentication(Authentication::decode(body)?),
            backend_key_data::TAG => Message::BackendKeyData(BackendKeyData::decode(body)?),
            bind_complete::TAG => bind_complete::decode(body).map(|()| Message::BindComplete)?,
            close_complete::TAG => close_complete::decode(body).map(|()| Message::CloseComplete)?,
            command_complete::TAG => Message::CommandComplete(CommandComplete::decode(body)?),
            copy_both_response::TAG => Message::CopyBothResponse(CopyBothResponse::decode(body)?),
            copy_data::TAG => Message::CopyData(CopyData::decode(body)?),
            copy_done::TAG => copy_done::decode(body).map(|()| Message::CopyDone)?,
            copy_in_response::TAG => Message::CopyInResponse(CopyInResponse::decode(body)?),
            copy_out_response::TAG => Message::CopyOutResponse(CopyOutResponse::decode(body)?),
            data_row::TAG => Message::DataRow(DataRow::decode(body)?),
            empty_query_response::TAG => {
                empty_query_response::decode(body).map(|()| Message::EmptyQueryResponse)?
            }
            error_response::TAG => Message::ErrorResponse(ErrorResponse::decode(body)?),
            function_call_response::TAG => Message::FunctionCallResponse(FunctionCallResponse::decode(body)?),
            negotiate_protocol_version::TAG => {
                Message::NegotiateProtocolVersion(NegotiateProtocolVersion::decode(body)?)
            }
            no_data::TAG => no_data::decode(body).map(|()| Message::NoData)?,
            notice_response::TAG => Message::NoticeResponse(NoticeResponse::decode(body)?),
            notification_response::TAG => Message::NotificationResponse(NotificationResponse::decode(body)?),
            parameter_description::TAG => Message::ParameterDescription(ParameterDescription::decode(body)?),
            parameter_status::TAG => Message::ParameterStatus(ParameterStatus::decode(body)?),
            parse_complete::TAG => parse_complete::decode(body).map(|()| Message::ParseComplete)?,
            portal_suspended::TAG => portal_suspended::decode(body).map(|()| Message::PortalSuspended)?,
            ready_for_query::TAG => Message::ReadyForQuery(ReadyForQuery::decode(body)?),
            row_description::TAG => Message::RowDescription(RowDescription::decode(body)?),
            _ => return Err(Reader::new(body).malformed("message type", Problem::UnknownType)),
        })
    }

    /// Appends the message to `out`.
    ///
    /// # Errors
    /// [`TooLarge`] when it does not fit into a frame. A message that was decoded always fits.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        match self {
            Message::Authentication(message) => message.encode(out),
            Message::BackendKeyData(message) => message.encode(out),
            Message::BindComplete => bind_complete::encode(out),
            Message::CloseComplete => close_complete::encode(out),
            Message::CommandComplete(message) => message.encode(out),
            Message::CopyBothResponse(message) => message.encode(out),
            Message::CopyData(message) => return message.try_encode(out),
            Message::CopyDone => copy_done::encode(out),
            Message::CopyInResponse(message) => message.encode(out),
            Message::CopyOutResponse(message) => message.encode(out),
            Message::DataRow(message) => message.encode(out),
            Message::EmptyQueryResponse => empty_query_response::encode(out),
            Message::ErrorResponse(message) => message.encode(out),
            Message::FunctionCallResponse(message) => return message.encode(out),
            Message::NegotiateProtocolVersion(message) => message.encode(out),
            Message::NoData => no_data::encode(out),
            Message::NoticeResponse(message) => message.encode(out),
            Message::NotificationResponse(message) => message.encode(out),
            Message::ParameterDescription(message) => message.encode(out),
            Message::ParameterStatus(message) => message.encode(out),
            Message::ParseComplete => parse_complete::encode(out),
            Message::PortalSuspended => portal_suspended::encode(out),
            Message::ReadyForQuery(message) => message.encode(out),
            Message::RowDescription(message) => message.encode(out),
        }
        Ok(())
    }
}
