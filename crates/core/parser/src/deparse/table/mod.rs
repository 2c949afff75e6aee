//! Writes statements about tables and their parts: columns, constraints, partitions, indexes, views, rules, statistics.

mod alter;
mod alter_command;
mod column;
mod constraint;
mod create;
mod create_as;
mod index;
mod options;
mod partition;
mod rule;
mod sequence_options;
mod statistics;
