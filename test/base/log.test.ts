// The log: JSON lines on standard error, without credentials.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

const logModule = new URL("../../src/base/log.ts", import.meta.url).href;

/** The lines of a process that logs `fields` once at each level. */
function logged(fields: object, env: Record<string, string> = {}): Record<string, unknown>[] {
  const script = `
    const { createLog } = await import(${JSON.stringify(logModule)});
    const log = createLog();
    for (const level of ["debug", "info", "warn", "error"]) log[level](${JSON.stringify(fields)}, level);
  `;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", script],
    { encoding: "utf8", env: { ...process.env, ...env } },
  );
  expect(stdout).toBe("");
  return stderr
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("the log", () => {
  it("writes one JSON object a line to standard error, with the time in UTC", () => {
    const lines = logged({ call: "req_1" }, { TOLLGATE_LOG_LEVEL: "" });
    expect(lines.map(({ msg }) => msg)).toEqual(["info", "warn", "error"]);
    expect(lines[0]).toMatchObject({ call: "req_1" });
    expect(lines[0]!["time"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("writes the levels that TOLLGATE_LOG_LEVEL selects", () => {
    const messages = (level: string) =>
      logged({}, { TOLLGATE_LOG_LEVEL: level }).map(({ msg }) => msg);
    expect(messages("debug")).toEqual(["debug", "info", "warn", "error"]);
    expect(messages("error")).toEqual(["error"]);
    expect(messages("silent")).toEqual([]);
  });

  it("masks credentials, at the top and one level down", () => {
    const secrets = {
      authorization: "Bearer s3cret",
      api_key: "s3cret",
      apiKey: "s3cret",
      key: "s3cret",
    };
    const text = JSON.stringify(logged({ ...secrets, headers: secrets }));
    expect(text).not.toContain("s3cret");
    expect(text).toContain("[redacted]");
  });
});

describe.skipIf(process.platform === "win32")("a reader of the log that takes no lines", () => {
  /** More than a pipe or a socket takes, and less than what may wait. */
  const count = 4_000;
  const numbers = Array.from({ length: count }, (_, at) => at);
  const program = [
    "--input-type=module",
    "--eval",
    `const { createLog } = await import(${JSON.stringify(logModule)});
     const log = createLog("info");
     for (let at = 0; at < ${count}; at += 1) log.warn({ at, filler: "x".repeat(400) }, "ö");
     log.warn({ at: ${count}, filler: "ö".repeat(20_000) }, "long");
     process.stdout.write("logged");`,
  ];
  const numbersIn = (text: string): number[] =>
    text
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { at: number }).at);

  it("does not stop the process, whose end waits a while for it (socket)", async () => {
    const child = spawn(process.execPath, program, { stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const closed = once(child, "close");
    await once(child.stdout, "data");
    let text = "";
    child.stderr.setEncoding("utf8").on("data", (read: string) => (text += read));
    await closed;
    expect(numbersIn(text).toSorted((one, other) => one - other)).toEqual([...numbers, count]);
  });

  it("finds whole lines in their order once it reads again (pipe)", () => {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-log-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const said = join(directory, "said");
    const [command, ...rest] = [process.execPath, ...program].map(
      (word) => `'${word.replaceAll("'", String.raw`'\''`)}'`,
    );
    const late = `(${command} ${rest.join(" ")} 2>&1 >'${said}') | (until test -s '${said}'; do sleep 0.01; done; cat)`;
    const { stdout } = spawnSync("sh", ["-c", late], {
      encoding: "utf8",
      maxBuffer: 2 ** 26,
      timeout: 20_000,
    });
    expect(numbersIn(stdout)).toEqual([...numbers, count]);
  });
});
