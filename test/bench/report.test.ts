/** The benchmark's output: the tables and charts of docs/performance.md, made from the stored results of each group's last run. */
import { describe, expect, it } from "vitest";
import type { Figures, Row } from "../../bench/figures.ts";
import { chartSvg } from "../../bench/report/chart.ts";
import { chartsOf, keptWith, pageWith } from "../../bench/report/page.ts";
import { reportOf, type Report } from "../../bench/report/shown.ts";
import { textReport } from "../../bench/report/table.ts";
import { chooseScenarios } from "../../bench/scenarios.ts";

const subjects = [
  { name: "bare proxy" },
  { name: "Tollgate, PostgreSQL", against: "abc1234, PostgreSQL" },
  { name: "abc1234, PostgreSQL" },
];

const facts = {
  date: "2026-01-02",
  commit: "def5678",
  node: "v26.10.0",
  machine: "2 x a processor",
  pinned: true,
  rounds: 2,
  seconds: 3,
  subjects,
};

const figures = (perSecond: number, parts: Partial<Figures> = {}): Figures => ({
  perSecond,
  medianMs: 2,
  p99Ms: 5,
  processorUs: 40,
  loadBusy: 0.5,
  failures: 0,
  ...parts,
});

function reportWith(scenario: string, gateway: Partial<Figures> = {}): Report {
  const rowOf = (subject: string, rates: readonly number[], parts?: Partial<Figures>): Row => ({
    scenario: chooseScenarios([scenario])[0]!,
    subject,
    rounds: rates.map((rate) => figures(rate, parts)),
  });
  return reportOf(facts, [
    rowOf("bare proxy", [1000, 1000]),
    rowOf("Tollgate, PostgreSQL", [400, 600], gateway),
    rowOf("abc1234, PostgreSQL", [200, 200]),
  ]);
}

describe("a report", () => {
  it("compares each subject with the bare proxy and with the given commit", () => {
    const [bare, gateway, commit] = reportWith("caps@128").rows;
    expect(bare!.toBare).toBeUndefined();
    expect(gateway!.toBare?.perSecond).toBe(0.5);
    expect(gateway!.toCommit?.perSecond).toBe(2.5);
    expect(commit!.toBare?.perSecond).toBe(0.2);
    expect(commit!.toCommit).toBeUndefined();
  });

  it("is a readable table", () => {
    const text = textReport(reportWith("caps@128"));
    expect(text).toContain("100 keys with hard caps, 128 connections (caps@128)");
    expect(text).toMatch(/Tollgate, PostgreSQL +500 +50 % +x 2\.50 +40\.0/);
    expect(text).toContain("2 rounds of 3 s, the measured process alone on one core");
  });

  it("says when the load generator is the bottleneck, and how many answers were wrong", () => {
    const busy = reportWith("caps@128", { loadBusy: 0.99, subjectBusy: 0.5 });
    expect(textReport(busy)).toContain("the load generator is the bottleneck");
    expect(textReport(reportWith("caps@128", { failures: 3 }))).toContain("6 wrong answers");
    const others = textReport({ ...reportWith("caps@128"), othersBusy: 0.8 });
    expect(others).toContain("Other processes used 0.8 cores during the run.");
  });
});

describe("the page", () => {
  const page = "before\n\n<!-- figures: old -->\nold figures\n<!-- end of figures -->\n\nafter\n";
  const kept = keptWith({}, reportWith("caps@128"));

  it("gets the tables between its marks; the rest stays unchanged", () => {
    const written = pageWith(page, kept);
    expect(written.startsWith("before\n\n<!-- figures:")).toBe(true);
    expect(written.endsWith("<!-- end of figures -->\n\nafter\n")).toBe(true);
    expect(written).not.toContain("old figures");
    expect(written).toContain("![Whole answers](performance-calls.svg)");
    expect(written).toContain("|  | Tollgate, PostgreSQL | 500 | 50 % | x 2.50 |");
    expect(pageWith(written, kept)).toBe(written);
    expect(() => pageWith("no marks", kept)).toThrow("marks");
  });

  it("keeps the groups of earlier runs that a later run did not measure", () => {
    const both = keptWith(kept, reportWith("held", { lateP99Ms: 12, streamKb: 30 }));
    expect(Object.keys(both)).toEqual(["calls", "held"]);
    expect([...chartsOf(both).keys()]).toEqual(["performance-calls.svg", "performance-held.svg"]);
    const again = keptWith(both, { ...reportWith("caps@128"), date: "2026-01-03" });
    expect(again.calls?.date).toBe("2026-01-03");
    expect(again.held?.date).toBe("2026-01-02");
    expect(again.calls?.rows[0]).not.toHaveProperty("rounds");
  });
});

describe("a chart", () => {
  const svg = chartSvg({
    title: "A < B",
    unit: "things & more",
    series: ["one", "two"],
    sections: [
      {
        label: "first",
        bars: [
          { series: 0, value: 10, label: "10" },
          { series: 1, value: 5, label: "5" },
        ],
      },
    ],
  });

  it("has bars in proportion to their values, and colours for light and dark", () => {
    const widths = [...svg.matchAll(/width="(\d+)" height="13"/g)].map(([, text]) => Number(text));
    expect(widths).toHaveLength(2);
    expect(widths[0]! / widths[1]!).toBeCloseTo(2, 1);
    expect(svg).toContain("prefers-color-scheme:dark");
  });

  it("is well-formed, with markup in texts escaped", () => {
    expect(svg).toContain("<title>A &lt; B</title>");
    expect(svg).toContain("things &amp; more");
    const opened = svg.match(/<(?:text|title|style|svg)\b/g)!.length;
    const closed = svg.match(/<\/(?:text|title|style|svg)>/g)!.length;
    expect(closed).toBe(opened);
  });
});
