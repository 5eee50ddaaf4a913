/** Metrics of several processes, merged as if they were of one. */
import { expect, it } from "vitest";
import {
  growingFamilies,
  joinFamilies,
  labelText,
  renderFamilies,
  type MetricFamily,
} from "../../src/base/metric-family.ts";

const family = (more: Partial<MetricFamily>): MetricFamily => ({
  name: "calls_total",
  help: "Calls.",
  type: "counter",
  joined: "sum",
  lines: [],
  ...more,
});

it("joining adds up equal lines, and keeps lines that only one process has", () => {
  const one = family({ lines: [['calls_total{model="a"}', 2]] });
  const other = family({
    lines: [
      ['calls_total{model="a"}', 3],
      ['calls_total{model="b"}', 1],
    ],
  });
  expect(joinFamilies([[one], [other]])).toEqual([
    family({
      lines: [
        ['calls_total{model="a"}', 5],
        ['calls_total{model="b"}', 1],
      ],
    }),
  ]);
});

it("joining takes the maximum or the minimum of metrics whose sum means nothing", () => {
  const lag = (joined: "max" | "min", value: number) =>
    family({ name: "lag", type: "gauge", joined, lines: [["lag", value]] });
  const joined = (how: "max" | "min") =>
    joinFamilies([[lag(how, 1)], [lag(how, 4)], [lag(how, 2)]]);
  expect(joined("max")[0]!.lines).toEqual([["lag", 4]]);
  expect(joined("min")[0]!.lines).toEqual([["lag", 1]]);
});

it("only growing metrics of a process that has ended are kept", () => {
  const families = ["counter", "histogram", "gauge"].map((type) => family({ name: type, type }));
  expect(growingFamilies(families).map(({ type }) => type)).toEqual(["counter", "histogram"]);
});

it("families are written in Prometheus' text format", () => {
  expect(labelText({ model: 'a"b\\c\nd', major: 26 })).toBe('model="a\\"b\\\\c\\nd",major="26"');
  const odd: MetricFamily["lines"] = [
    ["a", Number.NaN],
    ["b", Number.POSITIVE_INFINITY],
    ["c", 0.5],
  ];
  expect(renderFamilies([family({ lines: odd })])).toBe(
    "# HELP calls_total Calls.\n# TYPE calls_total counter\na NaN\nb +Inf\nc 0.5\n",
  );
});
