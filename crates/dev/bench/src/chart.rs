//! The README's chart: the CPU time of a small transaction through PgBouncer and through Trunkline.

use anyhow::{Result, anyhow, ensure};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::contender::Kind;
use crate::markdown::PrintedTable;
use crate::pgbench::Protocol;
use crate::tables::charted::{CLIENTS, PROTOCOL, TITLE, cpu_column};

/// The numbers of clients in the chart: few and many. The table also has one client.
pub(crate) const CHARTED_CLIENTS: [usize; 2] = [10, 100];
/// Contenders in the chart.
pub(crate) const CHARTED_KINDS: [Kind; 2] = [Kind::PgBouncer, Kind::Trunkline];

/// Width and height in pixels. GitHub shows a README with a width of about 850.
const SIZE: (u32, u32) = (860, 340);
/// A bar's share of its group's width.
const BAR_WIDTH: f64 = 0.36;
/// The free space above the tallest bar, for the legend.
const HEADROOM: f64 = 1.3;
/// The number of horizontal lines.
const Y_LABELS_MAX: usize = 8;
const FONT: &str = "sans-serif";
const FONT_SIZE: u32 = 14;
const TITLE_SIZE: u32 = 19;

/// The figures of the chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    groups: Vec<Group>,
}

/// A group of bars.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    name: String,
    /// CPU time of a transaction in microseconds, in the order of [`CHARTED_KINDS`].
    bars: [f64; CHARTED_KINDS.len()],
}

/// The colours of the page around the chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Dark text on a light page.
    Light,
    /// Light text on a dark page.
    Dark,
}

/// A theme's colours. The chart has no background, so the page's shows.
struct Palette {
    text: RGBColor,
    grid: RGBColor,
    /// In the order of [`CHARTED_KINDS`].
    bars: [RGBColor; CHARTED_KINDS.len()],
}

impl Theme {
    /// Both themes.
    pub(crate) const ALL: [Self; 2] = [Self::Light, Self::Dark];

    /// The name of the chart's file in this theme.
    pub(crate) fn file_name(self) -> &'static str {
        match self {
            Self::Light => "bench-light.svg",
            Self::Dark => "bench-dark.svg",
        }
    }

    fn palette(self) -> Palette {
        match self {
            Self::Light => Palette {
                text: RGBColor(0x1f, 0x23, 0x28),
                grid: RGBColor(0xd1, 0xd9, 0xe0),
                bars: [RGBColor(0x8c, 0x95, 0x9f), RGBColor(0x09, 0x69, 0xda)],
            },
            Self::Dark => Palette {
                text: RGBColor(0xf0, 0xf6, 0xfc),
                grid: RGBColor(0x3d, 0x44, 0x4d),
                bars: [RGBColor(0x76, 0x80, 0x8c), RGBColor(0x44, 0x93, 0xf8)],
            },
        }
    }
}

impl Chart {
    /// Reads the figures from a report's table of small transactions.
    ///
    /// # Errors
    /// When the report lacks that table, or the table a figure.
    pub(crate) fn read(report: &str) -> Result<Self> {
        let table = PrintedTable::below(TITLE, report)?;
        let mut groups = Vec::new();
        for protocol in Protocol::ALL {
            for clients in CHARTED_CLIENTS.map(|clients| clients.to_string()) {
                let row = [(PROTOCOL, protocol.name()), (CLIENTS, clients.as_str())];
                let mut bars = [0.0; CHARTED_KINDS.len()];
                for (bar, kind) in bars.iter_mut().zip(CHARTED_KINDS) {
                    *bar = table.number(&row, &cpu_column(kind))?;
                    ensure!(*bar > 0.0, "{kind} cannot have used no CPU: {row:?}");
                }
                groups.push(Group { name: format!("{}, {clients} clients", protocol.name()), bars });
            }
        }
        Ok(Self { groups })
    }

    /// Draws the chart as SVG.
    ///
    /// # Errors
    /// When the charting library fails.
    pub(crate) fn draw(&self, theme: Theme) -> Result<String> {
        let mut svg = String::new();
        self.draw_into(&mut svg, &theme.palette()).map_err(|error| anyhow!("cannot draw: {error}"))?;
        Ok(svg)
    }

    fn draw_into(&self, svg: &mut String, palette: &Palette) -> Result<(), Box<dyn std::error::Error>> {
        let font = |size: u32| (FONT, size).into_font().color(&palette.text);
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        let tallest = self.groups.iter().flat_map(|group| group.bars).fold(0.0, f64::max);
        let upwards = 0.0..tallest * HEADROOM;
        let last = self.groups.len().saturating_sub(1);
        // Two horizontal axes: one names the groups, and one has a unit for each group and gives the bars their places.
        let mut chart = ChartBuilder::on(&area)
            .caption("CPU time of a transaction, microseconds (less is better)", font(TITLE_SIZE))
            .margin(8)
            .x_label_area_size(28)
            .y_label_area_size(36)
            .build_cartesian_2d((0..last).into_segmented(), upwards.clone())?
            .set_secondary_coord(0.0..self.groups.len() as f64, upwards);
        let name = |group: &SegmentValue<usize>| match group {
            SegmentValue::CenterOf(n) => self.groups.get(*n).map_or("", |group| &group.name).to_owned(),
            SegmentValue::Exact(_) | SegmentValue::Last => String::new(),
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .y_labels(Y_LABELS_MAX)
            .light_line_style(TRANSPARENT)
            .bold_line_style(palette.grid)
            .axis_style(palette.grid)
            .label_style(font(FONT_SIZE))
            .x_label_formatter(&name)
            .y_label_formatter(&|micros| format!("{micros:.0}"))
            .draw()?;
        for (n, kind) in CHARTED_KINDS.into_iter().enumerate() {
            let style = palette.bars[n].filled();
            let left = 0.5 + (n as f64 - CHARTED_KINDS.len() as f64 / 2.0) * BAR_WIDTH;
            let bars: Vec<(f64, f64)> =
                self.groups.iter().enumerate().map(|(at, group)| (at as f64 + left, group.bars[n])).collect();
            chart
                .draw_secondary_series(
                    bars.iter().map(|&(x, top)| Rectangle::new([(x, 0.0), (x + BAR_WIDTH, top)], style)),
                )?
                .label(kind.name())
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], style));
            let above = font(FONT_SIZE).pos(Pos::new(HPos::Center, VPos::Bottom));
            chart.draw_secondary_series(bars.iter().map(|&(x, top)| {
                Text::new(format!("{top:.1}"), (x + BAR_WIDTH / 2.0, top), above.clone())
            }))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .label_font(font(FONT_SIZE))
            .draw()?;
        area.present()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let group = |name: &str, bars| Group { name: name.to_owned(), bars };
        Chart { groups: vec![group("simple, 10 clients", [17.14, 15.26]), group("few & many", [24.5, 9.9])] }
    }

    #[test]
    fn a_chart_names_its_bars_and_their_figures() {
        for theme in Theme::ALL {
            let svg = chart().draw(theme).expect("drawn");
            for text in
                ["simple, 10 clients", "few &amp; many", "PgBouncer", "Trunkline", "17.1", "15.3", "9.9"]
            {
                assert!(svg.contains(text), "{text}: {svg}");
            }
        }
    }

    #[test]
    fn themes_differ_in_their_colours_only() {
        let [light, dark] = Theme::ALL.map(|theme| chart().draw(theme).expect("drawn"));
        assert_ne!(light, dark);
        assert_eq!(without_colours(&light), without_colours(&dark));
    }

    fn without_colours(svg: &str) -> String {
        let mut parts = svg.split('#');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + "#" + part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
    }

    #[test]
    fn figures_come_from_the_table() {
        let report = "\
### Small transactions (pgbench -S)

| protocol | clients | relay, CPU us | PgBouncer, CPU us | Trunkline, CPU us | PgBouncer, tps |
| --- | ---: | ---: | ---: | ---: | ---: |
| simple | 1 | 0.00 | 99.00 | 99.00 | 0 |
| simple | 10 | 0.00 | 1.00 | 2.00 | 0 |
| simple | 100 | 0.00 | 3.00 | 4.00 | 0 |
| extended | 10 | 0.00 | 5.00 | 6.00 | 0 |
| extended | 100 | 0.00 | 7.00 | 8.00 | 0 |
| prepared | 10 | 0.00 | 9.00 | 10.00 | 0 |
| prepared | 100 | 0.00 | 11.00 | 1,200.00 | 0 |
";
        let chart = Chart::read(report).expect("all figures");
        let bars: Vec<[f64; 2]> = chart.groups.iter().map(|group| group.bars).collect();
        assert_eq!(bars, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0], [11.0, 1200.0]]);
        assert_eq!(chart.groups[5].name, "prepared, 100 clients");
        let lacking = report.replace("| 7.00 |", "| - |");
        Chart::read(&lacking).expect_err("a figure is missing");
        Chart::read(&report.replace("| 7.00 |", "| 0.00 |")).expect_err("no CPU at all");
    }
}
