//! Any message that a client sends after its first packet, for tools and tests. The proxy does not use this: it looks
//! at the tags, and decodes only the messages that it needs.

use super::{
    Bind, Close, CopyData, CopyFail, Describe, Execute, FunctionCall, GssResponse, Parse, PasswordMessage,
    Query, SaslInitialResponse, SaslResponse,
};
use super::{
    bind, close, copy_data, copy_done, copy_fail, describe, execute, flush, function_call, parse,
    password_message, query, sync, terminate,
};
use crate::read::{Malformed, Problem, Reader};
use crate::write::TooLarge;

/// The type bytes of all messages that a client sends after its first packet.
pub const TAGS: [u8; 14] = [
    bind::TAG,
    close::TAG,
    copy_data::TAG,
    copy_done::TAG,
    copy_fail::TAG,
    describe::TAG,
    execute::TAG,
    flush::TAG,
    function_call::TAG,
    parse::TAG,
    password_message::TAG,
    query::TAG,
    sync::TAG,
    terminate::TAG,
];

/// The four messages of type `p`. The bytes do not show which of them it is: that depends on what the server asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PasswordKind {
    /// PasswordMessage: after AuthenticationCleartextPassword or AuthenticationMD5Password.
    Password,
    /// SASLInitialResponse: after AuthenticationSASL.
    SaslInitial,
    /// SASLResponse: after AuthenticationSASLContinue.
    Sasl,
    /// GSSResponse: after AuthenticationGSS, AuthenticationSSPI or AuthenticationGSSContinue.
    Gss,
}

/// A message of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Each variant is the message of that name, which has its own docs.
pub enum Message<'a> {
    Bind(Bind<'a>),
    Close(Close<'a>),
    CopyData(CopyData<'a>),
    CopyDone,
    CopyFail(CopyFail<'a>),
    Describe(Describe<'a>),
    Execute(Execute<'a>),
    Flush,
    FunctionCall(FunctionCall<'a>),
    GssResponse(GssResponse<'a>),
    Parse(Parse<'a>),
    PasswordMessage(PasswordMessage<'a>),
    Query(Query<'a>),
    SaslInitialResponse(SaslInitialResponse<'a>),
    SaslResponse(SaslResponse<'a>),
    Sync,
    Terminate,
}

impl<'a> Message<'a> {
    /// Decodes the body of a message of type `tag`. If the type is `p`, `password` says which message it is.
    ///
    /// # Errors
    /// [`Malformed`] when no message has that type, or when the body does not have the form of that message.
    pub fn decode(tag: u8, body: &'a [u8], password: PasswordKind) -> Result<Message<'a>, Malformed> {
        Ok(match tag {
            bind::TAG => Message::Bind(Bind::decode(body)?),
            close::TAG => Message::Close(Close::decode(body)?),
            copy_data::TAG => Message::CopyData(CopyData::decode(body)?),
            copy_done::TAG => copy_done::decode(body).map(|()| Message::CopyDone)?,
            copy_fail::TAG => Message::CopyFail(CopyFail::decode(body)?),
            describe::TAG => Message::Describe(Describe::decode(body)?),
            execute::TAG => Message::Execute(Execute::decode(body)?),
            flush::TAG => flush::decode(body).map(|()| Message::Flush)?,
            function_call::TAG => Message::FunctionCall(FunctionCall::decode(body)?),
            parse::TAG => Message::Parse(Parse::decode(body)?),
            password_message::TAG => match password {
                PasswordKind::Password => Message::PasswordMessage(PasswordMessage::decode(body)?),
                PasswordKind::SaslInitial => Message::SaslInitialResponse(SaslInitialResponse::decode(body)?),
                PasswordKind::Sasl => Message::SaslResponse(SaslResponse::decode(body)?),
                PasswordKind::Gss => Message::GssResponse(GssResponse::decode(body)?),
            },
            query::TAG => Message::Query(Query::decode(body)?),
            sync::TAG => sync::decode(body).map(|()| Message::Sync)?,
            terminate::TAG => terminate::decode(body).map(|()| Message::Terminate)?,
            _ => return Err(Reader::new(body).malformed("message type", Problem::UnknownType)),
        })
    }

    /// Appends the message to `out`.
    ///
    /// # Errors
    /// [`TooLarge`] when it does not fit into a frame. A message that was decoded always fits.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        match self {
            Message::Bind(message) => message.encode(out),
            Message::Close(message) => message.encode(out),
            Message::CopyData(message) => return message.try_encode(out),
            Message::CopyDone => copy_done::encode(out),
            Message::CopyFail(message) => return message.try_encode(out),
            Message::Describe(message) => message.encode(out),
            Message::Execute(message) => message.encode(out),
            Message::Flush => flush::encode(out),
            Message::FunctionCall(message) => message.encode(out),
            Message::GssResponse(message) => message.encode(out),
            Message::Parse(message) => message.encode(out),
            Message::PasswordMessage(message) => return message.try_encode(out),
            Message::Query(message) => return message.try_encode(out),
            Message::SaslInitialResponse(message) => return message.encode(out),
            Message::SaslResponse(message) => message.encode(out),
            Message::Sync => sync::encode(out),
            Message::Terminate => terminate::encode(out),
        }
        Ok(())
    }
}
