create type mood as enum ('sad', 'ok', 'happy');
create type pair as (a int, b text);
create table t0 (a int, b text, c date, d timestamptz, e interval, f numeric, g bytea, h mood);
insert into t0 values
    (1, 'one', '2020-03-04', '2020-03-04 05:06:07+00', '1 day 02:03:04', 1.50, 'abc', 'sad'),
    (2, 'zwei \ zwei', '2021-12-11', '2021-12-11 23:30:00+00', '-1 year 2 mons', -2.25, '\x00ff', 'ok'),
    (3, null, null, null, null, null, null, null);
create table t1 (id int, v int);
insert into t1 values (1, 10), (2, 20), (3, 30);
create table t2 (id int, v text, n mood);
insert into t2 values (1, 'x', 'sad'), (2, 'y', 'happy');
create table w (actor int, v text);
insert into w values (0, 'w'), (1, 'w'), (2, 'w'), (3, 'w');
create table u (id int primary key, v int check (v > 0));
insert into u values (1, 1);
create table wide (id int, v text);
insert into wide values (1, U&'\00e9'), (2, U&'\65e5\672c'), (3, U&'\8868'), (4, U&'\20ac'), (5, 'plain');
create sequence sq;
create table t3 (id int, v text);
insert into t3 values (1, 'drei');
create view v1 as select id, v from t3;
create function f1(x int) returns int language sql as 'select x + 1';
create function shout(x text) returns text language plpgsql as
    $$ begin raise notice 'shout %', x using detail = 'd', hint = 'h'; return upper(x); end $$;
create function settle() returns text language sql set timezone = 'Asia/Tokyo' as
    $$ select '2020-01-01 00:00:00+00'::timestamptz::text $$;
create table s2.t1 (id text, v text);
insert into s2.t1 values ('a', 'b');
