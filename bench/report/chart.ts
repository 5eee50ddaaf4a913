/** A bar chart as SVG, readable on light and dark pages, with one bar per subject and scenario. */

export interface ChartBar {
  /** The index of its series. */
  readonly series: number;
  readonly value: number;
  /** The text at its end. */
  readonly label: string;
}

export interface Chart {
  readonly title: string;
  /** The unit of a bar's length. */
  readonly unit: string;
  readonly series: readonly string[];
  readonly sections: readonly { readonly label: string; readonly bars: readonly ChartBar[] }[];
}

const width = 820;
const labelWidthMax = 330;
const endWidth = 90;
const barHeight = 13;
const barGap = 3;
const sectionGap = 12;
const lineHeight = 18;
const perCharacter = 7;

/** Colors by series, for light and dark pages; they repeat from the seventh series on. Tested on white and on #0d1117. */
const colors = [
  ["#8c959f", "#768390"],
  ["#0969da", "#539bf5"],
  ["#1a7f37", "#57ab5a"],
  ["#bc4c00", "#e0823d"],
  ["#8250df", "#b083f0"],
  ["#bf8700", "#c69026"],
] as const;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const seriesClass = (series: number): string => `s${series % colors.length}`;

function style(): string {
  const fills = (mode: 0 | 1): string =>
    colors.map((color, index) => `.s${index}{fill:${color[mode]}}`).join("");
  return [
    "text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2328}",
    ".t{font-weight:600;font-size:14px}.q{fill:#59636e}.a{stroke:#d1d9e0}",
    fills(0),
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.q{fill:#9198a1}.a{stroke:#3d444d}",
    `${fills(1)}}`,
  ].join("");
}

interface Text {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly kind?: "t" | "q";
  readonly anchor?: "end";
}

const textElement = ({ x, y, text, kind, anchor }: Text): string =>
  `<text x="${x}" y="${y}"${kind ? ` class="${kind}"` : ""}${anchor ? ` text-anchor="${anchor}"` : ""}>${escaped(text)}</text>`;

/** The names of the series with their colors, in as many lines as they need; ends at the returned height. */
function legend(series: readonly string[], from: number): { lines: string[]; y: number } {
  const lines: string[] = [];
  let x = 0;
  let y = from;
  series.forEach((name, index) => {
    const taken = 18 + name.length * perCharacter + 16;
    if (x > 0 && x + taken > width) {
      x = 0;
      y += lineHeight;
    }
    lines.push(
      `<rect x="${x}" y="${y - 10}" width="12" height="12" rx="2" class="${seriesClass(index)}"/>`,
      textElement({ x: x + 18, y, text: name }),
    );
    x += taken;
  });
  return { lines, y: y + lineHeight };
}

/** The chart. Bars share one scale, from 0 to the largest value. */
export function chartSvg({ title, unit, series, sections }: Chart): string {
  const largest = Math.max(...sections.flatMap(({ bars }) => bars.map(({ value }) => value)), 0);
  const longest = Math.max(...sections.map(({ label }) => label.length), 0);
  const labelWidth = Math.min(labelWidthMax, longest * perCharacter + 12);
  const scale = largest === 0 ? 0 : (width - labelWidth - endWidth) / largest;
  const lines = [
    textElement({ x: 0, y: 16, text: title, kind: "t" }),
    textElement({ x: 0, y: 34, text: unit, kind: "q" }),
  ];
  const named = legend(series, 56);
  lines.push(...named.lines);
  let { y } = named;
  const top = y;
  for (const { label, bars } of sections) {
    const middle = y + (bars.length * (barHeight + barGap)) / 2 + 3;
    lines.push(textElement({ x: labelWidth - 10, y: middle, text: label, anchor: "end" }));
    for (const { series: index, value, label: end } of bars) {
      const long = Math.max(1, Math.round(value * scale));
      lines.push(
        `<rect x="${labelWidth}" y="${y}" width="${long}" height="${barHeight}" rx="2" class="${seriesClass(index)}"/>`,
        textElement({ x: labelWidth + long + 6, y: y + 11, text: end, kind: "q" }),
      );
      y += barHeight + barGap;
    }
    y += sectionGap;
  }
  const bottom = y - sectionGap;
  lines.push(`<path d="M${labelWidth} ${top}V${bottom}" class="a"/>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 4}" width="${width}" height="${bottom + 4}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${style()}</style>`,
    ...lines,
    "</svg>",
    "",
  ].join("\n");
}
