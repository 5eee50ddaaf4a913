/**
 * Counters and histograms in Prometheus' text format, for what happens many thousand times a second: a series is looked
 * up once and then only counted, where prom-client checks and joins its labels each time.
 */
import { getOrMake } from "../../base/made-once.ts";
import { labelText, type MetricFamily } from "../../base/metric-family.ts";

/** Labels by name, in the order they are written. */
type Labels = Readonly<Record<string, string>>;

/** One series of a counter. */
export interface Counter {
  total: number;
}

/** Series of one name. */
interface Family<Series> {
  /** The series with these labels; made with its first use. */
  series(labels: Labels): Series;
  /** All series as data. */
  read(): MetricFamily;
}

interface About {
  readonly name: string;
  readonly help: string;
}

type Line = readonly [text: string, value: number, exemplar?: string];

/** Series under the text of their labels, and the lines of each. */
function family<Series>(
  { name, help }: About,
  type: string,
  make: () => Series,
  lines: (series: Series, labels: string) => readonly Line[],
): Family<Series> {
  const all = new Map<string, Series>();
  return {
    series: (labels) => getOrMake(all, labelText(labels), make),
    read: () => ({
      name,
      help,
      type,
      joined: "sum",
      lines: [...all].flatMap(([labels, series]) => lines(series, labels)),
    }),
  };
}

/** A counter: a total that only grows. It is counted in parts of which `partsOfOne` are shown as 1: whole numbers add up exactly. */
export function counters(about: About, partsOfOne = 1): Family<Counter> {
  const make = (): Counter => ({ total: 0 });
  return family(about, "counter", make, ({ total }, labels) => [
    [`${about.name}{${labels}}`, total / partsOfOne],
  ]);
}

/** Dollars, counted in nano-dollars. */
export const usdCounters = (about: About): Family<Counter> => counters(about, 1e9);

/** What a value is an example of: its trace, and when it was, in milliseconds since the Unix epoch. */
export interface Example {
  readonly traceId: string;
  readonly ms: number;
}

const exemplarText = ({ traceId, ms }: Example, value: number): string =>
  `{trace_id="${traceId}"} ${value} ${(ms / 1000).toFixed(3)}`;

/** An example stands for so long before another takes its place: the newest would be replaced many thousand times before it is read. */
const exampleKeptMs = 1_000;

/** One series of a histogram. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** By the first bound that is not exceeded; the last for what is above all. */
  readonly #counts: number[];
  /** A recent value of each bucket that belongs to a trace, and of what. */
  readonly #examples: (Example | undefined)[] = [];
  readonly #exampleValues: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
    this.#exampleValues = new Float64Array(bounds.length + 1);
  }

  /** @param example whose value it is, where that is traced: one object for all values of a call */
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

  /** The lines of this series: how many were at most each bound, their sum and their count. */
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

/** A histogram: how many values were at most as large as each bound. */
export function histograms(about: About, bounds: readonly number[]): Family<Histogram> {
  const make = (): Histogram => new Histogram(bounds);
  return family(about, "histogram", make, (series, labels) => series.lines(about.name, labels));
}
