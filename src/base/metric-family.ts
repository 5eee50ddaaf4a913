/**
 * Metrics as plain data: what one process measured, so that another can add it to its own and write the sum in Prometheus'
 * text format. A family is known by its name, a line by its text up to the value.
 */
import { getOrMake } from "./made-once.ts";

/** How the values of several processes become one. */
export type Joined = "sum" | "max" | "min";

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly joined: Joined;
  /** The text of each line up to its value, `name_bucket{le="1"}`, the value, and an exemplar as OpenMetrics has it. */
  readonly lines: readonly (readonly [text: string, value: number, exemplar?: string])[];
}

const join: Readonly<Record<Joined, (left: number, right: number) => number>> = {
  sum: (left, right) => left + right,
  max: Math.max,
  min: Math.min,
};

/** The families of several processes as those of one. Histograms are sums, because all have the same bounds. */
export function joinFamilies(all: readonly (readonly MetricFamily[])[]): MetricFamily[] {
  const joined = new Map<string, { family: MetricFamily; lines: Map<string, Joining> }>();
  for (const family of all.flat()) {
    const { lines } = getOrMake(joined, family.name, () => ({ family, lines: new Map() }));
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

/** All of them in Prometheus' text format, or as OpenMetrics, which alone has exemplars. */
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

/** A counter's family has its name without `_total` there. */
function openLines(family: MetricFamily): string[] {
  const { name, type, lines } = family;
  const samples = lines.map(([text, value, exemplar]) => {
    const line = `${text} ${numberText(value)}`;
    return exemplar === undefined ? line : `${line} # ${exemplar}`;
  });
  return [...head(family, type === "counter" ? name.replace(/_total$/, "") : name), ...samples];
}
