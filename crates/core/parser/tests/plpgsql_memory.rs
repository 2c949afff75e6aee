//! An error in PL/pgSQL leaves nothing behind: all that C made lies in the call's arena, which goes with the error.
#![cfg(target_os = "linux")]

/// Enough that a leaked arena (16 KiB at least) each time would show.
const ERRORS: usize = 2_000;
/// What an allocator may keep of its own accord, in bytes.
const GROWTH_MAX: usize = 8 << 20;
const PAGE_BYTES: usize = 4096;

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages = statm.split_ascii_whitespace().nth(1).expect("the second number");
    pages.parse::<usize>().expect("a number") * PAGE_BYTES
}

fn fail() {
    let statements = "PERFORM a + 1 FROM b; ".repeat(50);
    for end in ["IF a THEN END", "FOR x IN SELECT 1 1 LOOP END LOOP; END", "SELECT 'a; END", "END; END"] {
        let text = format!("DO $body$ BEGIN {statements} {end} $body$");
        assert!(trunkline_parser::parse_plpgsql(&text).is_err(), "{end}");
    }
}

#[test]
fn errors_leave_nothing_behind() {
    fail();
    let before = resident_bytes();
    for _ in 0..ERRORS / 4 {
        fail();
    }
    let growth = resident_bytes().saturating_sub(before);
    assert!(growth < GROWTH_MAX, "{growth} bytes more after {ERRORS} errors");
}
