//! One control plane for all tests of a file.

use tokio::sync::OnceCell;

use crate::{BedError, ControlPlane};

/// A control plane that the tests of one file share, each in namespaces of its own.
///
/// ```no_run
/// static PLANE: e2e::SharedPlane = e2e::SharedPlane::new("tenants");
///
/// # async fn a_test() {
/// let client = PLANE.get().await.unwrap().client().await.unwrap();
/// # }
/// ```
///
/// The first test that asks starts it. A static is never dropped: the kernel ends the programs and the keeper
/// removes the files when the test process ends. A failed start is remembered, so that each test reports it
/// without trying again.
#[derive(Debug)]
pub struct SharedPlane {
    name: &'static str,
    plane: OnceCell<Result<ControlPlane, BedError>>,
}

impl SharedPlane {
    /// A control plane that is not started yet.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, plane: OnceCell::const_new() }
    }

    /// The control plane, started by the first caller as [`ControlPlane::start`] does.
    ///
    /// # Errors
    /// The error of that start.
    pub async fn get(&self) -> Result<&ControlPlane, &BedError> {
        self.plane.get_or_init(|| ControlPlane::start(self.name)).await.as_ref()
    }
}
