/**
 * Counters and histograms in Prometheus' text format, for events that happen many thousand times a second. A series is looked up once
 * and then only incremented, while prom-client checks and joins its labels each time.
 */
import { getOrCreate } from "../../base/memoize.ts";
import { labelText, type MetricFamily } from "../../base/metric-family.ts";

/** Labels by name, in output order. */
type Labels = Readonly<Record<string, string>>;

/** One series of a counter. */
export interface Counter {
  total: number;
}

/** Series of one name. */
interface Family<Series> {
  /** Returns the series with these labels; creates it at its first use. */
  series(labels: Labels): Series;
  /** All series as data. */
  read(): MetricFamily;
}

interface About {
  readonly name: string;
  readonly help: string;
}

type Line = readonly [text: string, value: number, exemplar?: string];

/** Creates a family: series by the text of their labels, and the lines of each. */
function family<Series>(
  { name, help }: About,
  type: string,
  make: () => Series,
  lines: (series: Series, labels: string) => readonly Line[],
): Family<Series> {
  const all = new Map<string, Series>();
  return {
    series: (labels) => getOrCreate(all, labelText(labels), make),
    read: () => ({
      name,
      help,
      type,
      joined: "sum",
      lines: [...all].flatMap(([labels, series]) => lines(series, labels)),
    }),
  };
}

/** A counter: a total that only grows. It is counted in units of 1 / `partsOfOne`: whole numbers add up exactly. */
export function counters(about: About, partsOfOne = 1): Family<Counter> {
  const make = (): Counter => ({ total: 0 });
  return family(about, "counter", make, ({ total }, labels) => [
    [`${about.name}{${labels}}`, total / partsOfOne],
  ]);
}

/** A counter of dollars, counted in nano-dollars. */
export const usdCounters = (about: About): Family<Counter> => counters(about, 1e9);

/** An exemplar: the trace of a value, and its time in milliseconds since the Unix epoch. */
export interface Example {
  readonly traceId: string;
  readonly ms: number;
}

const exemplarText = ({ traceId, ms }: Example, value: number): string =>
  `{trace_id="${traceId}"} ${value} ${(ms / 1000).toFixed(3)}`;

/** Milliseconds before a new exemplar replaces one: without it, thousands would replace each other between two scrapes. */
const exampleKeptMs = 1_000;

/** One series of a histogram. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** Counts by the first bound that the value does not exceed; the last is for values above all bounds. */
  readonly #counts: number[];
  /** A recent traced value of each bucket, and its trace. */
  readonly #examples: (Example | undefined)[] = [];
  readonly #exampleValues: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
    this.#exampleValues = new Float64Array(bounds.length + 1);
  }

  /** @param example the trace of the value, if any: one object for all values of a call */
  observe(value: number, example?: Example): void {
    let index = 0;
    while (index < this.#bounds.length && value > this.#bounds[index]!) index += 1;
    this.#counts[index]! += 1;
    this.#sum += value;
    if (example === undefined) return;
    const { ms = -Infinity } = this.#examples[index] ?? {};
    if (Math.abs(example.ms - ms) < exampleKeptMs) return;
    this.#examples[index] = example;
    this.#exampleValues[index] = value;
  }

  /** Returns the lines of this series: for each bound the count of values up to it, then the sum and the count. */
  lines(name: string, labels: string): readonly Line[] {
    let count = 0;
    const buckets = [...this.#bounds, "+Inf"].map((bound, index): Line => {
      count += this.#counts[index]!;
      const all = labels === "" ? `le="${bound}"` : `le="${bound}",${labels}`;
      const example = this.#examples[index];
      const text = `${name}_bucket{${all}}`;
      if (example === undefined) return [text, count];
      return [text, count, exemplarText(example, this.#exampleValues[index]!)];
    });
    const braces = labels === "" ? "" : `{${labels}}`;
    return [...buckets, [`${name}_sum${braces}`, this.#sum], [`${name}_count${braces}`, count]];
  }
}

/** A histogram: how many values were at most each bound. */
export function histograms(about: About, bounds: readonly number[]): Family<Histogram> {
  const make = (): Histogram => new Histogram(bounds);
  return family(about, "histogram", make, (series, labels) => series.lines(about.name, labels));
}
