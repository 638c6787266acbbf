//! One moment for all members.

/// Seconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Date and time of MS-DOS (APPNOTE.TXT 4.4.6), which has no zone and counts from 1980 in steps of two seconds: the time in UTC, or the first
    /// moment that it can hold.
    pub(crate) fn to_dos(self) -> (u16, u16) {
        let (year, month, day) = civil(self.0.div_euclid(86_400));
        let second = self.0.rem_euclid(86_400);
        let date = ((year - 1980) << 9) | (month << 5) | day;
        let time = ((second / 3600) << 11) | ((second / 60 % 60) << 5) | (second % 60 / 2);
        match u16::try_from(date) {
            Ok(date) if year >= 1980 => (date, u16::try_from(time).unwrap_or(0)),
            _ => ((1 << 5) | 1, 0),
        }
    }
}

/// Year, month and day of a day since 1970-01-01 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
pub fn civil(days: i64) -> (i64, i64, i64) {
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
            (0, ((1980, 1, 1), (0, 0, 0))),
            (951_782_400, ((2000, 2, 29), (0, 0, 0))),
            (1_796_018_324, ((2026, 11, 30), (5, 58, 44))),
        ] {
            let (date, time) = Timestamp(seconds).to_dos();
            let shown = (
                (1980 + (date >> 9), date >> 5 & 15, date & 31),
                (time >> 11, time >> 5 & 63, (time & 31) * 2),
            );
            assert_eq!(shown, expected);
        }
    }
}
