// The log: JSON lines on standard error, without credentials.
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";

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
