//! A zip that is a function of its members: sorted names, one time, fixed attributes, fixed compression.

use super::{Bundle, Error};
use crate::files::Named;
use std::io::{BufWriter, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Seconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timestamp(pub(crate) i64);

/// Writes `bundle` to `path`, which must not exist yet; the caller gives it its final name when it is checked.
pub(crate) fn write(bundle: &Bundle, path: &Path, time: Timestamp) -> Result<(), Error> {
    let file = std::fs::File::create(path).named("create", path)?;
    let mut writer = ZipWriter::new(BufWriter::new(file));
    let failed = |source| Error::Zip { path: path.to_owned(), source };
    for member in &bundle.members {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            .last_modified_time(time.to_dos())
            .large_file(member.content.len() as u64 > u64::from(u32::MAX))
            .unix_permissions(if member.executable { 0o755 } else { 0o644 });
        writer.start_file(format!("{}/{}", bundle.name, member.path), options).map_err(failed)?;
        writer.write_all(&member.content).named("write", path)?;
    }
    let mut buffered = writer.finish().map_err(failed)?;
    buffered.flush().named("write", path)?;
    Ok(buffered.get_ref().sync_all().named("write", path)?)
}

impl Timestamp {
    /// DOS time has no zone and counts from 1980 (APPNOTE.TXT 4.4.6): the time in UTC, or the first moment it can hold.
    fn to_dos(self) -> DateTime {
        let days = self.0.div_euclid(86_400);
        let second = self.0.rem_euclid(86_400);
        let (year, month, day) = civil(days);
        let part = |value: i64| u8::try_from(value).unwrap_or_default();
        u16::try_from(year)
            .ok()
            .and_then(|year| {
                let (h, m, s) = (part(second / 3600), part(second / 60 % 60), part(second % 60));
                DateTime::from_date_and_time(year, part(month), part(day), h, m, s).ok()
            })
            .unwrap_or_default()
    }
}

/// The date of a day since 1970-01-01 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_utc_and_start_in_1980() {
        for (seconds, expected) in [
            (0, "1980-01-01 00:00:00"),
            (951_782_400, "2000-02-29 00:00:00"),
            (1_796_018_324, "2026-11-30 05:58:44"),
        ] {
            assert_eq!(Timestamp(seconds).to_dos().to_string(), expected);
        }
    }
}
