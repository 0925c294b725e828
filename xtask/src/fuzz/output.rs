//! Reads libFuzzer's output: a line for each input that it learns, and statistics at the end.

use std::fmt;

/// The statistics of a fuzzing run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    executions: u64,
    per_second: u64,
    /// The number of inputs worth keeping.
    corpus: u64,
}

impl Figures {
    /// Parses the statistics in a fuzzer's output, if it printed them.
    pub(crate) fn parse(output: &str) -> Option<Self> {
        let stat =
            |name| output.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        let (_, corpus) = output.rsplit_once(" corp: ")?;
        let (corpus, _) = corpus.split_once('/')?;
        Some(Self {
            executions: stat("stat::number_of_executed_units:")?,
            per_second: stat("stat::average_exec_per_sec:")?,
            corpus: corpus.parse().ok()?,
        })
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { executions, per_second, corpus } = self;
        write!(f, "{executions} executions, {per_second} a second, {corpus} files in the corpus")
    }
}

/// Returns whether a line is worth showing. The thousands of lines on learned inputs and common words
/// are not.
pub(crate) fn is_shown(line: &str) -> bool {
    const LEARNT: [&str; 3] = ["NEW ", "REDUCE ", "RELOAD "];
    let event = line.strip_prefix('#').and_then(|line| line.split_once('\t'));
    let learnt = event.is_some_and(|(_, event)| LEARNT.iter().any(|word| event.starts_with(word)));
    let word = line.starts_with('"') && line.contains("\" # Uses: ");
    !learnt && !word && !line.starts_with("\tNEW_FUNC[")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
        INFO:        0 files found in a\n\
        #2\tINITED cov: 44 ft: 45 corp: 1/1b exec/s: 0 rss: 32Mb\n\
        #4\tNEW    cov: 47 ft: 51 corp: 2/3b lim: 4 exec/s: 0 rss: 32Mb L: 2/2 MS: 1 CopyPart-\n\
        \tNEW_FUNC[1/1]: 0x55607199b731\n\
        #9\tREDUCE cov: 47 ft: 51 corp: 2/2b lim: 4 exec/s: 0 rss: 32Mb L: 1/1 MS: 1 EraseBytes-\n\
        #16\tpulse  cov: 47 ft: 51 corp: 2/2b lim: 4 exec/s: 8 rss: 32Mb\n\
        #20\tRELOAD cov: 47 ft: 52 corp: 3/4b lim: 4 exec/s: 8 rss: 32Mb\n\
        #24\tDONE   cov: 47 ft: 53 corp: 4/5b lim: 4 exec/s: 8 rss: 32Mb\n\
        \"tool\" # Uses: 130\n\
        Done 24 runs in 3 second(s)\n\
        stat::number_of_executed_units: 24\n\
        stat::average_exec_per_sec:     8\n\
        stat::new_units_added:          3\n";

    #[test]
    fn the_last_figures_count() {
        let figures = Figures::parse(OUTPUT).expect("figures");
        let text = "24 executions, 8 a second, 4 files in the corpus";
        assert_eq!(figures.to_string(), text);
    }

    #[test]
    fn a_fuzzer_that_did_not_run_has_no_figures() {
        let cut = OUTPUT.split_once("stat::average").expect("its figures").0;
        for output in ["", "error: could not compile", cut] {
            assert_eq!(Figures::parse(output), None, "{output}");
        }
    }

    #[test]
    fn learned_inputs_are_not_shown() {
        let news: Vec<_> = OUTPUT.lines().filter(|line| is_shown(line)).collect();
        let starts = ["INFO", "#2\t", "#16\t", "#24\t", "Done", "stat", "stat", "stat"];
        assert_eq!(news.len(), starts.len(), "{news:#?}");
        for (line, start) in news.iter().zip(starts) {
            assert!(line.starts_with(start), "{line}");
        }
    }
}
