/** Credentials of clouds are fetched for their providers before the first call. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import type { Provider } from "../../src/catalog/index.ts";
import { isAlive } from "../../src/base/process-alive.ts";
import { createPools, loadClouds } from "../../src/upstream/index.ts";
import { endingPrograms } from "../../src/upstream/identity/child-processes.ts";
import { identityOf, keepOnly } from "../../src/upstream/identity/index.ts";
import { eventually } from "../support/patience.ts";
import { provider } from "./media-support.ts";

const directory = mkdtempSync(join(tmpdir(), "tollgate-load-clouds-"));
afterAll(() => rmSync(directory, { recursive: true }));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const secret = "a-secret-of-the-file-77120";
const cloud: Provider = {
  ...provider("bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com"),
  access: {
    auth: { type: "aws", region: "us-east-1", service: "bedrock", profile: "models" },
    headers: { "x-house-key": secret },
    query: {},
    paths: {},
    request: { add: {}, remove: [] },
  },
};

it("the warning about a credential that cannot be fetched repeats no secret of the provider", async () => {
  const file = join(directory, "credentials");
  const program = `sh -c 'echo refused for ${secret} >&2; exit 1'`;
  writeFileSync(file, `[models]\ncredential_process = ${program}\n`);
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", file);
  vi.stubEnv("AWS_CONFIG_FILE", join(directory, "none"));
  const warnings: { err: Error; message: string }[] = [];
  const none = (): void => undefined;
  const log = {
    debug: none,
    info: none,
    error: none,
    warn: (fields: object, message: string) =>
      warnings.push({ ...(fields as { err: Error }), message }),
  };
  const pools = createPools();
  await loadClouds(pools, () => [cloud], log);
  await eventually(() => warnings.length > 0, "the warning");
  await pools.close();
  const { err, message } = warnings[0]!;
  expect(message).toBe("no credential for this provider yet");
  expect(err.message).toContain("refused for [credential]");
  expect(String((err.cause as Error).stack) + err.stack).not.toContain(secret);
});

it("a program that hangs instead of giving keys is ended when its time is over", async () => {
  const [file, told] = [join(directory, "credentials"), join(directory, "hanging")];
  const program = `exec sh -c 'echo $$ > ${told}; exec sleep 300'`;
  writeFileSync(file, `[models]\ncredential_process = ${program}\n`);
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", file);
  vi.stubEnv("AWS_CONFIG_FILE", join(directory, "none"));
  const pools = createPools();
  const identity = identityOf(cloud, pools)!;
  await identity.load();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const refused = identity.keep().catch((error: unknown) => String(error));
  const hanging = (): number => (existsSync(told) ? Number(readFileSync(told, "utf8")) : 0);
  await eventually(() => hanging() > 0, "it hangs");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await refused).toContain("no answer within 10000 ms");
  vi.useRealTimers();
  await eventually(() => !isAlive(hanging()), "it is gone");
  await pools.close();
});

it("the default chain's second try of a program that hangs is ended, too", async () => {
  const [file, told] = [join(directory, "default-credentials"), join(directory, "hanging-twice")];
  const program = `exec sh -c 'echo $$ >> ${told}; exec sleep 300'`;
  writeFileSync(file, `[default]\ncredential_process = ${program}\n`);
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", file);
  vi.stubEnv("AWS_CONFIG_FILE", join(directory, "none"));
  vi.stubEnv("AWS_PROFILE", "default");
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  const gone = new AbortController();
  const { fromNodeProviderChain } = await import("@aws-sdk/credential-providers");
  const refused = endingPrograms(gone.signal, fromNodeProviderChain({ ignoreCache: true })).catch(
    (error: unknown) => String(error),
  );
  const started = (): number[] =>
    existsSync(told) ? readFileSync(told, "utf8").trim().split("\n").map(Number) : [];
  await eventually(() => started().length > 0, "it hangs");
  gone.abort();
  expect(await refused).toContain("Could not load credentials");
  await eventually(() => !started().some(isAlive), "they are gone");
});

it("programs that others start meanwhile are left alone", async () => {
  const gone = new AbortController();
  const other = spawn("sleep", ["300"]);
  const own = await endingPrograms(gone.signal, () => Promise.resolve(spawn("sleep", ["300"])));
  const later = spawn("sleep", ["300"]);
  gone.abort();
  await once(own, "close");
  const ended = [other, own, later].map(({ signalCode }) => signalCode);
  other.kill();
  later.kill();
  expect(ended).toEqual([null, "SIGKILL", null]);
});

it("the identity of a removed provider is forgotten, and is let go again if the provider has come back meanwhile", () => {
  const pools = createPools();
  const identity = identityOf(cloud, pools)!;
  const release = vi.spyOn(identity, "release");
  keepOnly(new Set([identity]), pools);
  // A reload makes a new object of the same provider, which keeps its credentials.
  expect(identityOf({ ...cloud }, pools)).toBe(identity);
  keepOnly(new Set(), pools);
  expect(release).toHaveBeenCalledTimes(1);
  expect(identityOf({ ...cloud }, pools)).not.toBe(identity);
  // A call that began before still has the old object, and an older catalogue may be restored.
  expect(identityOf(cloud, pools)).toBe(identity);
  keepOnly(new Set([identity]), pools);
  keepOnly(new Set(), pools);
  expect(release).toHaveBeenCalledTimes(2);
});
