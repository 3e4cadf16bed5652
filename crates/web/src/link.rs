//! Links that carry scenarios, in the part of an address that no server is sent; `page/link.js` reads and writes the same.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use serde_json::json;
use std::io::Write;

/// What a page's address has behind its `#` for it to open with this scenario.
///
/// # Errors
/// It cannot be encoded, which is a fault of ours.
pub fn link(name: &str, text: &str) -> std::io::Result<String> {
    let said = json!({ "name": name, "text": text, "variant": null });
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::best());
    packer.write_all(said.to_string().as_bytes())?;
    let bytes = packer.finish()?;
    let mut check = Crc::new();
    check.update(&bytes);
    Ok(format!("lab=1.{:08x}.{}", check.sum(), URL_SAFE_NO_PAD.encode(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::DeflateDecoder;
    use std::io::Read;

    #[test]
    fn a_link_says_its_version_and_the_check_of_what_it_carries() {
        let text = "duration = \"1s\" # ä\n".repeat(20);
        let link = link("t.toml", &text).unwrap();
        let parts: Vec<&str> = link.split('.').collect();
        let [version, check, carried] = parts.as_slice() else { panic!("{link}") };
        assert_eq!(*version, "lab=1");
        let bytes = URL_SAFE_NO_PAD.decode(carried).unwrap();
        let mut sum = Crc::new();
        sum.update(&bytes);
        assert_eq!(u32::from_str_radix(check, 16).unwrap(), sum.sum());
        let mut said = String::new();
        DeflateDecoder::new(bytes.as_slice()).read_to_string(&mut said).unwrap();
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said, json!({ "name": "t.toml", "text": text, "variant": null }));
        assert!(link.len() < text.len(), "{}", link.len());
    }
}
