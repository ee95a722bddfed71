//! stub
/// x
#[derive(Debug, Default)]
pub struct O;
/// x
pub fn text(_: &crate::Layout, _: O) -> String {
    String::new()
}
