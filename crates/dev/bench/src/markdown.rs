//! Reads a report's tables from its Markdown.

use anyhow::{Context, Result, ensure};

/// A table whose cells are text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PrintedTable {
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl PrintedTable {
    /// The first table below the heading `title`, of any level, and above the next heading.
    ///
    /// # Errors
    /// When there is no such heading, no table below it, or a row with more or fewer cells than columns.
    pub(crate) fn below(title: &str, text: &str) -> Result<Self> {
        let mut lines = text.lines().skip_while(|line| heading(line) != Some(title));
        lines.next().with_context(|| format!("there is no heading `{title}`"))?;
        let mut lines = lines
            .take_while(|line| heading(line).is_none())
            .skip_while(|line| !is_row(line))
            .take_while(|line| is_row(line));
        let columns = lines.next().with_context(|| format!("there is no table below `{title}`"))?;
        let columns = cells(columns);
        // The line below the columns' names says how they are aligned.
        let rows: Vec<Vec<String>> = lines.skip(1).map(cells).collect();
        for row in &rows {
            ensure!(row.len() == columns.len(), "a row of `{title}` lacks cells or has too many: {row:?}");
        }
        Ok(Self { title: title.to_owned(), columns, rows })
    }

    /// The number in the column `wanted` of the row that has these texts in these columns.
    ///
    /// # Errors
    /// When there is no such column or row, or no number there.
    pub(crate) fn number(&self, row: &[(&str, &str)], wanted: &str) -> Result<f64> {
        let keys = row.iter().map(|(column, text)| Ok((self.column(column)?, *text)));
        let keys: Vec<(usize, &str)> = keys.collect::<Result<_>>()?;
        let is_wanted = |cells: &&Vec<String>| keys.iter().all(|(column, text)| cells[*column] == *text);
        let cells = self.rows.iter().find(is_wanted);
        let cells = cells.with_context(|| format!("`{}` has no row with {row:?}", self.title))?;
        let cell = &cells[self.column(wanted)?];
        // The report writes commas between thousands.
        let number = cell.replace(',', "").parse();
        number.with_context(|| format!("`{}`: `{cell}` in the column `{wanted}` is no number", self.title))
    }

    fn column(&self, name: &str) -> Result<usize> {
        let place = self.columns.iter().position(|column| column == name);
        place.with_context(|| format!("`{}` has no column `{name}`", self.title))
    }
}

/// A heading's text, without the `#` signs.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    (text.len() < line.len()).then(|| text.strip_prefix(' ')).flatten().map(str::trim)
}

fn is_row(line: &str) -> bool {
    line.starts_with('|')
}

fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# A report

## Small

Words first.

| who | clients | us | tps |
| --- | ---: | ---: | ---: |
| a | 10 | 1.50 | 12,345 |
| a | 100 | 2.50 | - |

| another | table |
| --- | --- |
| a | 1 |

### Words only

None here.

### Short

| who | us |
| --- | ---: |
| a |
";

    #[test]
    fn a_number_is_found_by_its_row_and_column() {
        let table = PrintedTable::below("Small", TEXT).expect("a table");
        let at = |clients, wanted| table.number(&[("who", "a"), ("clients", clients)], wanted);
        assert_eq!(at("10", "us").expect("a number"), 1.5);
        assert_eq!(at("100", "us").expect("a number"), 2.5);
        assert_eq!(at("10", "tps").expect("commas are read"), 12_345.0);
    }

    #[test]
    fn errors_name_what_is_missing() {
        let table = PrintedTable::below("Small", TEXT).expect("a table");
        for (clients, wanted, said) in
            [("1", "us", "no row"), ("10", "ms", "no column `ms`"), ("100", "tps", "`-`")]
        {
            let error = table.number(&[("who", "a"), ("clients", clients)], wanted).expect_err(said);
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn a_table_stands_below_its_own_heading() {
        for (title, said) in [
            ("Large", "no heading"),
            ("Words only", "no table"),
            ("A report", "no table"),
            ("Short", "lacks"),
        ] {
            let error = PrintedTable::below(title, TEXT).expect_err(said);
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
