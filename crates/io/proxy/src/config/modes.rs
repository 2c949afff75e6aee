//! Settings whose value is one of a few words.

use super::setting::{MayBeAbsent, Refusal, Setting};
use super::value::Value;

macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// Every word, as `trunkline.toml` has it.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word of this value.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The value of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }

        impl Setting for $name {
            fn decode(value: &Value) -> Result<Self, Refusal> {
                value.as_text().and_then(Self::from_word).ok_or_else(|| refuse_word(value, Self::WORDS))
            }

            fn show(&self) -> String {
                format!("\"{}\"", self.word())
            }
        }

        impl MayBeAbsent for $name {}

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

/// The refusal `expected one of "a", "b"`, with the word that was likely meant.
fn refuse_word(value: &Value, words: &[&str]) -> Refusal {
    let allowed: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let mut refusal = Refusal::expected(&format!("one of {}", allowed.join(", ")), value);
    if let Some(meant) = value.as_text().and_then(|text| super::problem::nearest(text, words.iter().copied()))
    {
        refusal.message.push_str(&format!("; did you mean \"{meant}\"?"));
    }
    refusal
}

words! {
    /// When a server connection goes back to its pool.
    pub enum PoolMode {
        /// When the client leaves.
        Session = "session",
        /// When the transaction ends.
        Transaction = "transaction",
        /// When the statement ends; transaction blocks are refused.
        Statement = "statement",
        /// When the transaction ends, unless the client may have left something on it that cannot be carried.
        Auto = "auto",
    }
}

words! {
    /// Whether a connection must use TLS, and which certificate it needs: libpq's `sslmode`, for clients and for servers.
    pub enum SslMode {
        /// Never TLS.
        Disable = "disable",
        /// TLS if the server insists, or if the client asks.
        Allow = "allow",
        /// TLS if the other side can.
        Prefer = "prefer",
        /// Always TLS, with any certificate.
        Require = "require",
        /// Always TLS, with a certificate of a trusted authority.
        VerifyCa = "verify-ca",
        /// Always TLS, with a certificate of a trusted authority that names the server's host. For clients the same as
        /// `verify-ca`.
        VerifyFull = "verify-full",
    }
}

impl SslMode {
    /// Whether the other side's certificate is checked against an authority.
    pub fn verifies(self) -> bool {
        matches!(self, Self::VerifyCa | Self::VerifyFull)
    }
}

words! {
    /// The lowest TLS version that is allowed.
    pub enum TlsVersion {
        /// TLS 1.2.
        Tls12 = "TLSv1.2",
        /// TLS 1.3.
        Tls13 = "TLSv1.3",
    }
}

words! {
    /// How clients authenticate.
    pub enum AuthType {
        /// Without a password; the user must be known.
        Trust = "trust",
        /// With a clear-text password; refused without TLS unless `cleartext_without_tls` is on.
        Password = "password",
        /// With an MD5 challenge, or with SCRAM if the user's SCRAM verifier is stored.
        Md5 = "md5",
        /// With SCRAM-SHA-256.
        ScramSha256 = "scram-sha-256",
        /// Without a password, with any user name. Trunkline logs in to the server as the `user` of the database, which a
        /// file must set. [`super::Config::from_upstream`] may leave it unset; Trunkline then uses the client's name.
        Any = "any",
    }
}

words! {
    /// How log lines are written.
    pub enum LogFormat {
        /// For people.
        Text = "text",
        /// One JSON object a line.
        Json = "json",
    }
}

words! {
    /// How much is logged.
    pub enum LogLevel {
        /// Errors only.
        Error = "error",
        /// Also warnings.
        Warn = "warn",
        /// Also what an operator should know.
        Info = "info",
        /// Also a line for each connection.
        Debug = "debug",
        /// Also a line for each turn.
        Trace = "trace",
    }
}
