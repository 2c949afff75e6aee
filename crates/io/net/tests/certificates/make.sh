#!/bin/sh
# Makes the certificates in this folder with OpenSSL, because rcgen cannot make them (X.509 version 1, RSA, PSS, other
# hashes), and computes their channel bindings independently of Trunkline. The keys protect nothing. The files are
# checked in; run this only to change them.
set -eu
cd "$(dirname "$0")"
days=36500

# rsa.key signs most of the certificates, with different hashes.
openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.key
openssl ecparam -name secp384r1 -genkey -noout -out ecdsa.ec
openssl pkcs8 -topk8 -nocrypt -in ecdsa.ec -out ecdsa.key && rm ecdsa.ec
openssl genpkey -algorithm ed25519 -out ed25519.key

# Keys that belong to none of the certificates.
openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out stranger-rsa.key
openssl ecparam -name secp384r1 -genkey -noout -out stranger.ec
openssl pkcs8 -topk8 -nocrypt -in stranger.ec -out stranger.key && rm stranger.ec

self_signed() { # name key options...
    name=$1 key=$2
    shift 2
    openssl req -new -x509 -days $days -key "$key" -subj /CN=localhost -out "$name.crt" "$@"
}
self_signed rsa-sha1 rsa.key -sha1
self_signed rsa-sha256 rsa.key -sha256
self_signed rsa-sha384 rsa.key -sha384
self_signed rsa-sha512 rsa.key -sha512
self_signed pss-sha256 rsa.key -sha256 -sigopt rsa_padding_mode:pss
self_signed pss-sha512 rsa.key -sha512 -sigopt rsa_padding_mode:pss
self_signed ecdsa-sha256 ecdsa.key -sha256
self_signed ecdsa-sha384 ecdsa.key -sha384
self_signed ecdsa-sha512 ecdsa.key -sha512
self_signed ed25519 ed25519.key

# An authority and a server certificate as the PostgreSQL manual makes them: version 1, with a common name only.
openssl req -new -x509 -days $days -nodes -newkey rsa:2048 -keyout manual-root.key -subj /CN=root.example -out manual-root.crt
openssl req -new -key rsa.key -subj /CN=localhost -out server.csr
openssl x509 -req -in server.csr -days $days -CA manual-root.crt -CAkey manual-root.key -set_serial 1 -out manual-server.crt
# The same with a root whose basicConstraints say that it is not an authority.
openssl req -new -x509 -days $days -nodes -newkey rsa:2048 -keyout no-authority.key -subj /CN=no-authority.example \
    -addext basicConstraints=critical,CA:FALSE -out no-authority.crt
openssl x509 -req -in server.csr -days $days -CA no-authority.crt -CAkey no-authority.key -set_serial 1 -out no-authority-server.crt
rm server.csr manual-root.key no-authority.key
openssl x509 -in manual-server.crt -noout -text | grep -q 'Version: 1'

# RFC 5929: the hash of the whole certificate, by the signature's hash algorithm, but SHA-256 instead of MD5 and SHA-1.
for pair in rsa-sha1:sha256 rsa-sha256:sha256 rsa-sha384:sha384 rsa-sha512:sha512 pss-sha256:sha256 \
    pss-sha512:sha512 ecdsa-sha256:sha256 ecdsa-sha384:sha384 ecdsa-sha512:sha512; do
    name=${pair%:*} hash=${pair#*:}
    echo "$name $(openssl x509 -in "$name.crt" -outform DER | openssl dgst "-$hash" -r | cut -d' ' -f1)"
done >bindings.txt
