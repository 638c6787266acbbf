//! What an encoder is: its sizes and its way with images, from the metadata of its file.

use crate::gguf::{Error, Gguf};
use crate::model::keys::Keys;
use serde::Serialize;

/// What makes the encoder's rows those of a language model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Projector {
    /// Two layers with GELU between them, a row a patch: LLaVA. The last block of the encoder is not used, nor is its class token.
    Mlp,
    /// Squares of patches are averaged, normed and projected: Gemma 3.
    Gemma3,
}

/// What the blocks have between their two layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// GELU by its formula with tanh.
    Gelu,
    /// `x · sigmoid(1.702 x)`.
    QuickGelu,
    /// `x · sigmoid(x)`.
    Silu,
}

/// Sizes of an encoder. All are 1 at least.
#[derive(Debug, Clone, Serialize)]
pub struct Config {
    /// What makes its rows those of a language model.
    pub projector: Projector,
    /// Pixels of a side of the image that it takes.
    pub image_size: usize,
    /// Pixels of a side of a patch; the image's are a multiple.
    pub patch_size: usize,
    /// Numbers of a patch between blocks.
    pub width: usize,
    /// Width inside of a block.
    pub feed_forward: usize,
    /// Heads; the width is a multiple.
    pub heads: usize,
    /// Blocks that are computed.
    pub blocks: usize,
    /// What keeps the norms from dividing by 0.
    pub epsilon: f32,
    /// What the blocks have between their two layers.
    pub activation: Activation,
    /// What is taken off red, green and blue, which are 0 to 1.
    pub mean: [f32; 3],
    /// What they are divided by then.
    pub deviation: [f32; 3],
    /// Patches of a side of the squares that are averaged.
    pub merge: usize,
}

/// Patches of an image at most: scores of attention are so many squared.
const MOST_PATCHES: usize = 1 << 14;

impl Config {
    /// Reads it.
    ///
    /// # Errors
    /// [`Error::MissingKey`] and [`Error::Key`].
    pub fn new(gguf: &Gguf) -> Result<Self, Error> {
        expect_encoder(gguf)?;
        let projector = projector(gguf)?;
        let keys = Keys { gguf, prefix: "clip.vision" };
        let (image_size, patch_size) = (keys.size("image_size")?, keys.size("patch_size")?);
        let side = image_size / patch_size;
        let fits = image_size.is_multiple_of(patch_size) && side.saturating_mul(side) <= MOST_PATCHES;
        keys.expect(
            "image_size",
            fits,
            format!("a multiple of patch_size, and {MOST_PATCHES} patches at most"),
        )?;
        let merge = match projector {
            Projector::Mlp => 1,
            Projector::Gemma3 => keys.size_or("projector.scale_factor", 4)?,
        };
        keys.expect("projector.scale_factor", side.is_multiple_of(merge), format!("a divisor of {side}"))?;
        let (width, heads) = (keys.size("embedding_length")?, keys.size("attention.head_count")?);
        keys.expect("attention.head_count", width.is_multiple_of(heads), "a divisor of embedding_length")?;
        let blocks = keys.size("block_count")?;
        let epsilon = keys.float("attention.layer_norm_epsilon")?;
        keys.expect("attention.layer_norm_epsilon", epsilon > 0.0, "a number above 0")?;
        let (mean, deviation) = (keys.three("image_mean")?, keys.three("image_std")?);
        keys.expect("image_std", deviation.iter().all(|x| *x > 0.0), "three numbers above 0")?;
        Ok(Self {
            projector,
            image_size,
            patch_size,
            width,
            feed_forward: keys.size("feed_forward_length")?,
            heads,
            blocks: if projector == Projector::Mlp { blocks - 1 } else { blocks },
            epsilon,
            activation: activation(gguf)?,
            mean,
            deviation,
            merge,
        })
    }

    /// Patches of a side of the image.
    pub fn side(&self) -> usize {
        self.image_size / self.patch_size
    }

    /// Rows of embeddings that an image gives.
    pub fn tokens(&self) -> usize {
        (self.side() / self.merge).pow(2)
    }
}

fn expect_encoder(gguf: &Gguf) -> Result<(), Error> {
    const KEY: &str = "general.architecture";
    let name = gguf.text(KEY)?.ok_or_else(|| Error::MissingKey(KEY.to_owned()))?;
    let wrong = |key: &str, found: String, expected: &str| {
        Err(Error::Key { key: key.to_owned(), found, expected: expected.to_owned() })
    };
    if name != "clip" {
        return wrong(KEY, format!("`{name}`"), "`clip`: give the model's `mmproj` file");
    }
    match gguf.bool("clip.has_vision_encoder")? {
        Some(true) => Ok(()),
        found => wrong("clip.has_vision_encoder", found.unwrap_or(false).to_string(), "true"),
    }
}

fn projector(gguf: &Gguf) -> Result<Projector, Error> {
    const KEY: &str = "clip.projector_type";
    let of_vision = gguf.text("clip.vision.projector_type")?;
    let name = match of_vision {
        Some(name) => Some(name),
        None => gguf.text(KEY)?,
    };
    match name.ok_or_else(|| Error::MissingKey(KEY.to_owned()))? {
        "mlp" => Ok(Projector::Mlp),
        "gemma3" => Ok(Projector::Gemma3),
        other => Err(Error::Key {
            key: KEY.to_owned(),
            found: format!("`{other}`"),
            expected: "`mlp` or `gemma3`".to_owned(),
        }),
    }
}

fn activation(gguf: &Gguf) -> Result<Activation, Error> {
    let is = |key: &str| Ok::<bool, Error>(gguf.bool(key)?.unwrap_or(false));
    Ok(match (is("clip.use_gelu")?, is("clip.use_silu")?) {
        (true, _) => Activation::Gelu,
        (_, true) => Activation::Silu,
        _ => Activation::QuickGelu,
    })
}

impl Keys<'_> {
    fn three(&self, name: &str) -> Result<[f32; 3], Error> {
        let key = self.key(name);
        let list = self.gguf.floats(&key)?.ok_or_else(|| Error::MissingKey(key.clone()))?;
        match *list {
            [a, b, c] if list.iter().all(|x| x.is_finite()) => Ok([a, b, c]),
            _ => Err(Error::Key {
                key,
                found: format!("{list:?}").chars().take(60).collect(),
                expected: "three finite floats".to_owned(),
            }),
        }
    }
}
