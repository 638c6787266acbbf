//! TEMPORARY stand-in by the lead until crates/gfx lands: replace freely.
use std::fmt;
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target(&'static str);
#[derive(Debug)] pub struct ParseError(pub String);
#[derive(Debug)] pub enum SelectionError<E> { Parse(ParseError), Native(E) }
impl fmt::Display for ParseError { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "unknown target `{}`", self.0) } }
impl std::error::Error for ParseError {}
impl<E: fmt::Display> fmt::Display for SelectionError<E> { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { match self { Self::Parse(p) => p.fmt(f), Self::Native(e) => e.fmt(f) } } }
impl<E: std::error::Error + 'static> std::error::Error for SelectionError<E> {}
impl fmt::Display for Target { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.0) } }
const ALL: [&str; 12] = ["gfx1100","gfx1101","gfx1102","gfx1103","gfx1150","gfx1151","gfx1152","gfx1153","gfx1200","gfx1201","gfx11-generic","gfx12-generic"];
impl Target {
    pub fn parse(s: &str) -> Result<Self, ParseError> { ALL.iter().find(|a| **a == s).map(|a| Target(a)).ok_or(ParseError(s.into())) }
    pub fn name(self) -> &'static str { self.0 }
}
pub fn nearest<'a>(_: &str, mut n: impl Iterator<Item = &'a str>) -> Option<&'a str> { n.next() }
pub struct Selection(Vec<Target>);
impl Selection {
    pub fn parse(s: &str) -> Result<Self, ParseError> { s.split(',').map(Target::parse).collect::<Result<_,_>>().map(Self) }
    pub fn resolve<E>(&self, _: &[Target], _: impl FnOnce() -> Result<Vec<Target>, E>) -> Result<Vec<Target>, SelectionError<E>> { Ok(self.0.clone()) }
}
