/** Runs one job in a vitest process, and watches it: a mutant that loops forever stops the signs of life. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, existsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jobVariable, type Job, type Line } from "./job.ts";

/** A process without a new line for this many ms has hung. */
const silenceMaxMs = 60_000;
/** Milliseconds until its first line: on a busy machine vitest takes minutes to start. */
const startMaxMs = 300_000;

interface Outcome {
  /** True if it was silent for too long and was killed. */
  readonly hung: boolean;
  /** The end of its output, to explain a process that did nothing. */
  readonly printed: string;
}

/** Runs the job to its end, and calls `onLine` for each line as it is written. */
export async function runJob(
  job: Omit<Job, "results">,
  onLine: (line: Line) => void,
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-mutants-"));
  const results = join(folder, "results.jsonl");
  const path = join(folder, "job.json");
  writeFileSync(path, JSON.stringify({ ...job, results } satisfies Job));
  const vitest = join(job.root, "node_modules/vitest/vitest.mjs");
  const config = join(job.root, "scripts/mutants/vitest.config.ts");
  const child = spawn(process.execPath, [vitest, "run", "--config", config], {
    cwd: job.root,
    env: { ...process.env, [jobVariable]: path },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let printed = "";
  const keep = (bytes: Buffer) => (printed = (printed + bytes.toString()).slice(-4_000));
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const end = () => {
    try {
      process.kill(-child.pid!, "SIGKILL");
    } catch {
      // It has already ended.
    }
  };
  process.once("exit", end);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  let read = 0;
  let lastAt = performance.now();
  let hung = false;
  const look = (): void => {
    const text = existsSync(results) ? readFileSync(results, "utf8") : "";
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (whole.length > read) lastAt = performance.now();
    for (const line of whole.slice(read).split("\n")) if (line !== "") onLine(JSON.parse(line));
    read = whole.length;
    hung ||= performance.now() - lastAt > (read === 0 ? startMaxMs : silenceMaxMs);
    if (hung) end();
  };
  const watch = setInterval(look, 250);
  await new Promise((resolve) => child.once("exit", resolve));
  clearInterval(watch);
  look();
  end();
  process.off("exit", end);
  rmSync(folder, { recursive: true, force: true });
  return { hung, printed };
}
