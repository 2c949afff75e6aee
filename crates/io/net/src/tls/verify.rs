//! Checks a server's certificate as each `sslmode` requires.
//!
//! libpq accepts more than rustls's own verifier does, so this verifier also supports: no check at all (`require` without
//! roots), no check of the name (`verify-ca`), X.509 version 1 certificates and self-signed certificates that are their
//! own root (the PostgreSQL manual's instructions make both), and the common name of a certificate without alternative
//! names. Every mode checks the signature of the handshake, which proves that the server has the key of its certificate.

use std::net::IpAddr;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, PeerMisbehaved, ProtocolVersion,
    RootCertStore, SignatureScheme,
};
use rustls_pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use webpki::RawPublicKeyEntity;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;
use x509_parser::time::ASN1Time;
use x509_parser::x509::X509Version;

/// What is checked in addition to the signature of the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    Nothing,
    Chain,
    ChainAndName,
}

/// A certificate verifier for rustls that follows libpq's rules.
#[derive(Debug)]
pub(super) struct SslModeVerifier {
    check: Check,
    roots: RootCertStore,
    /// The certificates of the root file. `roots` cannot tell whether the server's certificate is one of them.
    certificates: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl SslModeVerifier {
    pub(super) fn new(
        check: Check,
        roots: RootCertStore,
        certificates: Vec<CertificateDer<'static>>,
        provider: &CryptoProvider,
    ) -> Self {
        Self { check, roots, certificates, algorithms: provider.signature_verification_algorithms }
    }

    fn verify_chain(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        let by_rustls = ParsedCertificate::try_from(certificate).and_then(|parsed| {
            let all = self.algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&parsed, &self.roots, intermediates, now, all)
        });
        let Err(error) = by_rustls else { return Ok(()) };
        let is_root = self.certificates.iter().any(|root| root.as_ref() == certificate.as_ref());
        if !is_root && !is_refused_for_its_form(&error) {
            return Err(error);
        }
        let leaf = parse(certificate)?;
        check_validity(&leaf, now)?;
        check_purpose(&leaf)?;
        let is_signed = || {
            self.certificates.iter().any(|root| {
                X509Certificate::from_der(root).is_ok_and(|(_, root)| self.is_issued_by(&leaf, &root, now))
            })
        };
        if is_root || is_signed() { Ok(()) } else { Err(CertificateError::UnknownIssuer.into()) }
    }

    /// Whether a root has signed this certificate directly.
    fn is_issued_by(&self, leaf: &X509Certificate<'_>, root: &X509Certificate<'_>, now: UnixTime) -> bool {
        may_sign(root)
            && leaf.issuer().as_raw() == root.subject().as_raw()
            && check_validity(root, now).is_ok()
            && self.signature_is_valid(
                root.public_key().raw,
                leaf.tbs_certificate.as_ref(),
                &leaf.signature_value.data,
            )
    }

    fn signature_is_valid(&self, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let key = SubjectPublicKeyInfoDer::from(key);
        let Ok(key) = RawPublicKeyEntity::try_from(&key) else { return false };
        self.algorithms
            .all
            .iter()
            .any(|algorithm| key.verify_signature(*algorithm, message, signature).is_ok())
    }

    /// Checks the signature of the handshake with the certificate's key. rustls's own function cannot be used: it refuses to
    /// parse some certificates that these modes accept.
    fn verify_handshake(
        &self,
        version: ProtocolVersion,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let leaf = parse(certificate)?;
        let key = SubjectPublicKeyInfoDer::from(leaf.public_key().raw);
        if version == ProtocolVersion::TLSv1_3 {
            return rustls::crypto::verify_tls13_signature_with_raw_key(
                message,
                &key,
                signed,
                &self.algorithms,
            );
        }
        let candidates = self.algorithms.mapping.iter().find(|(scheme, _)| *scheme == signed.scheme);
        let (_, candidates) = candidates.ok_or(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme)?;
        let key = RawPublicKeyEntity::try_from(&key).map_err(|_| CertificateError::BadEncoding)?;
        // A signature scheme of TLS 1.2 does not name the curve, so the algorithm of each curve is tried.
        let valid = candidates
            .iter()
            .any(|algorithm| key.verify_signature(*algorithm, message, signed.signature()).is_ok());
        if valid {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(CertificateError::BadSignature.into())
        }
    }
}

impl ServerCertVerifier for SslModeVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.check != Check::Nothing {
            self.verify_chain(certificate, intermediates, now)?;
        }
        if self.check == Check::ChainAndName {
            verify_name(certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify_handshake(ProtocolVersion::TLSv1_2, message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify_handshake(ProtocolVersion::TLSv1_3, message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Whether rustls refused the certificate only because of its form (version 1, or a CA as a server's certificate).
fn is_refused_for_its_form(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(OtherError(other))) = error else { return false };
    let form = other.downcast_ref::<webpki::Error>();
    matches!(form, Some(webpki::Error::CaUsedAsEndEntity | webpki::Error::UnsupportedCertVersion))
}

/// Whether a root may sign certificates. A version 1 root has no extension for that; it may sign because the operator
/// configured it as a root. A root with name constraints may not sign, because they are not evaluated here.
fn may_sign(root: &X509Certificate<'_>) -> bool {
    let has_ca_flag = root.basic_constraints().is_ok_and(|found| found.is_some_and(|found| found.value.ca));
    let key_may_sign =
        root.key_usage().is_ok_and(|found| found.is_none_or(|found| found.value.key_cert_sign()));
    let constrained = !matches!(root.name_constraints(), Ok(None));
    (root.version() == X509Version::V1 || has_ca_flag) && key_may_sign && !constrained
}

fn parse<'a>(certificate: &'a CertificateDer<'_>) -> Result<X509Certificate<'a>, Error> {
    match X509Certificate::from_der(certificate) {
        Ok(([], parsed)) => Ok(parsed),
        _ => Err(CertificateError::BadEncoding.into()),
    }
}

fn check_validity(certificate: &X509Certificate<'_>, now: UnixTime) -> Result<(), Error> {
    let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let now = ASN1Time::from_timestamp(seconds).map_err(|_| Error::FailedToGetCurrentTime)?;
    let validity = certificate.validity();
    if now < validity.not_before {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > validity.not_after {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}

/// Refuses a certificate that names its purposes if servers are not among them.
fn check_purpose(certificate: &X509Certificate<'_>) -> Result<(), Error> {
    let usage = certificate.extended_key_usage().map_err(|_| CertificateError::BadEncoding)?;
    match usage {
        Some(usage) if !usage.value.server_auth && !usage.value.any => {
            Err(CertificateError::InvalidPurpose.into())
        }
        _ => Ok(()),
    }
}

/// Checks the host name by libpq's rule (RFC 6125): if the certificate has alternative names of the host's kind, only they
/// count, else only the common name counts.
fn verify_name(certificate: &CertificateDer<'_>, host: &ServerName<'_>) -> Result<(), Error> {
    let leaf = parse(certificate)?;
    let names = leaf.subject_alternative_name().map_err(|_| CertificateError::BadEncoding)?;
    let has_names_of_kind = names.is_some_and(|names| {
        names.value.general_names.iter().any(|name| match host {
            ServerName::IpAddress(_) => matches!(name, GeneralName::IPAddress(_)),
            _ => matches!(name, GeneralName::DNSName(_)),
        })
    });
    if has_names_of_kind {
        return verify_server_name(&ParsedCertificate::try_from(certificate)?, host);
    }
    let common = leaf.subject().iter_common_name().last().and_then(|name| name.as_str().ok());
    let matches = match (common, host) {
        (Some(common), ServerName::DnsName(host)) => matches_common_name(common, host.as_ref()),
        (Some(common), ServerName::IpAddress(host)) => common.parse() == Ok(IpAddr::from(*host)),
        _ => false,
    };
    if matches { Ok(()) } else { Err(CertificateError::NotValidForName.into()) }
}

/// Whether host and pattern are equal (ignoring case), where `*.` at the beginning of the pattern stands for one label.
fn matches_common_name(pattern: &str, host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    if pattern.eq_ignore_ascii_case(host) {
        return true;
    }
    match (pattern.strip_prefix("*."), host.split_once('.')) {
        (Some(domain), Some((label, rest))) => {
            !label.is_empty() && domain.contains('.') && domain.eq_ignore_ascii_case(rest)
        }
        _ => false,
    }
}
