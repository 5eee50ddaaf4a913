/** Credentials of clouds as their vendors' libraries give them: how long they are used, and when they are read again. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import { hourMs } from "../../src/base/durations.ts";
import { awsKeys } from "../../src/upstream/identity/aws.ts";
import { googleHeaders } from "../../src/upstream/identity/google.ts";

const directory = mkdtempSync(join(tmpdir(), "tollgate-credentials-"));
afterAll(() => rmSync(directory, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const account = JSON.stringify({
  type: "service_account",
  client_email: "gateway@project.iam.gserviceaccount.com",
  private_key_id: "k",
  private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
});

it("a token that a service account signed itself is used until the date in it, not signed anew for each call", async () => {
  const { expiresMs } = await googleHeaders({ type: "google", serviceAccountKey: account });
  expect(expiresMs - Date.now()).toBeGreaterThan(hourMs / 2);
  expect(expiresMs - Date.now()).toBeLessThanOrEqual(hourMs + 1000);
});

const dialRoutes = { dialRoute: () => ({ name: "" }) };
const profile = {
  type: "aws",
  region: "us-east-1",
  service: "bedrock",
  profile: "models",
} as const;

it("a profile's keys are read again from its file, which another program has rotated or only now written", async () => {
  const file = join(directory, "credentials");
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", file);
  vi.stubEnv("AWS_CONFIG_FILE", join(directory, "none"));
  const secretsNow = async (): Promise<readonly string[]> =>
    (await awsKeys(profile, dialRoutes)).value.secrets;
  await expect(secretsNow()).rejects.toThrow("Could not load credentials");
  for (const secret of ["first-secret", "second-secret"]) {
    writeFileSync(file, `[models]\naws_access_key_id = AKID\naws_secret_access_key = ${secret}\n`);
    expect(await secretsNow()).toEqual([secret]);
  }
});
