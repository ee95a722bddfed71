//! The picture for notebooks: a small table beside the SVG.

use std::fmt::Write;

use partita_layout::Layout;

use super::draw::escaped;
use super::{legend, names, svg};

/// A table of a layout's figures beside its picture, as an HTML fragment.
///
/// ```
/// use partita_layout::Layout;
/// use partita_picture::layout;
/// let layout = Layout::parse(&[10], "block @ 4")?;
/// assert!(layout::html(&layout).contains("<td>2 to 3</td>"));
/// # Ok::<(), partita_layout::LayoutError>(())
/// ```
#[must_use]
pub fn html(layout: &Layout) -> String {
    let mut rows = String::new();
    for (name, value) in figures(layout) {
        let value = escaped(&value);
        let _ = write!(
            rows,
            "<tr><th scope=\"row\" style=\"text-align:left\">{name}</th><td>{value}</td></tr>"
        );
    }
    format!(
        "<div style=\"display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start\">\
         <table><tbody>{rows}</tbody></table><div>{}</div></div>",
        svg::svg(layout)
    )
}

fn figures(layout: &Layout) -> [(&'static str, String); 5] {
    let (low, high) = legend::owned_range(layout);
    let per_rank = if low == high { low.to_string() } else { format!("{low} to {high}") };
    [
        ("shape", names::shape(layout.shape())),
        ("layout", names::clip(&layout.notation(), 60)),
        ("grid", names::shape(&layout.grid_shape())),
        ("ranks", layout.n_ranks().to_string()),
        ("elements per rank", per_rank),
    ]
}
