//! JSON for people and programs: two spaces a level, as `serde_json::to_writer_pretty` writes it, but for rows of a table within
//! what has many, which take a line each; by one write a line and not by one for each level and each mark, into a buffer that
//! costs a write nothing: of a run of many flows the outcome is megabytes.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// So much is handed on at once, bytes.
const BLOCK: usize = 1 << 16;
/// The end of a line and the indentation of the next, as far as anything is nested here.
const LINE: &[u8; 2 + 2 * DEEPEST] = &{
    let mut line = [b' '; 2 + 2 * DEEPEST];
    (line[0], line[1]) = (b',', b'\n');
    line
};
const DEEPEST: usize = 15;
/// From this level on an object is a row, which stands in one line; an array from the next on.
const ROW: usize = 5;

/// Writes a value.
pub fn write(out: &mut dyn Write, value: &impl Serialize) -> Result<(), serde_json::Error> {
    let mut block = Block { out, bytes: Vec::with_capacity(BLOCK) };
    value.serialize(&mut Serializer::with_formatter(&mut block, Indented::default()))?;
    block.hand_on().map_err(serde_json::Error::io)
}

/// A buffer before another writer.
struct Block<'a> {
    out: &'a mut dyn Write,
    bytes: Vec<u8>,
}

impl Block<'_> {
    #[cold]
    fn hand_on(&mut self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

impl Write for Block<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.bytes.len() + bytes.len() > BLOCK {
            self.hand_on()?;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hand_on()?;
        self.out.flush()
    }
}

/// How deep it is, and whether what ends has anything in it.
#[derive(Default)]
struct Indented {
    level: usize,
    filled: bool,
    /// The level at which what is open began that stands in one line; 0: none is.
    row: usize,
}

impl Indented {
    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W, mark: &[u8], in_line: usize) -> io::Result<()> {
        self.level += 1;
        if self.row == 0 && self.level >= in_line {
            self.row = self.level;
        }
        self.filled = false;
        writer.write_all(mark)
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, mark: &[u8]) -> io::Result<()> {
        let in_line = self.row != 0;
        if self.row == self.level {
            self.row = 0;
        }
        self.level -= 1;
        if self.filled && !in_line {
            self.line(writer, true)?;
        }
        self.filled = true;
        writer.write_all(mark)
    }

    /// A new line, or none within a row; behind what is not the first a comma ends the one before.
    #[inline]
    fn line<W: ?Sized + Write>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        if self.row != 0 {
            return if first { Ok(()) } else { writer.write_all(b", ") };
        }
        let (from, level) = (usize::from(first), self.level.min(DEEPEST));
        writer.write_all(&LINE[from..2 + 2 * level])?;
        (level..self.level).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Indented {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[", ROW + 1)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.line(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{", ROW)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.line(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn written(value: &Value) -> String {
        let mut out = Vec::new();
        super::write(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn above_rows_it_is_what_the_library_writes() {
        let row = json!({ "segments": 10, "acks": 10.5, "name": "a \"quoted\" ä\n", "none": null, "empty": [], "also": {} });
        let long = Value::Array(vec![row.clone(); 2000]);
        for value in
            [json!(1), json!([]), json!({}), json!([[], [1], {}, { "a": [{ "b": 1 }, [[2]]] }]), row, long]
        {
            assert_eq!(written(&value), serde_json::to_string_pretty(&value).unwrap());
        }
    }

    #[test]
    fn a_row_takes_a_line() {
        let value = json!([[[[{ "t": 1, "at": [2, { "x": [] }] }, {}, 3, [4, { "y": {} }], [[5]]]]]]);
        let text = written(&value);
        let lines: Vec<_> = text.lines().skip(4).take(9).map(str::trim).collect();
        let expected =
            [r#"{"at": [2, {"x": []}], "t": 1},"#, "{},", "3,", "[", "4,", r#"{"y": {}}"#, "],", "[", "[5]"];
        assert_eq!(lines, expected);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn however_deep_it_is_it_is_the_same_value() {
        let deep = (0..40).fold(json!(1), |inner, level| {
            if level % 2 == 0 { json!([inner, 2]) } else { json!({ "a": inner, "b": [] }) }
        });
        assert_eq!(serde_json::from_str::<Value>(&written(&deep)).unwrap(), deep);
    }
}
