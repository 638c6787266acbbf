//! One value of Windows' registry.

/// The text of `name` in `key` below `HKEY_LOCAL_MACHINE`, a number as its digits; `None` where it is not, or there is no registry.
pub(crate) fn windows_value(key: &str, name: &str) -> Option<String> {
    #[cfg(windows)]
    {
        let key = winreg::RegKey::predef(winreg::enums::HKEY_LOCAL_MACHINE).open_subkey(key).ok()?;
        let number = || key.get_value::<u32, _>(name).ok().map(|number| number.to_string());
        key.get_value::<String, _>(name).ok().or_else(number)
    }
    #[cfg(not(windows))]
    {
        let _ = (key, name);
        None
    }
}
