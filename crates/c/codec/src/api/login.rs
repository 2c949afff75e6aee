//! Logins: from a connection that was just made to one that is ready for its first query.

use std::sync::Arc;

use trunkline_session::authentication::Password;
use trunkline_session::frontend::{Credential, Login, LoginEvent, ServerLogin, TlsWish};
use trunkline_wire::startup::ProtocolVersion;

use crate::boundary::{Bytes, Out, call, slice};
use crate::login::LoginObject;
use crate::objects::LOGINS;
use crate::status::{
    Status, TRUNKLINE_BAD_ARGUMENT, TRUNKLINE_CONNECT, TRUNKLINE_MISUSE, TRUNKLINE_NONE, TRUNKLINE_NULL,
    TRUNKLINE_OK,
};

/// Random bytes that a login must be given, from the operating system.
pub const TRUNKLINE_ENTROPY_BYTES: usize = 32;
/// Nothing to do now: send, receive, feed.
pub const TRUNKLINE_LOGIN_WAIT: i32 = 0;
/// Have TLS established, then call trunkline_login_tls_started.
pub const TRUNKLINE_LOGIN_START_TLS: i32 = 1;
/// The login is done: trunkline_session_of_login.
pub const TRUNKLINE_LOGIN_READY: i32 = 2;

/// A start-up parameter.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name, such as application_name.
    pub name: Bytes,
    /// Its value.
    pub value: Bytes,
}

/// What a login is made with. Fill it with zeroes first.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct LoginSettings {
    /// The user.
    pub user: Bytes,
    /// The database.
    pub database: Bytes,
    /// The password; ignored unless `has_password` is 1.
    pub password: Bytes,
    /// TRUNKLINE_ENTROPY_BYTES or more random bytes from the operating system, each used once.
    pub entropy: Bytes,
    /// Further start-up parameters.
    pub parameters: *const Parameter,
    /// How many.
    pub parameters_count: usize,
    /// 1 when there is a password.
    pub has_password: u8,
    /// 0: no TLS. 1: if the server has it. 2: required. 3: begun without asking (PostgreSQL 17 and later).
    pub tls: u8,
    /// 1 when the password may be sent as it is without TLS: over a unix socket, or on a network that is trusted.
    pub cleartext_without_tls: u8,
    /// The minor version of protocol 3 to ask for: 0 or 2.
    pub protocol_minor: u8,
}

/// Makes a login. Free it with trunkline_login_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_login_new(settings: *const LoginSettings, login: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (settings, mut out) = unsafe { (slice(settings, 1)?, Out::new(login)?) };
        let bad = Status(TRUNKLINE_BAD_ARGUMENT);
        let settings = settings.first().ok_or(bad)?;
        // SAFETY: the caller's promise.
        let (server, mut entropy) = unsafe { (server_login(settings)?, settings.entropy.get()?) };
        if entropy.len() < TRUNKLINE_ENTROPY_BYTES {
            return Err(bad);
        }
        let mut short = false;
        let login = Login::new(Arc::new(server), &mut |bytes: &mut [u8]| {
            let (given, rest) = entropy.split_at(bytes.len().min(entropy.len()));
            short |= given.len() < bytes.len();
            bytes.iter_mut().zip(given).for_each(|(to, from)| *to = *from);
            entropy = rest;
        });
        if short {
            return Err(bad);
        }
        let mut made = LoginObject::new(login);
        made.login.handle_connected(&mut made.out).map_err(|_| bad)?;
        out.put(LOGINS.insert(made)?);
        Ok(TRUNKLINE_OK)
    })
}

/// # Safety
/// The caller's promise.
unsafe fn server_login(settings: &LoginSettings) -> Result<ServerLogin, Status> {
    let bad = Status(TRUNKLINE_BAD_ARGUMENT);
    // SAFETY: the caller's promise.
    let (user, database) = unsafe { (settings.user.text()?, settings.database.text()?) };
    // SAFETY: the caller's promise.
    let given = unsafe { slice(settings.parameters, settings.parameters_count) }?;
    let mut parameters = Vec::new();
    for parameter in given {
        // SAFETY: the caller's promise.
        let (name, value) = unsafe { (parameter.name.text()?, parameter.value.text()?) };
        parameters.push((name.to_owned(), value.to_owned()));
    }
    let credential = match settings.has_password {
        0 => Credential::None,
        1 => {
            // SAFETY: the caller's promise.
            let password = unsafe { settings.password.get() }?;
            Credential::Password { password: Password::new(password), cached: None }
        }
        _ => return Err(bad),
    };
    let tls = match settings.tls {
        0 => TlsWish::Never,
        1 => TlsWish::Prefer,
        2 => TlsWish::Require,
        3 => TlsWish::Direct,
        _ => return Err(bad),
    };
    let minor = match settings.protocol_minor {
        minor @ (0 | 2) => minor.into(),
        _ => return Err(bad),
    };
    Ok(ServerLogin {
        parameters,
        credential,
        tls,
        protocol: ProtocolVersion { major: 3, minor },
        cleartext_without_tls: settings.cleartext_without_tls != 0,
        ..ServerLogin::new(user, database)
    })
}

/// Frees a login.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_login_free(login: u64) -> i32 {
    call(|| LOGINS.remove(login).map(|_| TRUNKLINE_OK))
}

/// The bytes that wait to be sent. Valid until the next call with the login.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_login_unsent(login: u64, bytes: *mut Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(bytes) }?;
        LOGINS.with(login, |login| {
            out.put(Bytes::of(login.out.get(login.sent..).unwrap_or_default()));
            Ok(TRUNKLINE_OK)
        })
    })
}

/// Says that this many bytes of trunkline_login_unsent were sent.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_login_sent(login: u64, bytes: usize) -> i32 {
    call(|| {
        LOGINS.with(login, |login| {
            if bytes > login.out.len() - login.sent {
                return Err(Status(TRUNKLINE_BAD_ARGUMENT));
            }
            login.sent += bytes;
            if login.sent == login.out.len() {
                login.out.clear();
                login.sent = 0;
            }
            Ok(TRUNKLINE_OK)
        })
    })
}

/// Gives bytes that were received, and says what to do next: TRUNKLINE_LOGIN_... TRUNKLINE_CONNECT: the login failed, see
/// trunkline_login_message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_login_feed(login: u64, bytes: Bytes, next: *mut i32) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (bytes, mut out) = unsafe { (bytes.get()?, Out::new(next)?) };
        LOGINS.with(login, |login| {
            login.input.extend_from_slice(bytes);
            step(login).map(|next| out.put(next))
        })?;
        Ok(TRUNKLINE_OK)
    })
}

/// Says that TLS is established. `binding` is the server's certificate hashed as tls-server-end-point (RFC 5929), empty
/// where there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_login_tls_started(login: u64, binding: Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let binding = unsafe { binding.get() }?;
        let binding = (!binding.is_empty()).then(|| binding.to_vec());
        LOGINS.with(login, |login| {
            if let Err(error) = login.login.tls_started(binding, &mut login.out) {
                login.fail(error);
                return Err(Status(TRUNKLINE_CONNECT));
            }
            Ok(TRUNKLINE_OK)
        })
    })
}

fn step(login: &mut LoginObject) -> Result<i32, Status> {
    if login.failure.is_some() || login.ready.is_some() {
        return Err(Status(TRUNKLINE_MISUSE));
    }
    match login.login.handle_bytes(&login.input, &mut login.out) {
        Ok(consumed) => drop(login.input.drain(..consumed)),
        Err(error) => {
            login.fail(error);
            return Err(Status(TRUNKLINE_CONNECT));
        }
    }
    Ok(match login.login.poll() {
        Some(LoginEvent::StartTls) => TRUNKLINE_LOGIN_START_TLS,
        Some(LoginEvent::Ready(ready)) => {
            login.ready = Some(ready);
            TRUNKLINE_LOGIN_READY
        }
        None => TRUNKLINE_LOGIN_WAIT,
    })
}

/// Why the login failed, for people; TRUNKLINE_NULL when it has not. Valid until the next call with the login.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_login_message(login: u64, message: *mut Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(message) }?;
        LOGINS.with(login, |login| {
            out.put(Bytes::of(login.message.as_bytes()));
            Ok(if login.message.is_empty() { TRUNKLINE_NULL } else { TRUNKLINE_OK })
        })
    })
}

/// The SQLSTATE with which the server has refused the login, five characters; TRUNKLINE_NONE when it has not said one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_login_sqlstate(login: u64, sqlstate: *mut u8) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::many(sqlstate, 5) }?;
        LOGINS.with(login, |login| {
            let code = match &login.failure {
                Some(trunkline_session::frontend::LoginError::Refused(refusal)) => refusal.code(),
                _ => None,
            };
            let Some(code) = code else { return Ok(TRUNKLINE_NONE) };
            code.as_str().bytes().enumerate().for_each(|(index, byte)| out.put_at(index, byte));
            Ok(TRUNKLINE_OK)
        })
    })
}
