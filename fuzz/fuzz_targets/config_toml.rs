//! A trunkline.toml: it is accepted, or refused with places that lie in it; accepted twice it is the same; and what
//! `Debug` shows never holds the password that every input is given.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use trunkline::config::{Config, ConfigError, reload};

/// Stands where inputs name the variable, and nowhere else.
const PASSWORD: &str = "correct horse battery staple";

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if text.contains(PASSWORD) {
        return;
    }
    // Every variable is set; relative paths lead nowhere.
    let read = || Config::parse(text, "fuzz.toml", Path::new("/nonexistent"), &|_| Some(PASSWORD.to_owned()));
    match read() {
        Ok(config) => {
            assert!(!format!("{config:?}").contains(PASSWORD));
            let again = read().expect("accepted before");
            assert!(reload::compare(&config, &again).is_empty());
            for name in config.databases.keys() {
                assert!(config.pool_settings(name, "user").is_some());
                let _ = config.auth_query(name);
            }
            let _ = config.advice();
        }
        Err(error) => {
            assert!(!error.to_string().contains(PASSWORD));
            let ConfigError::Refused { problems } = error else { panic!("not refused but {error}") };
            assert!(!problems.is_empty());
            let lines = text.matches('\n').count() + 1;
            assert!(problems.iter().all(|problem| problem.line <= lines));
        }
    }
});
