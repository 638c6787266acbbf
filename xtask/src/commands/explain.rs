//! `cargo xtask doctor --explain CODE`

use super::{Session, Usage};
use crate::ui::catalogue::{Explanation, all};
use serde_json::json;

/// Says what the error with this code means; `all` lists the codes.
pub(super) fn explain(session: &Session, code: &str) -> anyhow::Result<()> {
    if code.eq_ignore_ascii_case("all") {
        let lines: Vec<String> = all().map(|entry| format!("{}  {}", entry.code, entry.meaning)).collect();
        session.ui.data(&lines.join("\n"), &json!({"codes": all().map(value).collect::<Vec<_>>()}));
        return Ok(());
    }
    let found = all().find(|entry| entry.code.eq_ignore_ascii_case(code)).ok_or_else(|| unknown(code))?;
    let Explanation { code, exit, meaning, cause, mend } = found;
    let text = format!(
        "{code}: {meaning}\n\n  cause  {cause}\n  mend   {mend}\n  exit   {} ({})\n\nAll codes: docs/errors.md",
        *exit as i32,
        exit.words()
    );
    session.ui.data(&text, &value(found));
    Ok(())
}

fn value(entry: &Explanation) -> serde_json::Value {
    json!({
        "code": entry.code, "meaning": entry.meaning, "cause": entry.cause, "mend": entry.mend,
        "exit_code": entry.exit as i32,
    })
}

fn unknown(code: &str) -> Usage {
    let wanted = code.to_ascii_uppercase();
    let mend = gfx::nearest(&wanted, all().map(|entry| entry.code)).map_or_else(
        || "`cargo xtask doctor --explain all` lists the codes".to_owned(),
        |nearest| format!("did you mean `{nearest}`? `cargo xtask doctor --explain all` lists the codes"),
    );
    Usage::new(format!("no error has the code `{code}`"), mend)
}
