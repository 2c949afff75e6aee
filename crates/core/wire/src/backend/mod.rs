//! The messages that a server sends: one module for each, with the name from the manual.
//!
//! Each module has a `TAG`. For a message with a body, the module has a type that borrows the body, with methods
//! `decode` and `encode`. For a message without a body, it has a `FRAME` and functions `decode` and `encode`.

pub mod authentication;
pub mod backend_key_data;
pub mod bind_complete;
pub mod close_complete;
pub mod command_complete;
pub mod copy_both_response;
pub mod copy_data;
pub mod copy_done;
pub mod copy_in_response;
pub mod copy_out_response;
mod copy_response;
pub mod data_row;
pub mod empty_query_response;
pub mod error_fields;
pub mod error_response;
pub mod function_call_response;
pub mod message;
pub mod negotiate_protocol_version;
pub mod no_data;
pub mod notice_response;
pub mod notification_response;
pub mod parameter_description;
pub mod parameter_status;
pub mod parse_complete;
pub mod portal_suspended;
pub mod ready_for_query;
pub mod row_description;

pub use authentication::Authentication;
pub use backend_key_data::BackendKeyData;
pub use command_complete::CommandComplete;
pub use copy_both_response::CopyBothResponse;
pub use copy_data::CopyData;
pub use copy_in_response::CopyInResponse;
pub use copy_out_response::CopyOutResponse;
pub use data_row::DataRow;
pub use error_fields::{ErrorFields, ErrorReport};
pub use error_response::ErrorResponse;
pub use function_call_response::FunctionCallResponse;
pub use message::Message;
pub use negotiate_protocol_version::NegotiateProtocolVersion;
pub use notice_response::NoticeResponse;
pub use notification_response::NotificationResponse;
pub use parameter_description::ParameterDescription;
pub use parameter_status::ParameterStatus;
pub use ready_for_query::{ReadyForQuery, TransactionStatus};
pub use row_description::{Column, Columns, RowDescription};
