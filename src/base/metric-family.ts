/**
 * Metrics as plain data: what one process measured, so that another can add it to its own and write the sum in Prometheus'
 * text format. A family is known by its name, a line by its text up to the value.
 */

/** How the values of several processes become one. */
export type Joined = "sum" | "max" | "min";

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly joined: Joined;
  /** The text of each line up to its value, `name_bucket{le="1"}`, and the value. */
  readonly lines: readonly (readonly [text: string, value: number])[];
}

const join: Readonly<Record<Joined, (left: number, right: number) => number>> = {
  sum: (left, right) => left + right,
  max: Math.max,
  min: Math.min,
};

/** The families of several processes as those of one. Histograms are sums, because all have the same bounds. */
export function joinFamilies(all: readonly (readonly MetricFamily[])[]): MetricFamily[] {
  const joined = new Map<string, { family: MetricFamily; lines: Map<string, number> }>();
  for (const family of all.flat()) {
    let entry = joined.get(family.name);
    if (entry === undefined) joined.set(family.name, (entry = { family, lines: new Map() }));
    for (const [text, value] of family.lines) {
      const known = entry.lines.get(text);
      entry.lines.set(text, known === undefined ? value : join[family.joined](known, value));
    }
  }
  return [...joined.values()].map(({ family, lines }) => ({ ...family, lines: [...lines] }));
}

const grows = new Set(["counter", "histogram"]);

/** Those that only grow: what they counted counts on when their process is gone. */
export const growingFamilies = (families: readonly MetricFamily[]): MetricFamily[] =>
  families.filter(({ type }) => grows.has(type));

/** Labels as they are written between the braces. */
export const labelText = (labels: Readonly<Record<string, string | number>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${String(value).replace(/[\\"\n]/g, escaped)}"`)
    .join(",");

const escaped = (character: string): string => (character === "\n" ? "\\n" : `\\${character}`);

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

/** All of them in Prometheus' text format. */
export const renderFamilies = (families: readonly MetricFamily[]): string =>
  families
    .map(({ name, help, type, lines }) =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...lines.map(([text, value]) => `${text} ${numberText(value)}`),
        "",
      ].join("\n"),
    )
    .join("\n");
