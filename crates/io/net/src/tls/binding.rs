//! The channel binding `tls-server-end-point` (RFC 5929, section 4): a hash of the server's certificate.

use ring::digest::{self, Algorithm};
use x509_parser::certificate::X509Certificate;
use x509_parser::oid_registry::{
    OID_HASH_SHA1, OID_NIST_HASH_SHA256, OID_NIST_HASH_SHA384, OID_NIST_HASH_SHA512, OID_PKCS1_MD5WITHRSAENC,
    OID_PKCS1_RSASSAPSS, OID_PKCS1_SHA1WITHRSA, OID_PKCS1_SHA256WITHRSA, OID_PKCS1_SHA384WITHRSA,
    OID_PKCS1_SHA512WITHRSA, OID_SIG_ECDSA_WITH_SHA256, OID_SIG_ECDSA_WITH_SHA384, OID_SIG_ECDSA_WITH_SHA512,
    Oid,
};
use x509_parser::prelude::FromDer;
use x509_parser::signature_algorithm::SignatureAlgorithm;
use x509_parser::x509::AlgorithmIdentifier;

/// ecdsa-with-SHA1 (RFC 3279). The parser has no constant for it.
const OID_SIG_ECDSA_WITH_SHA1: Oid<'static> = x509_parser::der_parser::oid!(1.2.840.10045.4.1);

/// The binding of a certificate (DER): the certificate's hash by the hash algorithm of its signature, but by SHA-256
/// instead of MD5 and SHA-1.
///
/// `None` if RFC 5929 defines no binding (Ed25519 has no separate hash algorithm; libpq and PostgreSQL have no binding
/// for it either), or if the algorithm is not supported here because nobody uses it (SHA-224, SHA-3).
pub(super) fn tls_server_end_point(certificate: &[u8]) -> Option<Box<[u8]>> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let algorithm = signature_hash(&parsed.signature_algorithm)?;
    Some(digest::digest(algorithm, certificate).as_ref().into())
}

fn signature_hash(signature: &AlgorithmIdentifier<'_>) -> Option<&'static Algorithm> {
    let oid = &signature.algorithm;
    if *oid == OID_PKCS1_RSASSAPSS {
        let SignatureAlgorithm::RSASSA_PSS(parameters) = SignatureAlgorithm::try_from(signature).ok()? else {
            return None;
        };
        return hash(parameters.hash_algorithm_oid());
    }
    let as_sha256 = [OID_PKCS1_MD5WITHRSAENC, OID_PKCS1_SHA1WITHRSA, OID_SIG_ECDSA_WITH_SHA1];
    if as_sha256.contains(oid) || [OID_PKCS1_SHA256WITHRSA, OID_SIG_ECDSA_WITH_SHA256].contains(oid) {
        return Some(&digest::SHA256);
    }
    if [OID_PKCS1_SHA384WITHRSA, OID_SIG_ECDSA_WITH_SHA384].contains(oid) {
        return Some(&digest::SHA384);
    }
    if [OID_PKCS1_SHA512WITHRSA, OID_SIG_ECDSA_WITH_SHA512].contains(oid) {
        return Some(&digest::SHA512);
    }
    None
}

fn hash(oid: &Oid<'_>) -> Option<&'static Algorithm> {
    if *oid == OID_NIST_HASH_SHA256 || *oid == OID_HASH_SHA1 {
        return Some(&digest::SHA256);
    }
    if *oid == OID_NIST_HASH_SHA384 {
        return Some(&digest::SHA384);
    }
    if *oid == OID_NIST_HASH_SHA512 {
        return Some(&digest::SHA512);
    }
    None
}
