//! Links that a file names in a word, `preset = "geo"`: what a link's table does not say itself is taken from here. Not for:
//! what the keys mean.

use crate::document::tree::{Table, Value};
use std::sync::LazyLock;
use toml::de::DeTable;

/// Their names.
pub(super) const NAMES: [&str; 2] = ["geo", "leo"];

/// A geostationary satellite. Delay: 41,756 km up and down again, at the edge of its view (RFC 2488, section 2: 279.0 ms one
/// way). Rates: the subscription that Michel, Trevisan, Giordano and Bonaventure measured beside Starlink ("A first look at
/// Starlink performance", IMC 2022, section 2). The queue is chosen: one bandwidth-delay product.
const GEO: &str = r#"
rate      = "100Mbit/s"
rate_back = "10Mbit/s"
delay     = "279ms"
queue     = { size = "1bdp" }
"#;

/// A satellite in a low orbit, as Starlink's: another one, and another share of it, each 15 s, at the same moments for all
/// (Mohan et al., "A multifaceted look at Starlink performance", WWW 2024, section 6). Delay: round trips of 20 to 60 ms,
/// from the least to the upper quartile of Michel et al. (as above, section 3.1). Rates: 60 % to either side of the medians
/// of Ookla's tests in the U.S., first quarter of 2025 (104.7 and 14.8 Mbit/s). Even distributions and their width are chosen,
/// and so is the queue: two bandwidth-delay products of the medians.
const LEO: &str = r#"
rate      = "104.7Mbit/s"
rate_back = "14.8Mbit/s"
delay     = "20ms"
queue     = { size = "2bdp" }
steps     = { every = "15s", delay = ["10ms", "30ms"], rate = ["42Mbit/s", "167Mbit/s"], rate_back = ["6Mbit/s", "23.6Mbit/s"] }
"#;

static TABLES: LazyLock<[Table; 2]> = LazyLock::new(|| {
    [GEO, LEO]
        .map(|text| DeTable::parse(text).map(|table| Table::from_toml(table.get_ref())).unwrap_or_default())
});

/// What the preset of a link's table fills in; nothing where it names none, or none that there is.
pub(super) fn of(table: &Table) -> Option<&'static Table> {
    let name = table.get("preset").and_then(Value::text)?;
    NAMES.iter().position(|known| *known == name).map(|index| &TABLES[index])
}
