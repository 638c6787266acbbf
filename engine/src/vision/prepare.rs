//! An image of any size to the numbers that the encoder takes.

use super::{Config, Picture, Projector};

/// What LLaVA fills up with: the mean colour of the images that CLIP was trained with.
const FILL: [u8; 3] = [122, 116, 104];

/// `[patch][channel][y][x]`, normed. As the models were trained: Gemma's image is stretched to the square, LLaVA's is
/// filled up to one first.
pub(super) fn patches(config: &Config, picture: &Picture) -> Vec<f32> {
    let size = config.image_size;
    let square = match config.projector {
        Projector::Gemma3 => resized(picture, size),
        Projector::Mlp => resized(&filled(picture), size),
    };
    let (side, patch) = (config.side(), config.patch_size);
    let mut out = Vec::with_capacity(3 * size * size);
    for number in 0..side * side {
        let (top, left) = (number / side * patch, number % side * patch);
        for channel in 0..3 {
            for y in top..top + patch {
                out.extend(square.pixels[y * size + left..][..patch].iter().map(|pixel| {
                    (f32::from(pixel[channel]) / 255.0 - config.mean[channel]) / config.deviation[channel]
                }));
            }
        }
    }
    out
}

/// To a square, each pixel the mean of those that it covers, or between its neighbours: Pillow's bilinear filter.
fn resized(picture: &Picture, size: usize) -> Picture {
    if (picture.width, picture.height) == (size, size) {
        return picture.clone();
    }
    let (columns, rows) = (shares(picture.width, size), shares(picture.height, size));
    let mut narrow = Vec::with_capacity(size * picture.height);
    for row in picture.pixels.chunks_exact(picture.width) {
        narrow.extend(columns.iter().map(|(first, shares)| mixed(shares, |i| row[first + i])));
    }
    let mut pixels = Vec::with_capacity(size * size);
    for (first, shares) in &rows {
        pixels.extend((0..size).map(|x| mixed(shares, |i| narrow[(first + i) * size + x])));
    }
    Picture { width: size, height: size, pixels }
}

/// For each of `to` pixels the first of `from` that it is made of, and the shares of it and those behind it.
fn shares(from: usize, to: usize) -> Vec<(usize, Vec<f32>)> {
    let scale = from as f32 / to as f32;
    let reach = scale.max(1.0);
    let of_pixel = |at: usize| {
        let centre = (at as f32 + 0.5) * scale;
        let first = (centre - reach + 0.5).max(0.0) as usize;
        let end = ((centre + reach + 0.5) as usize).min(from);
        let distance = |pixel: usize| (pixel as f32 + 0.5 - centre).abs() / reach;
        let shares: Vec<f32> = (first..end).map(|pixel| (1.0 - distance(pixel)).max(0.0)).collect();
        let sum: f32 = shares.iter().sum();
        (first, shares.into_iter().map(|share| share / sum).collect())
    };
    (0..to).map(of_pixel).collect()
}

fn mixed(shares: &[f32], pixel: impl Fn(usize) -> [u8; 3]) -> [u8; 3] {
    let mut sums = [0.0; 3];
    for (i, share) in shares.iter().enumerate() {
        sums.iter_mut().zip(pixel(i)).for_each(|(sum, x)| *sum += share * f32::from(x));
    }
    sums.map(|sum| sum.round() as u8)
}

/// In the middle of a square.
fn filled(picture: &Picture) -> Picture {
    let size = picture.width.max(picture.height);
    let (left, top) = ((size - picture.width) / 2, (size - picture.height) / 2);
    let mut pixels = vec![FILL; size * size];
    for (y, row) in picture.pixels.chunks_exact(picture.width).enumerate() {
        pixels[(top + y) * size + left..][..picture.width].copy_from_slice(row);
    }
    Picture { width: size, height: size, pixels }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripes(width: usize, height: usize) -> Picture {
        let pixels =
            (0..width * height).map(|i| [(i % width * 10) as u8, (i / width * 10) as u8, 7]).collect();
        Picture { width, height, pixels }
    }

    #[test]
    fn pixels_are_between_their_neighbours_or_the_mean_of_what_they_cover() {
        let red = |picture: &Picture| picture.pixels.iter().map(|pixel| pixel[0]).collect::<Vec<u8>>();
        assert_eq!(red(&resized(&stripes(2, 1), 4))[..4], [0, 3, 8, 10]);
        assert_eq!(red(&resized(&stripes(8, 2), 2))[..2], [18, 52]);
        assert_eq!(resized(&stripes(5, 5), 5), stripes(5, 5));
    }

    #[test]
    fn a_wide_image_gets_bars_above_and_below() {
        let square = filled(&stripes(4, 2));
        let is_bar = |row: usize| square.pixels[row * 4..][..4].iter().all(|pixel| *pixel == FILL);
        assert_eq!([0, 1, 2, 3].map(is_bar), [true, false, false, true]);
    }

    #[test]
    fn an_image_with_one_very_long_side_is_refused_where_it_is_read() {
        // A square of it would not fit into memory.
        assert!(super::super::picture::expect_size(std::path::Path::new("x"), 50_000, 1).is_err());
    }
}
