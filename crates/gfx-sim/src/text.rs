//! The text of llvm-objdump, line by line.

/// One line of a disassembly, in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its address in the code object.
    pub(crate) pc: u64,
    /// Bytes of its encoding.
    pub(crate) bytes: u64,
    /// As it was printed, without the encoding.
    pub(crate) text: String,
}

/// One instruction, or one half of a dual one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words<'a> {
    pub(crate) mnemonic: &'a str,
    pub(crate) operands: Vec<&'a str>,
    /// `offset:16`, `offen`, `op_sel:[0,1]`, …
    pub(crate) modifiers: Vec<&'a str>,
}

/// The instructions of a disassembly (`llvm-objdump -d`), in the order of their addresses.
pub(crate) fn lines(disassembly: &str) -> Vec<Line> {
    disassembly.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Line> {
    let (text, comment) = line.strip_prefix('\t')?.rsplit_once("// ")?;
    let (pc, encoding) = comment.split_once(':')?;
    // A branch's target follows its encoding: `BFA20007 <rms_norm+0x58>`.
    let words = encoding.split_whitespace().take_while(|word| !word.starts_with('<')).count();
    let pc = u64::from_str_radix(pc.trim(), 16).ok()?;
    Some(Line { pc, bytes: 4 * words as u64, text: text.trim().to_owned() })
}

impl Line {
    /// The instruction, and the second one that is issued with it.
    pub(crate) fn halves(&self) -> (Words<'_>, Option<Words<'_>>) {
        match self.text.split_once(" :: ") {
            Some((first, second)) => (words(first), Some(words(second))),
            None => (words(&self.text), None),
        }
    }
}

fn words(text: &str) -> Words<'_> {
    let (mnemonic, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    let mut operands = split_outside_brackets(rest);
    // Modifiers stand after the last operand, with spaces between.
    let last = operands.pop().unwrap_or_default();
    let mut tail = last.split_whitespace();
    operands.extend(tail.next());
    Words { mnemonic, operands, modifiers: tail.collect() }
}

/// At commas that are in no bracket: `v[0:1], hwreg(HW_REG_MODE, 4, 2), 0`.
fn split_outside_brackets(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let at_comma = |c: char| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(at_comma).map(str::trim).filter(|part| !part.is_empty()).collect()
}

impl<'a> Words<'a> {
    /// What follows `name:`.
    pub(crate) fn modifier(&self, name: &str) -> Option<&'a str> {
        self.modifiers.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix(':'))
    }

    /// A modifier that is a number; 0 where it is not there.
    pub(crate) fn number(&self, name: &str) -> i64 {
        self.modifier(name).and_then(integer).unwrap_or(0)
    }

    pub(crate) fn has(&self, flag: &str) -> bool {
        self.modifiers.contains(&flag)
    }

    /// `name:[1,0,1]` as bits, the first lowest; `None` where it is not there.
    pub(crate) fn bits(&self, name: &str) -> Option<u8> {
        let list = self.modifier(name)?.trim_matches(['[', ']']);
        Some(list.split(',').enumerate().filter(|(_, bit)| *bit == "1").fold(0, |all, (i, _)| all | 1 << i))
    }
}

/// A number as LLVM prints it: `12`, `-4`, `0xff`, `lit(0xff)`.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let text =
        text.strip_prefix("lit(").or(text.strip_prefix("lit64(")).map_or(text, |t| t.trim_end_matches(')'));
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()? as i64,
        None => digits.parse::<i64>().ok()?,
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart() {
        let text = "\ts_cbranch_scc1 7   // 000000002A38: BFA20007 <rms_norm_bf16+0x58>\n0000 <f>:\n\tv_mul_f32_e64 v0, -|v1|, s[2:3] clamp mul:2 op_sel:[0,1]// 000000000004: D5080180 16060501";
        let lines = lines(text);
        assert_eq!((lines[0].pc, lines[0].bytes, lines[0].text.as_str()), (0x2a38, 4, "s_cbranch_scc1 7"));
        assert_eq!(lines[1].bytes, 8);
        let (words, none) = lines[1].halves();
        assert_eq!(none, None);
        assert_eq!(words.operands, ["v0", "-|v1|", "s[2:3]"]);
        assert_eq!((words.has("clamp"), words.number("mul"), words.bits("op_sel")), (true, 2, Some(2)));
    }

    #[test]
    fn two_in_one_and_brackets() {
        let text = "\tv_dual_mov_b32 v1, 0 :: v_dual_mov_b32 v2, s1 // 000000000000: 00000000 00000000\n\ts_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s0 // 000000000008: 00000000";
        let lines = lines(text);
        let (first, second) = lines[0].halves();
        assert_eq!((first.operands, second.map(|w| w.operands)), (vec!["v1", "0"], Some(vec!["v2", "s1"])));
        assert_eq!(lines[1].halves().0.operands, ["hwreg(HW_REG_MODE, 4, 2)", "s0"]);
    }

    #[test]
    fn numbers_in_every_spelling() {
        let spelled = ["12", "-4", "0xff", "lit(0x10)", "x"];
        assert_eq!(spelled.map(integer), [Some(12), Some(-4), Some(255), Some(16), None]);
    }
}
