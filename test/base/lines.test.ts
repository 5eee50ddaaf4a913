/** Lines to standard error: written whole and in batches, without blocking. docs/operate.md "Access log". */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const source = new URL("../../src/base/lines.ts", import.meta.url).href;

/** A program that writes `count` numbered lines, reports that on standard output, and ends once its input does. */
const program = (count: number): string[] => [
  "--input-type=module",
  "--eval",
  `import { errorLines } from "${source}";
  const lines = errorLines();
  for (let at = 0; at < ${count}; at += 1) lines.write(JSON.stringify({ at, filler: "x".repeat(200) }) + "\\n");
  process.stdout.write("written");
  process.stdin.on("end", () => { lines.flushSync(); }).resume();`,
];

/** The numbers of the lines. Throws if a line is not whole. */
const numbersIn = (text: string): number[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { at: number }).at);

const inOrder = (numbers: readonly number[]): number[] =>
  [...new Set(numbers)].toSorted((one, other) => one - other);
/**
 * Counts the jumps in the numbers. At the end the process itself writes the remaining lines, while a thread may still write one
 * text. If that text lands among them, the numbers jump to it, back, and on.
 */
const jumps = (numbers: readonly number[]): number =>
  numbers.filter((number, at) => at > 0 && number !== numbers[at - 1]! + 1).length;
const jumpsMax = 3;
const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

it("all lines reach a socket, in order except those that a thread writes at the end", () => {
  const { stderr, status } = spawnSync(process.execPath, program(5_000), {
    input: "",
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  expect(status).toBe(0);
  const numbers = numbersIn(stderr);
  expect(numbers.toSorted((one, other) => one - other)).toEqual(upTo(5_000));
  expect(jumps(numbers)).toBeLessThanOrEqual(jumpsMax);
});

it("whole lines reach a pipe in order, even if its reader starts late", () => {
  const [command, ...rest] = [process.execPath, ...program(40_000)].map(
    (word) => `'${word.replaceAll("'", String.raw`'\''`)}'`,
  );
  const directory = mkdtempSync(join(tmpdir(), "tollgate-lines-"));
  const said = join(directory, "said");
  const reader = `until test -s '${said}'; do sleep 0.01; done; cat`;
  const late = `(${command} ${rest.join(" ")} </dev/null 2>&1 >'${said}') | (${reader})`;
  const { stdout } = spawnSync("sh", ["-c", late], { encoding: "utf8", maxBuffer: 2 ** 26 });
  rmSync(directory, { recursive: true });
  const numbers = numbersIn(stdout);
  expect(numbers.length).toBeGreaterThan(17_000);
  expect(numbers.length).toBeLessThan(21_000);
  expect(numbers).toEqual(inOrder(numbers));
});

it("all lines are appended to a file, in order except those that a thread writes at the end", () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-lines-"));
  const path = join(directory, "log");
  const file = openSync(path, "a");
  const { status } = spawnSync(process.execPath, program(1_000), {
    input: "",
    stdio: ["pipe", "pipe", file],
  });
  closeSync(file);
  const text = readFileSync(path, "utf8");
  rmSync(directory, { recursive: true });
  expect(status).toBe(0);
  const numbers = numbersIn(text);
  expect(numbers.toSorted((one, other) => one - other)).toEqual(upTo(1_000));
  expect(jumps(numbers)).toBeLessThanOrEqual(jumpsMax);
});

/** Starts the program with a pipe that is not read. Resolves when the program has written all of its lines. */
async function startUnread(count: number) {
  const child = spawn(process.execPath, program(count), { stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return { child, ended };
}

it("a reader that does not read blocks nothing; whole lines up to a limit reach it, the rest is lost", async () => {
  const { child, ended } = await startUnread(40_000);
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (read: string) => (text += read));
  child.stdin.end();
  expect(await ended).toBe(0);
  const numbers = numbersIn(text);
  // The capacity of the pipe plus four megabytes, in lines of 220 bytes.
  expect(numbers.length).toBeGreaterThan(17_000);
  expect(numbers.length).toBeLessThan(21_000);
  expect(new Set(numbers).size).toBe(numbers.length);
  // The lost lines add one jump.
  expect(jumps(numbers)).toBeLessThanOrEqual(jumpsMax + 1);
});

it("a reader that has closed the pipe loses lines and does not stop the process", async () => {
  const { child, ended } = await startUnread(40_000);
  child.stderr.destroy();
  child.stdin.end();
  expect(await ended).toBe(0);
});
