//! The network of a node that has nobody to talk to but its pods.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::Duration;

use tokio::process::Command;

use super::error::{NodeError, run};

/// The address of the node, as its pods see it.
pub const NODE_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 250, 0, 2));
/// Pods reach each other over the node.
const FORWARDING: &str = "/proc/sys/net/ipv4/ip_forward";
/// One change of the network.
const DEADLINE: Duration = Duration::from_secs(10);

/// Gives the network namespace that this process is in an address, and a default route, without which the
/// programs of Kubernetes find no address to offer.
pub(super) async fn make() -> Result<(), NodeError> {
    for arguments in [
        "link set lo up",
        "link add node0 type veth peer name node0-peer",
        "link set node0-peer up",
        &format!("address add {NODE_ADDRESS}/24 dev node0"),
        "link set node0 up",
        "route add default dev node0",
    ] {
        let mut command = Command::new("ip");
        command.args(arguments.split(' '));
        run(command, DEADLINE).await?;
    }
    let path = Path::new(FORWARDING);
    std::fs::write(path, "1").map_err(|source| NodeError::File { path: path.to_owned(), source })
}
