/** `tollgate doctor` on a provider with the identity of a cloud that gives no credential. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import type { Auth } from "../../src/catalog/index.ts";
import { checkProvider } from "../../src/cli/doctor/providers.ts";
import { createPools } from "../../src/upstream/index.ts";
import { provider } from "../upstream/media-support.ts";

afterEach(() => vi.unstubAllEnvs());

it.each<[string, Auth, RegExp]>([
  [
    "bedrock",
    { type: "aws", region: "us-east-1", service: "bedrock", profile: "no-such-profile" },
    /no-such-profile/,
  ],
  ["vertex", { type: "google", serviceAccountKey: "/nowhere/key.json" }, /ENOENT/],
])("the advice for %s is about its auth, not about its address", async (page, auth, reason) => {
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere/credentials");
  vi.stubEnv("AWS_CONFIG_FILE", "/nowhere/config");
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pools = createPools();
  const access = { auth, headers: {}, query: {}, paths: {}, request: { add: {}, remove: [] } };
  const findings = await checkProvider(pools, { ...provider("bedrock", url), access });
  await pools.close();
  server.close();
  expect(findings.at(-1)).toMatchObject({
    status: "failed",
    message: expect.stringMatching(reason),
    fix: expect.stringContaining(`docs/${page}.md`),
  });
});
