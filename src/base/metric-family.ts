/**
 * Metrics as plain data: one process measures them, another adds them to its own and writes the sum in Prometheus' text format. The name
 * identifies a family, the text before the value a line.
 */
import { getOrCreate } from "./memoize.ts";

/** How the values of several processes are joined. */
export type Joined = "sum" | "max" | "min";

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly joined: Joined;
  /** Each line: its text before the value, `name_bucket{le="1"}`, the value, and an exemplar in OpenMetrics form. */
  readonly lines: readonly (readonly [text: string, value: number, exemplar?: string])[];
}

const join: Readonly<Record<Joined, (left: number, right: number) => number>> = {
  sum: (left, right) => left + right,
  max: Math.max,
  min: Math.min,
};

/** Joins the families of several processes. Histograms are added, because all have the same bounds. */
export function joinFamilies(all: readonly (readonly MetricFamily[])[]): MetricFamily[] {
  const joined = new Map<string, { family: MetricFamily; lines: Map<string, Joining> }>();
  for (const family of all.flat()) {
    const { lines } = getOrCreate(joined, family.name, () => ({ family, lines: new Map() }));
    for (const [text, value, exemplar] of family.lines) {
      const known = lines.get(text);
      const sum = known === undefined ? value : join[family.joined](known.value, value);
      lines.set(text, { value: sum, exemplar: exemplar ?? known?.exemplar });
    }
  }
  return [...joined.values()].map(({ family, lines }) => ({ ...family, lines: linesOf(lines) }));
}

interface Joining {
  readonly value: number;
  readonly exemplar: string | undefined;
}

const linesOf = (lines: ReadonlyMap<string, Joining>): MetricFamily["lines"] =>
  [...lines].map(([text, { value, exemplar }]) =>
    exemplar === undefined ? [text, value] : [text, value, exemplar],
  );

const grows = new Set(["counter", "histogram"]);

/** Returns the families that only grow: their counts stay valid after their process has ended. */
export const growingFamilies = (families: readonly MetricFamily[]): MetricFamily[] =>
  families.filter(({ type }) => grows.has(type));

/** Returns labels in their form between the braces. */
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

/** Writes all families in Prometheus' text format, or as OpenMetrics, which alone has exemplars. */
export const renderFamilies = (
  families: readonly MetricFamily[],
  format: "text" | "openmetrics" = "text",
): string =>
  format === "text"
    ? families
        .map((family) => [...head(family, family.name), ...plain(family), ""].join("\n"))
        .join("\n")
    : `${families.flatMap(openLines).join("\n")}\n# EOF\n`;

const head = ({ help, type }: MetricFamily, name: string): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

const plain = ({ lines }: MetricFamily): string[] =>
  lines.map(([text, value]) => `${text} ${numberText(value)}`);

/** In OpenMetrics a counter's family has its name without `_total`. */
function openLines(family: MetricFamily): string[] {
  const { name, type, lines } = family;
  const samples = lines.map(([text, value, exemplar]) => {
    const line = `${text} ${numberText(value)}`;
    return exemplar === undefined ? line : `${line} # ${exemplar}`;
  });
  return [...head(family, type === "counter" ? name.replace(/_total$/, "") : name), ...samples];
}
