/** The libraries of clouds are there before the first call, and a token that is there is given without a wait. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { fileOf } from "./support.ts";

const loaded: string[] = [];
const noted = vi.hoisted(() => (name: string) => async (original: () => Promise<object>) => {
  const real = await original();
  (globalThis as unknown as { clouds?: string[] }).clouds?.push(name);
  return { ...real };
});
// The real libraries: only that they were asked for is noted.
vi.mock("google-auth-library", noted("google-auth-library"));
vi.mock("@smithy/signature-v4", noted("@smithy/signature-v4"));
vi.mock("@smithy/eventstream-codec", noted("@smithy/eventstream-codec"));

let gateway: GatewayUnderTest;

const providers = {
  plain: "id: plain, dialect: openai, base_url: http://127.0.0.1:9/v1, api_key: x",
  vertex:
    'id: vertex, dialect: vertex, base_url: "http://127.0.0.1:9/v1/projects/p/locations/l", auth: { type: google }',
  bedrock:
    "id: bedrock, dialect: bedrock, base_url: http://127.0.0.1:9, auth: { type: aws, region: us-east-1, service: bedrock }",
};
const offered = (provider: string, protocol: string) => ({
  id: "acme/talk",
  upstreamModel: "n",
  offers: [{ provider, protocol }],
});

// What an earlier file of this process began to load may come while this one runs: each try counts from nothing.
beforeEach(async () => {
  loaded.length = 0;
  (globalThis as unknown as { clouds?: string[] }).clouds = loaded;
  gateway = await startTestGateway({
    config: fileOf([providers.plain], [offered("plain", "chat")]),
  });
});
afterEach(() => gateway.close());

it("only those that a provider needs are loaded, at the start or when the file changes", async () => {
  expect(loaded).toEqual([]);
  const path = join(gateway.directory, "tollgate.yaml");
  writeFileSync(path, fileOf([providers.vertex], [offered("vertex", "generate_content")]));
  await eventually(() => loaded.includes("google-auth-library"), "Google's library is loaded");
  expect(loaded).toEqual(["google-auth-library"]);
  await gateway.close();
  gateway = await startTestGateway({
    config: fileOf([providers.bedrock], [offered("bedrock", "converse")]),
  });
  await eventually(() => loaded.length === 3, "AWS's libraries are loaded");
  expect(loaded.slice(1)).toEqual(["@smithy/signature-v4", "@smithy/eventstream-codec"]);
});
