//! A [`Config`] of settings.

use std::path::PathBuf;
use std::time::Duration;

use trunkline_wire::limits::MESSAGE_BYTES;

use super::settings::Settings;
use super::{
    ChannelBinding, ClientIdentity, Config, ConfigError, Host, Keepalives, LoadBalanceHosts, Password,
    ProtocolVersion, Roots, STATEMENT_CACHE_DEFAULT, SslMode, TargetSessionAttrs, TlsSettings, files,
};

/// PostgreSQL's own port.
const PORT: u16 = 5432;
/// Where distributions put the unix socket, and where PostgreSQL itself does.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// What is around a program: its environment, and its user's files.
pub(super) struct Surroundings<'a> {
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
    /// The folder with `.pgpass` and `.postgresql`.
    pub(super) home: Option<PathBuf>,
}

impl Surroundings<'static> {
    /// Nothing.
    pub(super) const NONE: Self = Surroundings { variable: &|_| None, home: None };
}

impl Surroundings<'_> {
    /// Sets what is not set yet, by libpq's order: the service, then the environment.
    pub(super) fn fill(&self, settings: &mut Settings) -> Result<(), ConfigError> {
        let mut environment = Settings::default();
        environment.fill_from(self.variable)?;
        let either = |name: &str| settings.get(name).or(environment.get(name)).map(str::to_owned);
        if let Some(service) = either("service") {
            let found = self.service(&service, either("servicefile"))?;
            settings.fill(found);
        }
        settings.fill(environment);
        Ok(())
    }

    fn service(&self, service: &str, file: Option<String>) -> Result<Settings, ConfigError> {
        let own = file.map(PathBuf::from).or_else(|| Some(self.home.as_ref()?.join(".pg_service.conf")));
        let system =
            (self.variable)("PGSYSCONFDIR").map(|folder| PathBuf::from(folder).join("pg_service.conf"));
        let paths: Vec<_> = own.into_iter().chain(system).collect();
        for path in &paths {
            if let Some(text) = files::read(path)?
                && let Some(found) = files::service(&text, service, path)?
            {
                return Ok(found);
            }
        }
        let path = paths.into_iter().next().unwrap_or_default();
        Err(ConfigError::NoService { path, service: service.to_owned() })
    }

    /// A file of the user's that is there.
    fn own_file(&self, name: &str) -> Option<PathBuf> {
        let path = self.home.as_ref()?.join(".postgresql").join(name);
        path.is_file().then_some(path)
    }
}

/// Reads each setting.
pub(super) fn config(settings: &Settings, around: &Surroundings<'_>) -> Result<Config, ConfigError> {
    let hosts = hosts(settings)?;
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| (around.variable)(name));
    let user = settings.get("user").map(str::to_owned).or(named);
    let user = user.filter(|user| !user.is_empty()).ok_or(ConfigError::NoUser)?;
    let database = settings.get("dbname").unwrap_or(&user).to_owned();
    if settings.get("gssencmode") == Some("require") {
        return Err(ConfigError::UnsupportedSetting("gssencmode"));
    }
    let encoding = settings.get("client_encoding").map(str::to_ascii_lowercase);
    if !matches!(encoding.as_deref(), None | Some("utf8" | "utf-8" | "auto")) {
        return Err(ConfigError::Value {
            name: "client_encoding",
            expected: "UTF8, the only one that is spoken",
        });
    }
    let timeout = settings.parse("connect_timeout", "seconds", |text| text.trim().parse::<i64>().ok())?;
    let cache = settings.parse("statement_cache", "a number of statements", |text| text.parse().ok())?;
    Ok(Config {
        passwords: passwords(settings, around, &hosts, &database, &user)?,
        user,
        database,
        parameters: parameters(settings),
        // As libpq: zero and less is without end.
        connect_timeout: timeout
            .and_then(|seconds| u64::try_from(seconds).ok())
            .filter(|seconds| *seconds > 0)
            .map(Duration::from_secs),
        keepalives: keepalives(settings)?,
        tls: tls(settings, around)?,
        channel_binding: word(settings, "channel_binding", &CHANNEL_BINDINGS)?,
        target_session_attrs: word(settings, "target_session_attrs", &TARGETS)?,
        load_balance_hosts: word(settings, "load_balance_hosts", &BALANCES)?,
        protocol: word(settings, "max_protocol_version", &PROTOCOLS)?,
        statement_cache: cache.unwrap_or(STATEMENT_CACHE_DEFAULT),
        server_message_bytes_max: MESSAGE_BYTES,
        hosts,
    })
}

fn hosts(settings: &Settings) -> Result<Vec<Host>, ConfigError> {
    let list = |name| settings.get(name).map(|text| text.split(',').map(str::trim).collect::<Vec<_>>());
    let addresses = list("hostaddr");
    let names = list("host").unwrap_or_else(|| vec![""; addresses.as_ref().map_or(1, Vec::len)]);
    let ports = list("port").unwrap_or_else(|| vec![""]);
    let fits = |others: usize, what| {
        let hosts = names.len();
        if others == hosts { Ok(()) } else { Err(ConfigError::Lists { hosts, others, what }) }
    };
    if ports.len() != 1 {
        fits(ports.len(), "ports")?;
    }
    if let Some(addresses) = &addresses {
        fits(addresses.len(), "addresses")?;
    }
    let port = |index: usize| match ports.get(index).or(ports.first()) {
        None | Some(&"") => Ok(PORT),
        Some(text) => text
            .parse()
            .ok()
            .filter(|port| *port != 0)
            .ok_or(ConfigError::Value { name: "port", expected: "numbers from 1 to 65535" }),
    };
    let address = |index: usize| match addresses.as_ref().and_then(|list| list.get(index)) {
        None | Some(&"") => Ok(None),
        Some(text) => text
            .parse::<std::net::IpAddr>()
            .map(Some)
            .map_err(|_| ConfigError::Value { name: "hostaddr", expected: "IP addresses" }),
    };
    let host = |(index, name): (usize, &&str)| {
        let (address, port) = (address(index)?, port(index)?);
        let name = match (*name, address) {
            ("", Some(address)) => address.to_string(),
            ("", None) => default_host(port),
            (name, _) => name.to_owned(),
        };
        Ok(Host { name, address, port })
    };
    names.iter().enumerate().map(host).collect()
}

fn default_host(port: u16) -> String {
    let file = format!(".s.PGSQL.{port}");
    let folder = SOCKET_FOLDERS.into_iter().find(|folder| PathBuf::from(folder).join(&file).exists());
    folder.unwrap_or("localhost").to_owned()
}

fn passwords(
    settings: &Settings,
    around: &Surroundings<'_>,
    hosts: &[Host],
    database: &str,
    user: &str,
) -> Result<Vec<Option<Password>>, ConfigError> {
    if let Some(password) = settings.get("password") {
        return Ok(vec![Some(Password::new(password))]);
    }
    let file = settings.get("passfile").map(PathBuf::from);
    let file = file.or_else(|| Some(around.home.as_ref()?.join(".pgpass")));
    let text = match file.filter(|file| files::is_private(file)) {
        Some(file) => files::read(&file)?.unwrap_or_default(),
        None => return Ok(vec![None]),
    };
    let of = |host: &Host| {
        let default = SOCKET_FOLDERS.contains(&host.name.as_str());
        let name = if default { "localhost" } else { &host.name };
        files::password(&text, name, host.port, database, user).map(Password::new)
    };
    Ok(hosts.iter().map(of).collect())
}

fn parameters(settings: &Settings) -> Vec<(String, String)> {
    let mut parameters = vec![("client_encoding".to_owned(), "UTF8".to_owned())];
    let name = settings.get("application_name").or(settings.get("fallback_application_name"));
    let others = [
        ("application_name", name),
        ("options", settings.get("options")),
        ("datestyle", settings.get("datestyle")),
        ("timezone", settings.get("timezone")),
        ("geqo", settings.get("geqo")),
    ];
    let set = others.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    parameters.extend(set);
    parameters
}

fn keepalives(settings: &Settings) -> Result<Keepalives, ConfigError> {
    let seconds = |name| {
        let found = settings.parse(name, "seconds", |text| text.parse::<u64>().ok())?;
        Ok(found.filter(|seconds| *seconds > 0).map(Duration::from_secs))
    };
    let user_timeout = settings.parse("tcp_user_timeout", "milliseconds", |text| text.parse::<u64>().ok())?;
    Ok(Keepalives {
        enabled: settings.parse("keepalives", "0 or 1", |text| text.parse::<i32>().ok())? != Some(0),
        idle: seconds("keepalives_idle")?,
        interval: seconds("keepalives_interval")?,
        count: settings.parse("keepalives_count", "a number", |text| text.parse().ok())?.filter(|n| *n > 0),
        user_timeout: user_timeout.filter(|found| *found > 0).map(Duration::from_millis),
    })
}

fn tls(settings: &Settings, around: &Surroundings<'_>) -> Result<TlsSettings, ConfigError> {
    let given =
        settings.parse("sslmode", "disable, allow, prefer, require, verify-ca or verify-full", |text| {
            text.parse::<SslMode>().ok()
        })?;
    let roots = match settings.get("sslrootcert") {
        Some("system") => Some(Roots::System),
        Some(file) => Some(Roots::File(file.into())),
        None => around.own_file("root.crt").map(Roots::File),
    };
    // As libpq: with the system's roots the only sound mode is the default.
    let default = if roots == Some(Roots::System) { SslMode::VerifyFull } else { SslMode::Prefer };
    let cert = settings.get("sslcert").map(PathBuf::from).or_else(|| around.own_file("postgresql.crt"));
    let key = settings.get("sslkey").map(PathBuf::from).or_else(|| around.own_file("postgresql.key"));
    let identity = match (cert, key) {
        (Some(cert), Some(key)) => Some(ClientIdentity { cert, key }),
        (None, _) => None,
        (Some(_), None) => {
            return Err(ConfigError::Value { name: "sslkey", expected: "the key's file beside sslcert" });
        }
    };
    let mode = given.unwrap_or(default);
    let direct = word(settings, "sslnegotiation", &[("postgres", false), ("direct", true)])?;
    if direct && !mode.insists() {
        return Err(ConfigError::Value {
            name: "sslnegotiation",
            expected: "sslmode=require or stronger with `direct`",
        });
    }
    Ok(TlsSettings { mode, roots, identity, direct })
}

const CHANNEL_BINDINGS: [(&str, ChannelBinding); 3] = [
    ("prefer", ChannelBinding::Prefer),
    ("disable", ChannelBinding::Disable),
    ("require", ChannelBinding::Require),
];

const TARGETS: [(&str, TargetSessionAttrs); 6] = [
    ("any", TargetSessionAttrs::Any),
    ("read-write", TargetSessionAttrs::ReadWrite),
    ("read-only", TargetSessionAttrs::ReadOnly),
    ("primary", TargetSessionAttrs::Primary),
    ("standby", TargetSessionAttrs::Standby),
    ("prefer-standby", TargetSessionAttrs::PreferStandby),
];

const BALANCES: [(&str, LoadBalanceHosts); 2] =
    [("disable", LoadBalanceHosts::Disable), ("random", LoadBalanceHosts::Random)];

const PROTOCOLS: [(&str, ProtocolVersion); 3] = [
    // As libpq 18: some poolers refuse what they do not know instead of negotiating.
    ("3.0", ProtocolVersion::V3_0),
    ("3.2", ProtocolVersion::V3_2),
    ("latest", ProtocolVersion::V3_2),
];

/// A setting that is one of some words, the first being the default.
fn word<T: Copy>(
    settings: &Settings,
    name: &'static str,
    words: &[(&'static str, T)],
) -> Result<T, ConfigError> {
    let expected = "one of the words that libpq's manual lists for it";
    let find = |text: &str| words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    let given = settings.parse(name, expected, find)?;
    given.or(words.first().map(|(_, value)| *value)).ok_or(ConfigError::Value { name, expected })
}
