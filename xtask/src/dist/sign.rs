//! Signatures over SHA256SUMS, as minisign(1) makes and checks them.

use super::{Error, SUMS_FILE};
use crate::files::{self, Named};
use minisign::{PublicKey, SecretKey, SecretKeyBox, SignatureBox};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// What a signature's file is called.
pub(crate) const SIGNATURE_FILE: &str = "SHA256SUMS.minisig";

/// A key to sign with, from the environment or a file; it is never written anywhere.
pub(crate) struct SigningKey(SecretKey);

impl SigningKey {
    /// The key of STRATA_MINISIGN_KEY (the text of a key file) or of the file at `path`, with the password of STRATA_MINISIGN_PASSWORD. `None` when
    /// neither is given.
    pub(crate) fn find(path: Option<&Path>) -> Result<Option<Self>, Error> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let text = match (path, variable("STRATA_MINISIGN_KEY")) {
            (Some(path), _) => files::read_text(path)?,
            (None, Some(text)) => text,
            (None, None) => return Ok(None),
        };
        let place = path.map_or("STRATA_MINISIGN_KEY".to_owned(), |path| path.display().to_string());
        let wrong = |source| Error::SigningKey { place: place.clone(), source };
        let password = variable("STRATA_MINISIGN_PASSWORD");
        let boxed = SecretKeyBox::from_string(&text).map_err(wrong)?;
        // A password of none at all keeps minisign from asking at the terminal.
        let key = match password {
            Some(password) => boxed.into_secret_key(Some(password)),
            None => boxed.into_unencrypted_secret_key(),
        };
        key.map(|key| Some(Self(key))).map_err(wrong)
    }

    /// Signs the SHA256SUMS in `folder`; the trusted comment holds no time of the machine.
    pub(crate) fn sign_sums(&self, folder: &Path, comment: &str) -> Result<PathBuf, Error> {
        let (sums, path) = (folder.join(SUMS_FILE), folder.join(SIGNATURE_FILE));
        let content = std::fs::read(&sums).named("read", &sums)?;
        let signed = minisign::sign(
            None,
            &self.0,
            Cursor::new(content),
            Some(comment),
            Some("signature of a Strata release"),
        );
        let signature = signed.map_err(|source| Error::SigningKey { place: "minisign".into(), source })?;
        files::write_whole(&path, signature.to_string().as_bytes())?;
        Ok(path)
    }
}

/// Checks the signature of the SHA256SUMS in `folder` with a public key: a file, or the base64 line of one. Gives the trusted comment.
pub(crate) fn check_sums(folder: &Path, public_key: &str) -> Result<String, Error> {
    let key_error = |source| Error::PublicKey { key: public_key.to_owned(), source };
    let text = std::fs::read_to_string(public_key).ok();
    let base64 =
        text.as_deref().and_then(|text| text.lines().find(|line| !line.starts_with("untrusted comment")));
    let key = PublicKey::from_base64(base64.unwrap_or(public_key).trim()).map_err(key_error)?;
    let (sums, path) = (folder.join(SUMS_FILE), folder.join(SIGNATURE_FILE));
    if !path.is_file() {
        return Err(Error::Unsigned { path });
    }
    let refused = |source| Error::Signature { path: path.clone(), source };
    let signature = SignatureBox::from_string(&files::read_text(&path)?).map_err(refused)?;
    let content = std::fs::read(&sums).named("read", &sums)?;
    minisign::verify(&key, &signature, Cursor::new(content), true, false, false).map_err(refused)?;
    signature.trusted_comment().map_err(refused)
}
