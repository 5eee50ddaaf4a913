/** Counts calls by the tags that the operator allows in metrics, in a bounded number of series. docs/tags.md. */
import type { MetricFamily } from "../../base/metric-family.ts";
import { counters, usdCounters, type Counter } from "./series.ts";

/** Values of one tag that get their own series; all further values count as `other`. */
const valuesMax = 100;
const other = "other";
/** Most characters of a value; longer values are cut. */
const valueMax = 128;

/** The parts of a call that are counted. */
export interface TaggedCall {
  readonly status: string;
  readonly tags?:
    | {
        readonly tags?: Readonly<Record<string, string>> | undefined;
        readonly endUser?: string | undefined;
      }
    | undefined;
  readonly costNano: bigint;
}

export interface TaggedSeries {
  /** Counts one ended call, under each allowed tag that it has. */
  observe(call: TaggedCall): void;
  read(): MetricFamily[];
}

/** Makes a value printable on one line: replaces control characters, and halves of surrogate pairs. */
const printable = (value: string): string =>
  value
    .slice(0, valueMax)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, " ");

const ownOf = (
  tags: Readonly<Record<string, string>> | undefined,
  name: string,
): string | undefined => (tags !== undefined && Object.hasOwn(tags, name) ? tags[name] : undefined);

/** Creates the series for the tags in `names`; the name `end_user` means the end user. */
export function createTaggedSeries(names: readonly string[]): TaggedSeries {
  const calls = counters({
    name: "tollgate_tagged_calls_total",
    help: "Calls and tasks, by the tags that tags.metrics allows.",
  });
  const cost = usdCounters({
    name: "tollgate_tagged_cost_usd_total",
    help: "What calls and tasks cost, in USD, by the tags that tags.metrics allows.",
  });
  const known = new Map(names.map((name) => [name, new Set<string>()]));

  function labelOf(values: Set<string>, said: string): string {
    const value = printable(said);
    if (!values.has(value) && values.size >= valuesMax) return other;
    values.add(value);
    return value;
  }

  function count(call: TaggedCall, tag: string, value: string): void {
    const add = (counter: Counter, by: number) => (counter.total += by);
    add(calls.series({ tag, value, status: call.status }), 1);
    if (call.costNano > 0n) add(cost.series({ tag, value }), Number(call.costNano));
  }

  return {
    observe(call) {
      const { tags: said } = call;
      if (said === undefined) return;
      for (const [name, values] of known) {
        const value = name === "end_user" ? said.endUser : ownOf(said.tags, name);
        if (value !== undefined) count(call, name, labelOf(values, value));
      }
    },
    read: () => (names.length === 0 ? [] : [calls.read(), cost.read()]),
  };
}
