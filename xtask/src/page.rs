//! Puts the page `unstuck.html` together: one file with the engine inside, and a content security policy that forbids everything else.

use std::fs;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as STANDARD;
use sha2::{Digest as _, Sha256};

use crate::machine::{self, Machine};
use crate::step::Outcome;
use crate::{report, steps};

/// The folder of the page's own parts.
const FOLDER: &str = "adapters/wasm/page";

/// The style and the script of the report, which the page shares with `unstuck scan --format html`.
const REPORT_STYLE: &str = "adapters/cli/src/scan/html/report.css";
const REPORT_SCRIPT: &str = "adapters/cli/src/scan/html/report.js";

/// The run behind the button "Try an example".
const SAMPLE: &str = "adapters/trace/runs/native/stuck-same-test.jsonl";

/// The program that opens the page in a browser and compares it with `unstuck scan`.
const CHECK: &str = "adapters/wasm/page/check.mjs";

/// The recorded runs that are dropped onto the page.
const RUNS: &str = "adapters/trace/runs";

/// Opens `page` in a browser.
pub(crate) fn check(page: &Path, machine: Machine) -> Outcome {
    let unstuck = match steps::built(&["--bin", "unstuck"]) {
        Ok(unstuck) => unstuck,
        Err(outcome) => return outcome,
    };
    let mut node = match report::in_browser(CHECK, machine) {
        Ok(node) => node(),
        Err(outcome) => return outcome,
    };
    Outcome::of(node.arg(page).arg(unstuck).arg(machine::root().join(RUNS)))
}

/// Writes the page to the file `to`, with the engine `wasm` and its `glue` of `wasm-bindgen` for the target `web`.
pub(crate) fn assemble(wasm: &Path, glue: &Path, to: &Path) -> Outcome {
    let page = fs::read(wasm).and_then(|wasm| {
        let parts = Parts {
            page: text(FOLDER, "page.html")?,
            style: [text("", REPORT_STYLE)?, text(FOLDER, "page.css")?].concat(),
            script: text(FOLDER, "page.js")?.replace("{{report}}", &text("", REPORT_SCRIPT)?),
            worker: without_exports(&fs::read_to_string(glue)?) + &text(FOLDER, "worker.js")?,
            sample: text("", SAMPLE)?,
            engine: STANDARD.encode(wasm),
        };
        parts.page().map_err(io::Error::other)
    });
    match page.and_then(|page| fs::write(to, page)) {
        Ok(()) => Outcome::Passed,
        Err(error) => Outcome::Failed(format!("{}: {error}", to.display())),
    }
}

/// Returns the text of a file of the project.
fn text(folder: &str, name: &str) -> io::Result<String> {
    let path = machine::root().join(folder).join(name);
    fs::read_to_string(&path)
        .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
}

/// Returns a module as a script. A page that is opened from a file can start no other thread than that of a script.
fn without_exports(module: &str) -> String {
    let lines = module.lines().filter(|line| !line.starts_with("export {"));
    let lines = lines.map(|line| line.strip_prefix("export ").unwrap_or(line));
    lines.fold(String::with_capacity(module.len()), |script, line| script + line + "\n")
}

/// The parts of the page.
struct Parts {
    page: String,
    style: String,
    script: String,
    /// The script of the thread, with the glue of the engine. The page runs it from a blob.
    worker: String,
    sample: String,
    engine: String,
}

impl Parts {
    /// Returns the page. The error names a part that would end the element that it is in.
    fn page(&self) -> Result<String, String> {
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}' 'wasm-unsafe-eval'; \
             worker-src blob:; base-uri 'none'; form-action 'none'",
            hash(&self.style),
            hash(&self.script),
        );
        let parts = [
            ("policy", policy.as_str()),
            ("version", env!("CARGO_PKG_VERSION")),
            ("style", &self.style),
            ("engine", &self.engine),
            ("worker", &self.worker),
            ("sample", &self.sample),
            ("script", &self.script),
        ];
        let mut page = String::with_capacity(self.engine.len() + self.page.len() + (1 << 17));
        let mut rest = self.page.as_str();
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").ok_or("a mark without its end")?;
            let part = parts.iter().find(|(known, _)| *known == name);
            let (_, part) = part.ok_or_else(|| format!("there is no part {name}"))?;
            if ["</", "<!--"].iter().any(|end| part.contains(end)) {
                return Err(format!("the part {name} has a text that ends its element"));
            }
            page.push_str(before);
            page.push_str(part);
            rest = after;
        }
        page.push_str(rest);
        Ok(page)
    }
}

/// Returns the SHA-256 of `text` as a policy names it.
fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(page: &str, worker: &str) -> Parts {
        let [style, script, sample] = ["a{}", "1", "{}"].map(str::to_owned);
        let (page, worker) = (page.to_owned(), worker.to_owned());
        Parts { page, style, script, worker, sample, engine: STANDARD.encode(b"\0asm") }
    }

    #[test]
    fn a_module_becomes_a_script() {
        let module =
            "export class A {}\nexport function b() {}\n let export_c;\nexport { d as default };\n";
        assert_eq!(without_exports(module), "class A {}\nfunction b() {}\n let export_c;\n");
    }

    #[test]
    fn the_policy_names_the_style_and_the_script() {
        let page = parts("<{{policy}}>{{style}}|{{script}}|{{engine}}", "").page().expect("a page");
        // Of `printf 'a{}' | openssl dgst -sha256 -binary | base64`, and the same for `1`.
        for part in [
            "style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='",
            "script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s=' 'wasm-unsafe-eval'",
            ">a{}|1|AGFzbQ==",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }

    #[test]
    fn a_part_that_ends_its_element_is_refused() {
        for worker in ["'</script>'", "<!-- <script>"] {
            let error = parts("{{worker}}", worker).page().expect_err(worker);
            assert_eq!(error, "the part worker has a text that ends its element");
        }
        assert!(parts("{{other}}", "").page().is_err() && parts("{{worker", "").page().is_err());
    }
}
