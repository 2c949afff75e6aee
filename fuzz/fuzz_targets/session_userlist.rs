//! A userlist.txt is read, or refused with a place in it. Entries that were read can be written, and are read back equal.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trunkline_session::authentication::Secret;
use trunkline_session::authentication::userlist::{USER_NAME_BYTES_MAX, Userlist};

fuzz_target!(|file: &[u8]| {
    match Userlist::parse(file) {
        Err(error) => {
            assert!(error.line >= 1 && error.line <= file.split(|byte| *byte == b'\n').count());
            assert!(error.column >= 1 && error.column <= file.len() + 1);
        }
        Ok(list) => {
            let mut again = Vec::new();
            for (user, secret) in &list.users {
                assert!(!user.is_empty() && user.len() <= USER_NAME_BYTES_MAX);
                again.extend(format!("\"{}\" \"", user.replace('"', "\"\"")).into_bytes());
                match secret {
                    Some(Secret::Plain(password)) => {
                        for byte in password.expose() {
                            again.extend(std::iter::repeat_n(*byte, if *byte == b'"' { 2 } else { 1 }));
                        }
                    }
                    Some(Secret::Scram(secret)) => again.extend(secret.to_stored_form().bytes()),
                    Some(Secret::Md5(_)) => again.extend(b"md50123456789abcdef0123456789abcdef"),
                    None => {}
                }
                again.extend(b"\" rest\r\n");
            }
            let read = Userlist::parse(&again).expect("well formed");
            assert!(read.users.keys().eq(list.users.keys()));
            assert!(read.overridden.is_empty());
            for (read, first) in read.users.values().zip(list.users.values()) {
                match (read, first) {
                    (Some(Secret::Plain(read)), Some(Secret::Plain(first))) => {
                        assert!(read.matches(first.expose()))
                    }
                    (Some(Secret::Scram(read)), Some(Secret::Scram(first))) => {
                        assert_eq!(read.to_stored_form(), first.to_stored_form());
                    }
                    (Some(Secret::Md5(_)), Some(Secret::Md5(_))) | (None, None) => {}
                    other => panic!("{other:?}"),
                }
            }
        }
    }
});
