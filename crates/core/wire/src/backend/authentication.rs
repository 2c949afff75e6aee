//! The messages of type `R`: what a server asks for while a client logs in, and that the login succeeded.

use std::fmt;

use crate::list::Strings;
use crate::read::{Malformed, Problem, Reader};
use crate::redact::Redacted;
use crate::write;

/// The type byte of all authentication messages.
pub const TAG: u8 = b'R';

/// The codes that distinguish the messages of this type.
pub mod code {
    /// AuthenticationOk.
    pub const OK: i32 = 0;
    /// AuthenticationKerberosV5, no longer in use.
    pub const KERBEROS_V5: i32 = 2;
    /// AuthenticationCleartextPassword.
    pub const CLEARTEXT_PASSWORD: i32 = 3;
    /// AuthenticationMD5Password.
    pub const MD5_PASSWORD: i32 = 5;
    /// AuthenticationGSS.
    pub const GSS: i32 = 7;
    /// AuthenticationGSSContinue.
    pub const GSS_CONTINUE: i32 = 8;
    /// AuthenticationSSPI.
    pub const SSPI: i32 = 9;
    /// AuthenticationSASL.
    pub const SASL: i32 = 10;
    /// AuthenticationSASLContinue.
    pub const SASL_CONTINUE: i32 = 11;
    /// AuthenticationSASLFinal.
    pub const SASL_FINAL: i32 = 12;
}

/// An authentication message.
///
/// `Debug` shows no salts and no data of the exchanges.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Authentication<'a> {
    /// The login succeeded.
    Ok,
    /// The server asks for Kerberos V5. No server has done so since PostgreSQL 9.3.
    KerberosV5,
    /// The server asks for the password in clear text.
    CleartextPassword,
    /// The server asks for the password, hashed with MD5 and this salt.
    Md5Password {
        /// Random bytes that go into the hash.
        salt: [u8; 4],
    },
    /// The server asks for a GSSAPI exchange.
    Gss,
    /// The next token of a GSSAPI or SSPI exchange.
    GssContinue {
        /// The token.
        data: &'a [u8],
    },
    /// The server asks for an SSPI exchange.
    Sspi,
    /// The server asks for a SASL exchange.
    Sasl {
        /// The mechanisms that the server accepts, the preferred one first.
        mechanisms: Strings<'a>,
    },
    /// The next challenge of a SASL exchange.
    SaslContinue {
        /// The challenge.
        data: &'a [u8],
    },
    /// The end of a SASL exchange in which the client has proved its identity.
    SaslFinal {
        /// The mechanism's last data. For SCRAM this is the server's own proof.
        data: &'a [u8],
    },
    /// A request with a code that this version of the protocol does not know.
    Other {
        /// The code.
        code: i32,
        /// The bytes after the code.
        data: &'a [u8],
    },
}

impl<'a> Authentication<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when the fields do not have the form that belongs to the code.
    pub fn decode(body: &'a [u8]) -> Result<Authentication<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let message = match reader.i32("authentication code")? {
            code::OK => Authentication::Ok,
            code::KERBEROS_V5 => Authentication::KerberosV5,
            code::CLEARTEXT_PASSWORD => Authentication::CleartextPassword,
            code::MD5_PASSWORD => Authentication::Md5Password { salt: reader.exactly("salt")? },
            code::GSS => Authentication::Gss,
            code::GSS_CONTINUE => Authentication::GssContinue { data: reader.rest() },
            code::SSPI => Authentication::Sspi,
            code::SASL => {
                let mechanisms = Strings::read_terminated(&mut reader, "SASL mechanism")?;
                if mechanisms.as_bytes().is_empty() {
                    return Err(reader.malformed("SASL mechanism", Problem::Value));
                }
                Authentication::Sasl { mechanisms }
            }
            code::SASL_CONTINUE => Authentication::SaslContinue { data: reader.rest() },
            code::SASL_FINAL => Authentication::SaslFinal { data: reader.rest() },
            code => Authentication::Other { code, data: reader.rest() },
        };
        reader.finish()?;
        Ok(message)
    }

    /// The code that distinguishes this message from the others of its type.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            Authentication::Ok => code::OK,
            Authentication::KerberosV5 => code::KERBEROS_V5,
            Authentication::CleartextPassword => code::CLEARTEXT_PASSWORD,
            Authentication::Md5Password { .. } => code::MD5_PASSWORD,
            Authentication::Gss => code::GSS,
            Authentication::GssContinue { .. } => code::GSS_CONTINUE,
            Authentication::Sspi => code::SSPI,
            Authentication::Sasl { .. } => code::SASL,
            Authentication::SaslContinue { .. } => code::SASL_CONTINUE,
            Authentication::SaslFinal { .. } => code::SASL_FINAL,
            Authentication::Other { code, .. } => *code,
        }
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::i32(out, self.code());
        match self {
            Authentication::Md5Password { salt } => write::bytes(out, salt),
            Authentication::Sasl { mechanisms } => {
                write::bytes(out, mechanisms.as_bytes());
                write::u8(out, 0);
            }
            Authentication::GssContinue { data }
            | Authentication::SaslContinue { data }
            | Authentication::SaslFinal { data }
            | Authentication::Other { data, .. } => write::bytes(out, data),
            Authentication::Ok
            | Authentication::KerberosV5
            | Authentication::CleartextPassword
            | Authentication::Gss
            | Authentication::Sspi => {}
        }
        write::end(out, mark);
    }
}

/// Appends an AuthenticationSASL that offers `mechanisms`, the preferred one first. Empty names are left out,
/// because an empty name ends the list.
pub fn write_sasl(out: &mut Vec<u8>, mechanisms: &[&str]) {
    let mark = write::begin(out, TAG);
    write::i32(out, code::SASL);
    for mechanism in mechanisms.iter().filter(|name| !matches!(name.as_bytes(), [] | [0, ..])) {
        write::cstr(out, mechanism.as_bytes());
    }
    write::u8(out, 0);
    write::end(out, mark);
}

impl fmt::Debug for Authentication<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Authentication::Ok => f.write_str("AuthenticationOk"),
            Authentication::KerberosV5 => f.write_str("AuthenticationKerberosV5"),
            Authentication::CleartextPassword => f.write_str("AuthenticationCleartextPassword"),
            Authentication::Md5Password { .. } => f.write_str("AuthenticationMD5Password"),
            Authentication::Gss => f.write_str("AuthenticationGSS"),
            Authentication::Sspi => f.write_str("AuthenticationSSPI"),
            Authentication::Sasl { mechanisms } => {
                f.debug_tuple("AuthenticationSASL").field(mechanisms).finish()
            }
            Authentication::GssContinue { data } => debug_with_size(f, "AuthenticationGSSContinue", data),
            Authentication::SaslContinue { data } => debug_with_size(f, "AuthenticationSASLContinue", data),
            Authentication::SaslFinal { data } => debug_with_size(f, "AuthenticationSASLFinal", data),
            Authentication::Other { code, data } => {
                f.debug_tuple("Authentication").field(code).field(&Redacted(data.len())).finish()
            }
        }
    }
}

fn debug_with_size(f: &mut fmt::Formatter<'_>, name: &str, data: &[u8]) -> fmt::Result {
    f.debug_tuple(name).field(&Redacted(data.len())).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_mechanism_does_not_end_the_list_early() {
        let mut out = Vec::new();
        write_sasl(&mut out, &["", "A", "\0", "B"]);
        let Ok(Authentication::Sasl { mechanisms }) = Authentication::decode(&out[5..]) else {
            panic!("{out:?} is not an AuthenticationSASL");
        };
        assert_eq!(mechanisms.collect::<Vec<_>>(), [b"A", b"B"]);
    }

    #[test]
    fn debug_shows_no_challenge() {
        let shown = format!("{:?}", Authentication::SaslContinue { data: b"hidden" });
        assert_eq!(shown, "AuthenticationSASLContinue(<6 bytes>)");
    }
}
