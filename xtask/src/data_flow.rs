//! The picture of the data flow, drawn from the signatures of the functions that are its arrows: docs/data-flow.svg.

use crate::{build, dist, lock, store};
use std::any::{type_name, type_name_of_val};
use std::fmt::Write;

/// Sizes in the picture: the height of a row, the width of a box, where the boxes of both columns begin.
const ROW: usize = 64;
const BOX: usize = 220;
const LEFT: usize = 10;
const RIGHT: usize = 500;

/// From values to a value.
struct Arrow {
    from: Vec<String>,
    name: String,
    to: String,
}

/// What is no data of the flow: settings, places, talk.
const BESIDE: [&str; 10] =
    ["Path", "str", "bool", "usize", "Ui", "Parent", "Timestamp", "Host", "Store", "Context"];

/// `&xtask::lock::select::Selected<'_>` is Selected.
fn short(name: &str) -> String {
    let name = name.trim_start_matches('&').trim_start_matches("mut ");
    let (outer, inner) = name.split_once('<').map_or((name, ""), |(outer, inner)| (outer, inner));
    let last = outer.rsplit("::").next().unwrap_or(outer);
    match last {
        "Vec" | "Option" => format!("{last} of {}", short(inner.trim_end_matches('>'))),
        _ => last.to_owned(),
    }
}

fn arrow(name: &str, from: &[&str], to: &str) -> Arrow {
    let from = from.iter().map(|name| short(name)).filter(|name| !BESIDE.contains(&name.as_str()));
    let name = name.trim_start_matches("xtask::").split("::").collect::<Vec<_>>();
    let (stage, function) = (name.first().unwrap_or(&""), name.last().unwrap_or(&""));
    Arrow { from: from.collect(), name: format!("{stage}::{function}"), to: short(to) }
}

fn of1<A, O, E>(name: &str, _: fn(A) -> Result<O, E>) -> Arrow {
    arrow(name, &[type_name::<A>()], type_name::<O>())
}

fn of3<A, B, C, O, E>(name: &str, _: fn(A, B, C) -> Result<O, E>) -> Arrow {
    arrow(name, &[type_name::<A>(), type_name::<B>(), type_name::<C>()], type_name::<O>())
}

fn of4<A, B, C, D, O, E>(name: &str, _: fn(A, B, C, D) -> Result<O, E>) -> Arrow {
    let from = [type_name::<A>(), type_name::<B>(), type_name::<C>(), type_name::<D>()];
    arrow(name, &from, type_name::<O>())
}

fn of5<A, B, C, D, F, O, E>(name: &str, _: fn(A, B, C, D, F) -> Result<O, E>) -> Arrow {
    let from = [type_name::<A>(), type_name::<B>(), type_name::<C>(), type_name::<D>(), type_name::<F>()];
    arrow(name, &from, type_name::<O>())
}

/// `part` is a field of `whole`.
fn field<W, P>(_: fn(W) -> P) -> Arrow {
    Arrow { from: vec![short(type_name::<P>())], name: "is part of".to_owned(), to: short(type_name::<W>()) }
}

fn toolchain_of<'a>(request: build::Request<'a>) -> &'a store::Installed {
    request.toolchain
}

fn arrows() -> Vec<Arrow> {
    vec![
        of1(type_name_of_val(&lock::load), lock::load),
        of3(type_name_of_val(&lock::select), lock::select),
        of3(type_name_of_val(&store::bootstrap), store::bootstrap),
        field(toolchain_of),
        of1(type_name_of_val(&build::make_plan), build::make_plan),
        of5(type_name_of_val(&build::build_all), build::build_all),
        of1(type_name_of_val(&dist::plan_bundle), dist::plan_bundle),
        of4(type_name_of_val(&dist::publish), dist::publish),
    ]
}

/// One row an arrow: what goes in, the function, what comes out.
fn picture(arrows: &[Arrow]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 730 {}\" font-family=\"sans-serif\" font-size=\"14\">\n<title>From toolchains.lock to a release</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<defs><marker id=\"end\" orient=\"auto\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\"><path d=\"M0,0 8,4 0,8z\"/></marker></defs>\n",
        arrows.len() * ROW + 10
    );
    for (row, arrow) in arrows.iter().enumerate() {
        let (top, middle) = (row * ROW + 10, row * ROW + 32);
        for from in &arrow.from {
            let made = arrows[..row].iter().rposition(|earlier| earlier.to == *from);
            if let Some(bottom) = made.map(|made| made * ROW + 54) {
                let _ = writeln!(
                    svg,
                    "<path d=\"M{} {bottom} L{} {top}\" stroke=\"grey\" stroke-dasharray=\"4\" fill=\"none\" marker-end=\"url(#end)\"/>",
                    RIGHT + 20,
                    LEFT + BOX - 20
                );
            }
        }
        let from = if arrow.from.is_empty() { "toolchains.lock".to_owned() } else { arrow.from.join(", ") };
        for (left, text) in [(LEFT, &from), (RIGHT, &arrow.to)] {
            let _ = writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{BOX}\" height=\"44\" rx=\"6\" fill=\"#eef\" stroke=\"black\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{text}</text>",
                left + BOX / 2,
                middle + 5
            );
        }
        let _ = writeln!(
            svg,
            "<path d=\"M{} {middle} H{RIGHT}\" stroke=\"black\" marker-end=\"url(#end)\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            LEFT + BOX,
            (LEFT + BOX + RIGHT) / 2,
            middle - 8,
            arrow.name
        );
    }
    svg + "</svg>\n"
}

#[test]
fn the_picture_of_the_data_flow_is_that_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/data-flow.svg");
    let picture = picture(&arrows());
    assert!(picture.contains(">Selected<") && picture.contains(">lock::select<"), "{picture}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &picture).expect("docs/data-flow.svg can be written");
    }
    let written = std::fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        written == picture,
        "docs/data-flow.svg is old: UPDATE_DOCS=1 cargo test -p xtask the_picture_of"
    );
}
