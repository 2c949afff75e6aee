//! `benchmarks.md`: a page with the report between two markers. Its charts are in the same folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::chart::{Chart, Theme};

/// The page's name in its folder.
const PAGE: &str = "benchmarks.md";
/// The line above the report.
const BEGIN: &str = "<!-- bench:begin -->";
/// The line below it.
const END: &str = "<!-- bench:end -->";

/// The text of the page.
#[derive(Debug)]
pub(crate) struct Document {
    folder: PathBuf,
    /// The text before the report, with the first marker.
    above: String,
    report: String,
    /// The text from the second marker on.
    below: String,
}

impl Document {
    /// Reads the page in `folder`.
    ///
    /// # Errors
    /// When it cannot be read, or does not have each marker once.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(PAGE);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(folder, &text).with_context(|| path.display().to_string())
    }

    fn parse(folder: &Path, text: &str) -> Result<Self> {
        for marker in [BEGIN, END] {
            let found = text.matches(marker).count();
            ensure!(found == 1, "`{marker}` is needed once, and is there {found} times");
        }
        let end = text.find(END).unwrap_or_default();
        let begin = text.find(BEGIN).unwrap_or_default() + BEGIN.len();
        ensure!(begin <= end, "`{BEGIN}` must stand above `{END}`");
        Ok(Self {
            folder: folder.to_owned(),
            above: text[..begin].to_owned(),
            report: text[begin..end].to_owned(),
            below: text[end..].to_owned(),
        })
    }

    /// Puts a new report in the place of the old one.
    pub(crate) fn replace_report(&mut self, report: &str) {
        self.report = format!("\n{}\n", report.trim());
    }

    /// Writes the page, and draws its charts.
    ///
    /// # Errors
    /// When the report lacks the charted table, or a file cannot be written. Without that table nothing is written.
    pub(crate) fn save(&self) -> Result<()> {
        let chart = Chart::read(&self.report)?;
        write(&self.folder.join(PAGE), &format!("{}{}{}", self.above, self.report, self.below))?;
        self.write_charts(&chart)
    }

    /// Draws the charts from the page's report.
    ///
    /// # Errors
    /// When the report lacks the charted table, or a file cannot be written.
    pub(crate) fn draw(&self) -> Result<()> {
        self.write_charts(&Chart::read(&self.report)?)
    }

    fn write_charts(&self, chart: &Chart) -> Result<()> {
        for theme in Theme::ALL {
            write(&self.folder.join(theme.file_name()), &chart.draw(theme)?)?;
        }
        Ok(())
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use trunkline_testkit::repository_root;

    use super::*;

    /// A report with the charted table and nothing else; each figure of Trunkline's is `cpu`.
    fn report(cpu: &str) -> String {
        let mut text = String::from(
            "### Small transactions (pgbench -S)\n\n\
             | protocol | clients | PgBouncer, CPU us | Trunkline, CPU us |\n| --- | ---: | ---: | ---: |\n",
        );
        for protocol in ["simple", "extended", "prepared"] {
            for clients in [10, 100] {
                text.push_str(&format!("| {protocol} | {clients} | 20.00 | {cpu} |\n"));
            }
        }
        text
    }

    #[test]
    fn a_report_is_put_between_the_markers_and_charted() {
        let folder = tempfile::tempdir().expect("a folder");
        let page = folder.path().join(PAGE);
        fs::write(&page, format!("# Title\n{BEGIN}\nold\n{END}\nthe end\n")).expect("written");
        let mut document = Document::open(folder.path()).expect("a page");
        document.replace_report(&format!("\n{}\n\n", report("12.34")));
        document.save().expect("saved");
        let saved = fs::read_to_string(&page).expect("read");
        assert_eq!(saved, format!("# Title\n{BEGIN}\n{}{END}\nthe end\n", report("12.34")));
        for theme in Theme::ALL {
            let svg = fs::read_to_string(folder.path().join(theme.file_name())).expect("a chart");
            assert!(svg.contains("12.3"), "{svg}");
        }
    }

    #[test]
    fn nothing_is_written_without_the_charted_table() {
        let folder = tempfile::tempdir().expect("a folder");
        let page = folder.path().join(PAGE);
        let old = format!("{BEGIN}\nold\n{END}\n");
        fs::write(&page, &old).expect("written");
        let mut document = Document::open(folder.path()).expect("a page");
        document.replace_report("### Idle clients (5000)\n");
        document.save().expect_err("no table to chart");
        assert_eq!(fs::read_to_string(&page).expect("read"), old);
        assert!(!folder.path().join(Theme::Light.file_name()).exists());
    }

    #[test]
    fn each_marker_must_be_there_once_and_in_order() {
        let nowhere = Path::new("");
        Document::parse(nowhere, &format!("{BEGIN}{END}")).expect("an empty report");
        for text in [
            String::new(),
            BEGIN.to_owned(),
            format!("{END}{BEGIN}"),
            format!("{BEGIN}{END}{END}"),
            format!("{BEGIN}{BEGIN}{END}"),
        ] {
            Document::parse(nowhere, &text).expect_err(&text);
        }
    }

    /// If it fails after new figures, run `trunkline-bench chart docs`.
    #[test]
    fn the_charts_in_docs_are_those_of_the_page() {
        let docs = repository_root().join("docs");
        let document = Document::open(&docs).expect("a page");
        let chart = Chart::read(&document.report).expect("a table to chart");
        for theme in Theme::ALL {
            let kept = fs::read_to_string(docs.join(theme.file_name())).expect("a chart");
            let drawn = chart.draw(theme).expect("drawn");
            assert!(kept == drawn, "{} is of other figures: `trunkline-bench chart docs`", theme.file_name());
        }
    }

    /// If it fails after new figures, copy the page's figures into the README's table.
    #[test]
    fn the_figures_in_the_readme_are_those_of_the_page() {
        let root = repository_root();
        let readme = fs::read_to_string(root.join("README.md")).expect("the README");
        let document = Document::open(&root.join("docs")).expect("a page");
        let (_, rest) = readme.split_once("<!-- bench-short:begin -->").expect("a marker");
        let (table, _) = rest.split_once("<!-- bench-short:end -->").expect("a marker");
        let cells = |text: &str| -> Vec<String> {
            text.lines().flat_map(|line| line.split('|').skip(1)).map(|cell| cell.trim().to_owned()).collect()
        };
        let page = cells(&document.report);
        let figures = cells(table).into_iter().filter(|cell| cell.replace(',', "").parse::<f64>().is_ok());
        let mut count = 0;
        for figure in figures {
            assert!(page.contains(&figure), "no table of docs/benchmarks.md has the README's {figure}");
            count += 1;
        }
        assert!(count > 0, "the README's table has no figures: {table}");
    }
}
