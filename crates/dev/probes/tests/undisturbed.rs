//! Tests the test environment itself: every version of PostgreSQL answers through a proxy, and a bystander is not affected when
//! nothing happens.

use trunkline_probes::{Bystander, MemoryWatch, Stage, login};

trunkline_probes::probes! { a_quiet_day }

fn a_quiet_day(stage: &Stage) {
    let proxy = stage.proxy();
    let watch = MemoryWatch::start(&proxy);
    let bystander = Bystander::start(&proxy);
    let mut client = login(&proxy, "md5user");
    assert_eq!(client.sql("select current_database()").expect("rows"), [stage.database()]);
    let version: u32 = client.sql("show server_version_num").expect("rows").concat().parse().expect("number");
    assert_eq!(version / 10_000, u32::from(stage.version().0));
    bystander.wait_for(10);
    bystander.finish();
    assert!(watch.rise_kib() < 10 << 10);
}
