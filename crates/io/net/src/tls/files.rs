//! Reads certificates and keys from PEM files. Errors name the file.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use rustls::{RootCertStore, crypto};
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

use super::error::TlsFileError;

/// The cryptography provider of this crate: ring.
pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(crypto::ring::default_provider())
}

/// All certificates in the file, in their order. There is at least one, and each can be parsed.
pub(super) fn certificates(
    what: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, TlsFileError> {
    let content = read(what, path)?;
    let wrong = |reason: String| TlsFileError::Content { what, path: path.to_owned(), reason };
    let found: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&content)
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(explain_pem(&error)))?;
    if found.is_empty() {
        return Err(wrong(
            "there is no certificate in it (a certificate begins with a line -----BEGIN CERTIFICATE-----)"
                .to_owned(),
        ));
    }
    for (index, certificate) in found.iter().enumerate() {
        if X509Certificate::from_der(certificate).is_err() {
            return Err(wrong(format!("certificate {} in it cannot be parsed", index + 1)));
        }
    }
    Ok(found)
}

/// The certificates of the file as trust anchors.
pub(super) fn roots(
    what: &'static str,
    path: &Path,
) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), TlsFileError> {
    let certificates = certificates(what, path)?;
    let mut store = RootCertStore::empty();
    for (index, certificate) in certificates.iter().enumerate() {
        store.add(certificate.clone()).map_err(|error| TlsFileError::Content {
            what,
            path: path.to_owned(),
            reason: format!("certificate {} in it cannot be a root: {error}", index + 1),
        })?;
    }
    Ok((store, certificates))
}

/// A certificate chain and the key that belongs to its first certificate.
pub(super) fn identity(
    cert: &Path,
    key: &Path,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, TlsFileError> {
    let chain = certificates("certificate", cert)?;
    let der = private_key(key)?;
    let signing = provider.key_provider.load_private_key(der).map_err(|error| TlsFileError::Content {
        what: "private key",
        path: key.to_owned(),
        reason: format!("the key is of a kind that is not supported, or is damaged ({error})"),
    })?;
    // Compared here because rustls cannot parse an X.509 version 1 certificate. `openssl x509 -req` makes version 1 by
    // default, and PostgreSQL's documentation recommends that command.
    let fits = match (signing.public_key(), chain.first().map(|first| X509Certificate::from_der(first))) {
        (Some(public), Some(Ok((_, parsed)))) => parsed.public_key().raw == public.as_ref(),
        _ => true,
    };
    if !fits {
        return Err(TlsFileError::KeyMismatch { cert: cert.to_owned(), key: key.to_owned() });
    }
    Ok(CertifiedKey::new(chain, signing))
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsFileError> {
    const WHAT: &str = "private key";
    let content = read(WHAT, path)?;
    PrivateKeyDer::from_pem_slice(&content).map_err(|error| {
        let reason = match error {
            pem::Error::NoItemsFound if contains(&content, b"ENCRYPTED") => {
                "the key is locked with a passphrase; unlock it with `openssl pkey -in FILE -out NEW`"
                    .to_owned()
            }
            pem::Error::NoItemsFound => "there is no private key in it".to_owned(),
            error => explain_pem(&error),
        };
        TlsFileError::Content { what: WHAT, path: path.to_owned(), reason }
    })
}

fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, TlsFileError> {
    fs::read(path).map_err(|error| TlsFileError::Read { what, path: path.to_owned(), error })
}

/// Describes the error without the wrong bytes, because these may be part of a key.
fn explain_pem(error: &pem::Error) -> String {
    match error {
        pem::Error::MissingSectionEnd { .. } => "it is cut off: a line -----END ...----- is missing",
        pem::Error::IllegalSectionStart { .. } => "a line that begins with -----BEGIN is malformed",
        pem::Error::Base64Decode(_) => {
            "it is damaged: the text between the BEGIN and END lines is not base64"
        }
        pem::Error::NoItemsFound => "there is nothing in it",
        _ => "it is not a PEM file",
    }
    .to_owned()
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
