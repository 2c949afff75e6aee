use super::statements;

fn texts(script: &str) -> Vec<String> {
    statements(script).into_iter().map(|found| found.sql).collect()
}

#[test]
fn texts_end_at_semicolons_outside_of_quotes_and_comments() {
    let script = "-- not sent\nselect ';', \";\", $$;$$, $a$ $$; $a$ -- ;\n /* ; /* ; */ ; */;\n select (1;2), a$b$c;select 2";
    let expected = [
        "select ';', \";\", $$;$$, $a$ $$; $a$ -- ;\n /* ; /* ; */ ; */;",
        "select (1;2), a$b$c;",
        "select 2",
    ];
    assert_eq!(texts(script), expected);
}

#[test]
fn each_text_has_the_line_of_its_beginning() {
    let lines: Vec<u32> =
        statements("\n-- a\nselect\n1;\n\n/* b */ select 2;").iter().map(|found| found.line).collect();
    assert_eq!(lines, [3, 6]);
}

#[test]
fn bodies_of_routines_are_one_statement() {
    let script = "create or replace function f() returns int begin atomic select case when a then 1 end; select 2; end;\nbegin; end;";
    assert_eq!(texts(script).len(), 3);
}

#[test]
fn backslashes_escape_in_escape_strings_and_without_standard_conforming_strings() {
    assert_eq!(texts("select E'\\';'\n '\\';'; select '\\'; select 1;").len(), 3);
    assert_eq!(texts("set standard_conforming_strings = off; select '\\'; select 1;'; reset x;").len(), 3);
}

#[test]
fn commands_end_statements_or_are_left_out() {
    let script = "select 1 \\gset\nselect $1 \\bind 'a;' \\g\n\\pset null ';'\nselect 2\\; select 3;\n\\echo x \\\\ select 4;\nselect 5 \\r\nselect 6\n";
    let expected = ["select 1 ", "select $1 ", "select 2; select 3;", "select 4;", "select 6\n"];
    assert_eq!(texts(script), expected);
}

#[test]
fn data_of_copy_is_not_sql() {
    let script = "copy a from stdin; -- then\n1;\n\\.\n\\copy b from stdin\n2;\n\\.\ncopy c from stdin;\nselect 1;\ncopy d from stdin;\n\\.\n";
    assert_eq!(
        texts(script),
        ["copy a from stdin;", "copy c from stdin;", "select 1;", "copy d from stdin;"]
    );
    let script = "copy a from stdin\\; copy b from stdin;\n1\n\\.\n2\n\\.\nselect 3;";
    assert_eq!(texts(script), ["copy a from stdin; copy b from stdin;", "select 3;"]);
}

#[test]
fn variables_are_replaced_or_the_statement_is_marked() {
    let script = "\\set n 5\n\\getenv dir D\n\\set f :dir '/x''y'\nselect :n, :'f', :\"n\", a::int, b[1:2], :unset;\nselect 1 as a \\gset\nselect :a;\nselect b[i:j];";
    let found = statements(script);
    let marks: Vec<_> = found.iter().map(|found| (found.sql.as_str(), found.has_variables)).collect();
    let expected = [
        ("select 5, '/source/x''y', \"5\", a::int, b[1:2], :unset;", false),
        ("select 1 as a ", false),
        ("select :a;", true),
        ("select b[i:j];", false),
    ];
    assert_eq!(marks, expected);
}
