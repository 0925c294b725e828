//! The example `robots` with small swarms.

#[path = "../../examples/robots/network.rs"]
mod network;
#[path = "../../examples/robots/table.rs"]
mod table;

#[test]
fn a_swarm_finds_out_on_any_network() {
    insta::assert_snapshot!(table::table(&[10, 100], 1));
}
