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
  const head = ["", "asked/s", "served/s", "ms", "p99 ms", "503/s", "ms", "p99 ms", "other"];
  const lines = alignedLines([
    head,
    row("half of what it can take", report.normal),
    row("twice", report.overload),
    row("half again", report.after),
  ]);
  const said = `It can take ${rounded(report.capacity)} calls a second; the provider answers after ${report.providerMs} ms.`;
  console.log(
    ["", said, ...lines, "", `As before after ${report.recoveredInSeconds} s.`].join("\n"),
  );
}
