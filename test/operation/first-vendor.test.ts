/** The first minutes with a vendor's key or a configuration file: there is credit, and the printed call works. docs/operate.md. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  environmentCatalog,
  endpointProtocol,
  type EndpointName,
} from "../../src/catalog/index.ts";
import { banner, exampleCall } from "../../src/cli/banner.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { startSandbox, type Sandbox } from "../../sandbox/index.ts";
import { startTestGateway } from "../support/gateway.ts";

let vendors: Sandbox;
beforeAll(async () => (vendors = await startSandbox({ host: "127.0.0.1", port: 0 })));
afterAll(() => vendors.close());

/** A file with an expensive model, and a cheap one at one entry point only. */
const config = (dialect: string, path: string, endpoint: EndpointName): string => `
providers:
  - { id: vendor, dialect: ${dialect}, base_url: "${vendors.url}/${path}", api_key: sandbox-key, tier: official }
models:
  - id: acme/large
    kind: text
    context_length: 200000
    max_output_tokens: 8000
    offers: [{ provider: vendor, protocol: ${endpointProtocol[endpoint]}, upstream_model: large, price: { input: "9", output: "90" } }]
  - id: acme/talk
    kind: text
    endpoints: [${endpoint}]
    context_length: 200000
    max_output_tokens: 8000
    offers: [{ provider: vendor, protocol: ${endpointProtocol[endpoint]}, upstream_model: talk, price: { input: "1", output: "2" } }]
`;

const run = async (text: string): Promise<string> => {
  const [line] = /^curl .*$/m.exec(text)!;
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", `${line} --silent --include`]);
  return stdout;
};

describe("a first start with a configuration file", () => {
  it.each([
    ["openai", "openai/v1", "chat_completions"],
    ["openai", "openai/v1", "responses"],
    ["anthropic", "anthropic/v1", "messages"],
    ["google", "google/v1beta", "generate_content"],
  ] as const)(
    "%s at %s: the curl line for %s is answered with 200",
    async (dialect, path, endpoint) => {
      const gateway = await startTestGateway({
        config: config(dialect, path, endpoint),
        // The default.
        environment: { TOLLGATE_INITIAL_CREDIT: "" },
      });
      const text = banner(gateway, 1, "data");
      expect(text).toMatch(/Credit\s+\$100;/);
      expect(text).toMatch(/Models\s+acme\/large, acme\/talk \(/);
      const answer = await run(text);
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(vendors.journal.list().at(-1)!.status).toBe(200);
      expect(JSON.stringify(vendors.journal.list().at(-1))).toContain("talk");
      await gateway.close();
    },
  );

  it("TOLLGATE_INITIAL_CREDIT sets the first credit; with 0 the first call gets 402", async () => {
    const file = config("openai", "openai/v1", "chat_completions");
    const some = await startTestGateway({
      config: file,
      environment: { TOLLGATE_INITIAL_CREDIT: "2.50" },
    });
    expect(some.first!.credit).toBe("2.5");
    const [{ credits } = { credits: "" }] = await some.database.query<{ credits: string }>(
      "select credits_nano::text as credits from ledger_accounts where credits_nano > 0",
    );
    expect(credits).toBe("2500000000");
    await some.close();
    const none = await startTestGateway({
      config: file,
      environment: { TOLLGATE_INITIAL_CREDIT: "0" },
    });
    const text = banner(none, 1, "data");
    expect(text).toMatch(/Credit\s+\$0; more with npx tollgate credits add/);
    expect(await run(text)).toMatch(/^HTTP\/1\.1 402 /);
    await none.close();
  });

  // The last one exceeds the largest credit: the start would make the first key, and end before it showed the key.
  it.each(["-1", "1e3", "lots", "0.0000000001", "10000000.000000001"])(
    "TOLLGATE_INITIAL_CREDIT=%s is refused",
    (text) => {
      expect(() => readEnvironment({ TOLLGATE_INITIAL_CREDIT: text })).toThrow(
        `TOLLGATE_INITIAL_CREDIT is "${text}"`,
      );
    },
  );
});

describe("a vendor's key in the environment", () => {
  it.each([
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "XAI_API_KEY",
    "DASHSCOPE_API_KEY",
    "ARK_API_KEY",
  ])("%s: the printed call names a model of that vendor at an entry point it has", (variable) => {
    const catalog = environmentCatalog({ [variable]: "a-key" });
    const call = exampleCall(catalog)!;
    expect(call.path).toBe("/v1/chat/completions");
    const model = catalog.models.get((call.body as { model: string }).model)!;
    expect(model.kind === "text" && model.endpoints).toContain("chat_completions");
  });
});
