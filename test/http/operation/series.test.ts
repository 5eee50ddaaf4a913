/** Histograms: the exemplars of buckets. */
import { expect, it } from "vitest";
import { histograms } from "../../../src/http/operation/series.ts";

it("a bucket keeps its exemplar for a second and then takes the next one, also if the clock is set back", () => {
  const histogram = histograms({ name: "seconds", help: "Some." }, [1]).series({});
  const shown = (): (string | undefined)[] =>
    histogram.lines("seconds", "").map(([, , exemplar]) => exemplar);
  histogram.observe(0.5);
  expect(shown()[0]).toBeUndefined();
  histogram.observe(0.25, { traceId: "a", ms: 10_000 });
  histogram.observe(0.5, { traceId: "b", ms: 10_999 });
  histogram.observe(2, { traceId: "b", ms: 10_999 });
  const first = '{trace_id="a"} 0.25 10.000';
  expect(shown()).toEqual([first, '{trace_id="b"} 2 10.999', undefined, undefined]);
  histogram.observe(0.5, { traceId: "c", ms: 11_000 });
  expect(shown()[0]).toBe('{trace_id="c"} 0.5 11.000');
  histogram.observe(0.75, { traceId: "d", ms: 9_000 });
  expect(shown()[0]).toBe('{trace_id="d"} 0.75 9.000');
});
