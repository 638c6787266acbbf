//! Debian packages: an ar archive whose `data.tar.*` is the tree (deb(5)).

use super::{Format, Refusal, TreeWriter, tar};
use std::io::{self, BufRead, BufReader};

/// Unpacks the data archive; the control archive is skipped, no script of it ever runs.
pub(super) fn unpack(reader: impl BufRead, tree: &mut TreeWriter) -> Result<(), Refusal> {
    let mut archive = ar::Archive::new(reader);
    let mut has_data = false;
    while let Some(member) = archive.next_entry() {
        let mut member = member.map_err(Refusal::unreadable)?;
        let name = String::from_utf8_lossy(member.header().identifier()).into_owned();
        if name.trim_end_matches('/').starts_with("data.tar") {
            has_data = true;
            let format = Format::of_name(name.trim_end_matches('/'))?;
            tar::unpack(format, BufReader::new(&mut member), tree)?;
        }
        io::copy(&mut member, &mut io::sink()).map_err(Refusal::unreadable)?;
    }
    match has_data {
        true => Ok(()),
        false => Err(Refusal::Unreadable {
            reason: "a Debian package has a data.tar member, this has none".into(),
        }),
    }
}
