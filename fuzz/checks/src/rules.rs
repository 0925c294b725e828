//! Makes a policy that owns its ladders from bytes: usually a valid one, sometimes any numbers.

use arbitrary::{Arbitrary as _, Result, Unstructured};
use unstuck_core::{
    Action, Args, Basis, Force, Ladder, Outcomes, Pattern, Phase, Policy, PolicyError, Progress,
    RULES_MAX, RUNGS_MAX, Results, Rule, Rung, Select, Silence, Tag, TagSet, TextRule, Texts, Tool,
    ToolRule,
};

/// The parts of a policy.
#[derive(Debug)]
pub(crate) struct Draft {
    window: u8,
    rules: Vec<(Rule<'static>, Rungs)>,
    texts: Vec<(Texts, u16, Rungs)>,
    exempt: TagSet,
    tools: Vec<ToolRule>,
    phases: [Phase; 2],
}

/// A ladder that owns its rungs.
#[derive(Debug)]
struct Rungs {
    basis: Basis,
    rungs: Vec<Rung>,
}

/// The range of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    /// Small numbers in a sensible order. Random numbers seldom pass [`Policy::new`].
    Likely,
    /// Any numbers.
    Wild,
}

impl Draft {
    /// Reads a draft from the beginning of `bytes`.
    ///
    /// # Errors
    ///
    /// Returns an error if there are too few bytes.
    pub(crate) fn new(bytes: &mut Unstructured<'_>) -> Result<Self> {
        let numbers = if bytes.ratio(7, 8)? { Numbers::Likely } else { Numbers::Wild };
        let (window, count) = match numbers {
            Numbers::Likely => (bytes.int_in_range(8..=13)?, bytes.int_in_range(1..=3)?),
            Numbers::Wild => (u8::arbitrary(bytes)?, bytes.int_in_range(0..=RULES_MAX + 1)?),
        };
        let rule = |_| Ok((rule(bytes, numbers)?, Rungs::new(bytes, numbers)?));
        let rules = (0..count).map(rule).collect::<Result<_>>()?;
        let count = bytes.int_in_range(0..=3)?;
        let texts = (0..count).map(|_| text(bytes, numbers)).collect::<Result<_>>()?;
        let exempt = if bool::arbitrary(bytes)? { TagSet::EMPTY } else { THINKING };
        let count = bytes.int_in_range(0..=2)?;
        let tools = (0..count).map(|tool| self::tool(tool, bytes)).collect::<Result<_>>()?;
        let phases = [phase(bytes, numbers)?, phase(bytes, numbers)?];
        Ok(Self { window, rules, texts, exempt, tools, phases })
    }

    /// Passes the policy, or its error, to `judge`.
    pub(crate) fn with_policy<T>(
        &self,
        judge: impl FnOnce(core::result::Result<Policy<'_>, PolicyError>) -> T,
    ) -> T {
        let rules: Vec<Rule<'_>> =
            self.rules.iter().map(|(rule, rungs)| rule.ladder(rungs.ladder())).collect();
        let policy = Policy::new("fuzzed", self.window, &rules);
        let texts = self.texts.iter();
        let texts = texts
            .map(|(texts, times, rungs)| TextRule::new("text", *texts, *times, rungs.ladder()));
        let texts: Vec<TextRule<'_>> = texts.collect();
        let [early, late] = self.phases;
        let policy = policy
            .map(|policy| policy.with_exempt(self.exempt))
            .and_then(|policy| policy.with_texts(&texts))
            .and_then(|policy| policy.with_tools(&self.tools))
            .and_then(|policy| policy.with_phases(early, late));
        judge(policy)
    }
}

const THINKING: TagSet = TagSet::EMPTY.with(Tag::Think);

/// Returns the rule of the policy for the tool with this number.
fn tool(tool: u32, bytes: &mut Unstructured<'_>) -> Result<ToolRule> {
    let rule = ToolRule::new(Tool::new(tool));
    Ok(match bytes.int_in_range(0..=4)? {
        0 => rule.exempt(),
        1 => rule.poll(),
        _ => rule.patience(bytes.int_in_range(-3..=3)?),
    })
}

fn phase(bytes: &mut Unstructured<'_>, numbers: Numbers) -> Result<Phase> {
    Ok(match numbers {
        Numbers::Likely => Phase::new(bytes.int_in_range(0..=30)?, bytes.int_in_range(-2..=2)?),
        Numbers::Wild => Phase::new(u32::arbitrary(bytes)?, i8::arbitrary(bytes)?),
    })
}

impl Rungs {
    fn new(bytes: &mut Unstructured<'_>, numbers: Numbers) -> Result<Self> {
        const BASES: [Basis; 3] = [Basis::Repetitions, Basis::LoopFindings, Basis::AllFindings];
        let basis = *bytes.choose(&BASES)?;
        let rungs = match numbers {
            Numbers::Likely => rising(bytes)?,
            Numbers::Wild => {
                let count = bytes.int_in_range(0..=RUNGS_MAX + 1)?;
                let rung = |_| Ok(Rung::new(u16::arbitrary(bytes)?, *bytes.choose(&Action::ALL)?));
                (0..count).map(rung).collect::<Result<_>>()?
            }
        };
        Ok(Self { basis, rungs })
    }

    fn ladder(&self) -> Ladder<'_> {
        Ladder { basis: self.basis, rungs: &self.rungs }
    }
}

/// Returns up to three rungs with rising counts and actions that do not get weaker.
fn rising(bytes: &mut Unstructured<'_>) -> Result<Vec<Rung>> {
    let mut rungs = Vec::new();
    let (mut count, mut strength) = (0, 0);
    for _ in 0..bytes.int_in_range(1..=3)? {
        count += bytes.int_in_range(1..=4)?;
        strength = bytes.int_in_range(strength..=Action::ALL.len() - 1)?;
        rungs.push(Rung::new(count, Action::ALL[strength]));
    }
    Ok(rungs)
}

fn rule(bytes: &mut Unstructured<'_>, numbers: Numbers) -> Result<Rule<'static>> {
    const ARGS: [Args; 4] = [Args::Same, Args::Similar, Args::SameTool, Args::Any];
    const RESULTS: [Results; 3] = [Results::Ignored, Results::Same, Results::Near];
    const SELECT: [Select; 5] = [
        Select::Every,
        Select::Tag(Tag::Test),
        Select::Tag(Tag::Shell),
        Select::Unreported,
        Select::Tool(Tool::new(1)),
    ];
    const OUTCOMES: [Outcomes; 2] = [Outcomes::Any, Outcomes::Failed];
    const PROGRESS: [Progress; 3] = [Progress::Respect, Progress::Ignore, Progress::Anywhere];
    // A separate ladder replaces this one.
    let none = Ladder::by_repetitions(&[]);
    let (args, results) = (*bytes.choose(&ARGS)?, *bytes.choose(&RESULTS)?);
    let mut rule = Rule::new("rule", args, results, pattern(bytes, numbers)?, none);
    rule.select = *bytes.choose(&SELECT)?;
    rule.outcomes = *bytes.choose(&OUTCOMES)?;
    rule.progress = *bytes.choose(&PROGRESS)?;
    // One bit each, so that the inputs found so far keep their meaning.
    let bits = u8::arbitrary(bytes)?;
    rule.silence = match (bits & 1, bits & 16) {
        (0, 0) => Silence::Ignored,
        (0, _) => Silence::Telling,
        _ => Silence::Evidence,
    };
    rule.force = if bits & 2 == 0 { Force::Always } else { Force::Proven };
    if bits & 4 != 0 && rule.outcomes == Outcomes::Failed {
        rule.outcomes = Outcomes::Failures;
    }
    if bits & 8 != 0 {
        rule.silent_max = Action::Warn;
    }
    Ok(rule)
}

fn pattern(bytes: &mut Unstructured<'_>, numbers: Numbers) -> Result<Pattern> {
    let kind = bytes.int_in_range(0..=2_u8)?;
    if numbers == Numbers::Wild {
        let [a, b, c] = <[u8; 3]>::arbitrary(bytes)?;
        return Ok(match kind {
            0 => Pattern::Streak { times: u16::from_le_bytes([a, b]) },
            1 => Pattern::Recurrence { times: a, within: b, novel: c },
            _ => Pattern::cycle(a, b, c),
        });
    }
    Ok(match kind {
        0 => Pattern::Streak { times: bytes.int_in_range(2..=5)? },
        1 => Pattern::Recurrence {
            times: bytes.int_in_range(2..=4)?,
            within: bytes.int_in_range(4..=9)?,
            novel: bytes.int_in_range(0..=4)?,
        },
        _ => {
            let (least, more) = (bytes.int_in_range(2..=4)?, bytes.int_in_range(0..=3)?);
            Pattern::cycle(least, least + more, bytes.int_in_range(2..=4)?)
        }
    })
}

fn text(bytes: &mut Unstructured<'_>, numbers: Numbers) -> Result<(Texts, u16, Rungs)> {
    let texts = match u8::arbitrary(bytes)? {
        192.. => Texts::Prompt,
        kind => [Texts::Any, Texts::Same, Texts::Inside][usize::from(kind % 3)],
    };
    let times = match numbers {
        Numbers::Likely => bytes.int_in_range(2..=4)?,
        Numbers::Wild => u16::arbitrary(bytes)?,
    };
    Ok((texts, times, Rungs::new(bytes, numbers)?))
}
