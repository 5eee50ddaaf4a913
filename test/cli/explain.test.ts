/** Errors that end a command: one line if an operator can fix the cause, and a stack trace if only we can. docs/cli.md. */
import type pg from "pg";
import { expect, it } from "vitest";
import { explain } from "../../src/cli/explain.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { listeningBy, ofMetrics, ofSandbox } from "../../src/cli/listening-settings.ts";
import { refuseOneAddress } from "../../src/cli/metrics-address.ts";
import { createDatabase } from "../../src/storage/database.ts";
import type { Signals } from "../../src/storage/signals.ts";

const coded = (code: string, rest = {}) => Object.assign(new Error(code), { code, ...rest });

it("a pooler with too few sessions for a start is explained in one line, with the setting to raise", async () => {
  const { text, exitCode } = await explain(new Error("timeout exceeded when trying to connect"));
  expect(text).toMatch(/^the database cannot be used: timeout exceeded .*default_pool_size/);
  expect(exitCode).toBe(1);
});

it("a removed working directory is explained in one line", async () => {
  const { text } = await explain(coded("ENOENT", { syscall: "uv_cwd" }));
  expect(text).toBe("the working directory was removed; change to one that exists");
});

it("a server that stops during a start is explained in one line", async () => {
  const { text } = await explain(coded("57P01"));
  expect(text).toBe(
    "the database cannot be used: 57P01; wait: the server stops or starts; its own log says why",
  );
});

it("a role that lost its rights is explained in one line", async () => {
  const { text } = await explain(coded("42501"));
  expect(text).toMatch(/^the database cannot be used: 42501; .*GRANT/);
});

it("a connection to the database that is cut in a command is explained in one line, also outside of statements", async () => {
  const cut = (): Promise<never> =>
    Promise.reject(coded("ECONNRESET", { syscall: "read", message: "read ECONNRESET" }));
  const database = createDatabase({
    pool: { query: cut, connect: cut } as unknown as pg.Pool,
    signals: () => ({}) as Signals,
    closeRest: () => Promise.resolve(),
  });
  for (const work of [
    database.query("select 1"),
    database.query("select $1", [1]),
    database.transaction(cut),
  ]) {
    const { text } = await explain(await work.catch((error: unknown) => error));
    expect(text).toBe(
      "the database cannot be used: read ECONNRESET; check host and port, and that the server runs",
    );
  }
});

it.each([
  [new Error("something of ours"), undefined],
  [coded("42P01"), undefined],
  [coded("ECONNRESET", { syscall: "read" }), undefined],
  [coded("EPIPE", { syscall: "write" }), "whoever read the output has gone"],
  [
    coded("EMFILE", { syscall: "open", path: "/etc/tollgate.yaml" }),
    "this process has as many files open as it may, by `ulimit -n` (EMFILE); raise that limit",
  ],
  [
    coded("ENFILE", { syscall: "spawn initdb" }),
    "this machine has as many files open as it may, by fs.file-max (ENFILE); raise that limit",
  ],
  [
    coded("EACCES", { syscall: "open", path: "/exports/.part-1" }),
    "/exports/.part-1 cannot be used: this user has no right to it (EACCES)",
  ],
])("%s keeps its stack trace, or gets its usual explanation", async (error, text) => {
  expect(await explain(error)).toEqual({ text, exitCode: 1 });
});

it.each([
  ["EADDRINUSE", /^port 9090 on 10\.0\.0\.9 is in use .*choose another with TOLLGATE_METRICS_PORT/],
  ["EADDRNOTAVAIL", /^10\.0\.0\.9 is no address of this machine; set TOLLGATE_METRICS_HOST$/],
  ["EACCES", /choose one above 1023 with TOLLGATE_METRICS_PORT$/],
])(
  "%s at the metrics' own address names its variables, not those of the gateway",
  async (code, words) => {
    const error = coded(code, { syscall: "listen", address: "10.0.0.9", port: 9090 });
    const failed = listeningBy(ofMetrics, () => Promise.reject(error));
    expect((await explain(await failed.catch((thrown: unknown) => thrown))).text).toMatch(words);
  },
);

it("the sandbox's address is named by its options: it reads no variables", async () => {
  const error = coded("EADDRINUSE", { syscall: "listen", address: "127.0.0.1", port: 8081 });
  const failed = listeningBy(ofSandbox, () => Promise.reject(error));
  expect((await explain(await failed.catch((thrown: unknown) => thrown))).text).toMatch(
    /choose another with --port \(0 takes any that is free\)$/,
  );
});

it("the variable that Kubernetes sets for a Service named tollgate-metrics is not taken for the metrics' port", () => {
  const portOf = (TOLLGATE_METRICS_PORT: string) => readEnvironment({ TOLLGATE_METRICS_PORT });
  expect(portOf("tcp://10.152.183.152:9090").metrics.own).toBeUndefined();
  expect(() => portOf("http://10.0.0.1")).toThrow("TOLLGATE_METRICS_PORT");
});

it("a TOLLGATE_METRICS_PORT that is the gateway's own port is refused by name", () => {
  const check = (variables: Record<string, string>) => (): void =>
    refuseOneAddress(readEnvironment({ TOLLGATE_METRICS_PORT: "9000", ...variables }));
  const refusal = /^TOLLGATE_METRICS_PORT is 9000, which is the gateway's own port/;
  expect(check({ PORT: "9000" })).toThrow(refusal);
  expect(check({ PORT: "9000", HOST: "0.0.0.0" })).toThrow(refusal);
  expect(check({ PORT: "9000", HOST: "10.0.0.9" })).not.toThrow();
  expect(check({ PORT: "0", TOLLGATE_METRICS_PORT: "0" })).not.toThrow();
  expect(check({})).not.toThrow();
});
