/** Prints the results of the calls before, during and after the overload. */
import { alignedLines } from "../report/table.ts";
import type { OverloadReport, Phase } from "./run.ts";

const rounded = (value: number): string => (Number.isNaN(value) ? "" : String(Math.round(value)));

const row = (title: string, phase: Phase): string[] => [
  title,
  rounded(phase.askedPerSecond),
  rounded(phase.servedPerSecond),
  rounded(phase.servedMedianMs),
  rounded(phase.servedP99Ms),
  rounded(phase.refusedPerSecond),
  rounded(phase.refusedMedianMs),
  rounded(phase.refusedP99Ms),
  String(phase.failures),
];

/** Prints the table. */
export function printOverload(report: OverloadReport): void {
  const head = [
    "",
    "calls/s",
    "served/s",
    "median ms",
    "p99 ms",
    "503/s",
    "503 median ms",
    "503 p99 ms",
    "failures",
  ];
  const lines = alignedLines([
    head,
    row("at half of the capacity", report.normal),
    row("at twice the capacity", report.overload),
    row("at half again", report.after),
  ]);
  const said = `Capacity: ${rounded(report.capacity)} calls/s. The provider answers after ${report.providerMs} ms.`;
  console.log(
    [
      "",
      said,
      ...lines,
      "",
      `Latencies were normal again after ${report.recoveredInSeconds} s.`,
    ].join("\n"),
  );
}
