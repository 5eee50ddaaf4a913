/** The libraries of clouds are loaded before the first call, and only by gateways that use them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { adminToken, call } from "../admin/support.ts";
import { start, useDirectory } from "../operation/support.ts";
import { eventually } from "../support/patience.ts";
import { preparedDataDir } from "../support/postgres.ts";
import { fileOf } from "./support.ts";

const directory = useDirectory();
const config = join(directory, "tollgate.yaml");
const hook = new URL("loads.ts", import.meta.url).href;

const providers = {
  plain: "id: plain, dialect: openai, base_url: http://127.0.0.1:9/v1, api_key: x",
  bedrock:
    "id: bedrock, dialect: bedrock, base_url: http://127.0.0.1:9, auth: { type: aws, region: us-east-1, service: bedrock }",
};
type Provider = keyof typeof providers;

const protocols = { plain: "chat", bedrock: "converse" } as const;

function configure(provider: Provider): void {
  const offers = [{ provider, protocol: protocols[provider] }];
  const model = { id: "acme/talk", upstreamModel: "n", offers };
  writeFileSync(config, fileOf([providers[provider]], [model]));
}

/** Adds a provider with a service account over the management API. */
async function addVertex(url: string): Promise<void> {
  const account = { type: "service_account", client_email: "a@b.iam", private_key: "-" };
  const { status, text } = await call(url, "POST", "/providers", {
    token: adminToken,
    body: {
      id: "vertex",
      dialect: "vertex",
      base_url: "https://8.8.8.8/v1/projects/p/locations/l",
      auth: { type: "google", service_account_key: JSON.stringify(account) },
    },
  });
  expect([status, text]).toEqual([201, expect.any(String)]);
}

it("cloud libraries are loaded only for configured providers, when the file or the management API names them", async () => {
  const loads = join(directory, "loads");
  writeFileSync(loads, "");
  const loaded = (): string[] => readFileSync(loads, "utf8").split("\n").filter(Boolean);
  configure("plain");
  const gateway = await start({
    TOLLGATE_DATA_DIR: await preparedDataDir(),
    TOLLGATE_CONFIG: config,
    TEST_LOADS: loads,
    NODE_OPTIONS: `--import=${hook}`,
    TOLLGATE_ADMIN_TOKEN: adminToken,
  });
  expect(loaded()).toEqual([]);
  await addVertex(gateway.url);
  await eventually(() => loaded().includes("google-auth-library"), "Google's library is loaded");
  expect(loaded()).toEqual(["google-auth-library"]);
  configure("bedrock");
  const aws = ["@smithy/signature-v4", "@smithy/eventstream-codec"];
  await eventually(() => aws.every((name) => loaded().includes(name)), "AWS's are loaded");
  expect(loaded().some((name) => name.startsWith("@azure"))).toBe(false);
  expect(await gateway.stop()).toBe(0);
});
