//! A self-signed certificate for each throwaway server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::account::Account;

/// The paths of the two PEM files.
#[derive(Debug, Clone)]
pub(crate) struct Certificate {
    /// The certificate, which is its own authority.
    pub(crate) certificate: PathBuf,
    /// Its private key.
    pub(crate) key: PathBuf,
}

impl Certificate {
    /// Makes a certificate for `localhost` and 127.0.0.1 in `folder`, readable by `account` alone.
    pub(crate) fn generate(folder: &Path, account: Account) -> Result<Self> {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).context("cannot make a certificate")?;
        let files = Self { certificate: folder.join("server.crt"), key: folder.join("server.key") };
        fs::write(&files.certificate, made.cert.pem())?;
        fs::write(&files.key, made.signing_key.serialize_pem())?;
        // PostgreSQL refuses a key that others can read.
        fs::set_permissions(&files.key, fs::Permissions::from_mode(0o600))?;
        account.give(&files.certificate)?;
        account.give(&files.key)?;
        Ok(files)
    }
}
