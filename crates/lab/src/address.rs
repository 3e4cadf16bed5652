//! What a cell is called, as a text and back. What it is made of: [`crate::cell`].

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a cell is called everywhere: 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Address(pub(crate) [u8; 16]);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.to_string()
    }
}

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is no cell's address, 32 hexadecimal digits");
        let digits = u128::from_str_radix(&text, 16).map_err(|_| wrong())?;
        if text.len() == 32 { Ok(Self(digits.to_be_bytes())) } else { Err(wrong()) }
    }
}
