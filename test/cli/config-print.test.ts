/** `config print` as a person uses it: its output passes the check, and a gateway started from it is the same. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { startTestGateway } from "../support/gateway.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-print-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const adminToken = "admin-token-of-the-print-test";

/** Models and providers that a gateway with this environment serves, without the origin of their settings. */
async function served(environment: Record<string, string>): Promise<unknown[]> {
  const gateway = await startTestGateway({
    environment: { ...environment, TOLLGATE_ADMIN_TOKEN: adminToken, TOLLGATE_SANDBOX: "" },
  });
  try {
    return await Promise.all(
      ["models", "providers"].map(async (path) => {
        const response = await fetch(`${gateway.url}/admin/v1/${path}`, {
          headers: { authorization: `Bearer ${adminToken}` },
        });
        expect(response.status).toBe(200);
        const { data } = (await response.json()) as { data: Record<string, unknown>[] };
        const where = new Set(["source", "source_line"]);
        const text = JSON.stringify(data, (name, value: unknown) =>
          where.has(name) ? undefined : value,
        );
        return JSON.parse(text) as unknown;
      }),
    );
  } finally {
    await gateway.close();
  }
}

async function printed(
  environment: Record<string, string>,
): Promise<{ file: string; said: string }> {
  const { code, stdout, stderr } = await tollgateHere(["config", "print"], environment);
  expect(code).toBe(0);
  const file = join(directory, `printed-${Math.random()}.yaml`);
  writeFileSync(file, stdout);
  return { file, said: stderr };
}

it.each(["vendors of the environment", "a file"])(
  "a printed configuration passes the check and serves the same in the same environment: %s",
  async (kind) => {
    const file = join(directory, "first.yaml");
    writeFileSync(
      file,
      `providers:
  - id: acme
    dialect: openai-compatible
    base_url: \${ACME_URL}
    credentials: [{ id: a, api_key: \${ACME_KEY}, weight: 2 }, { id: b, api_key: \${OPENAI_API_KEY} }]
models:
  - { id: acme/talk, name: "\${TALK_NAME:-Talk: it's #1}", kind: text, context_length: 1000, max_output_tokens: 100, offers: [
      { provider: acme, protocol: chat, upstream_model: m, price: { input: "1", output: "2" } }] }
  - { id: acme/a, kind: image, family: image-a, offers: [{ provider: acme, upstream_model: a,
      price: { input: "5", image_input: "8", output: "10", image_output: "30" } }] }
`,
    );
    const environment = {
      OPENAI_API_KEY: "sk-openai-0123456789",
      GEMINI_API_KEY: "gemini-0123456789",
      ACME_URL: "http://127.0.0.1:9/v1",
      ACME_KEY: "acme-0123456789",
      TOLLGATE_CONFIG: kind === "a file" ? file : "",
    };
    const before = await served(environment);
    const { file: again, said } = await printed(environment);
    expect(said).toBe("");
    const withFile = { ...environment, TOLLGATE_CONFIG: again };
    const { code } = await tollgateHere(["config", "check"], withFile);
    expect(code).toBe(0);
    expect(await served(withFile)).toEqual(before);
    expect(JSON.stringify(before)).toContain(kind === "a file" ? "acme/talk" : "openai/gpt");
  },
);

it("a literal key in the file is masked, reported on standard error, and the masked key is refused by check and start", async () => {
  const file = join(directory, "literal.yaml");
  writeFileSync(
    file,
    "providers: [{ id: p, dialect: openai, base_url: https://x/v1, api_key: sk-literal-0123 }]\n",
  );
  const environment = { TOLLGATE_CONFIG: file, TOLLGATE_DATA_DIR: join(directory, "none") };
  const { file: again, said } = await printed(environment);
  expect(said).toContain("masked, because the file itself holds them: providers[0].api_key.");
  for (const words of [["config", "check"], ["serve"]]) {
    const { code, stderr } = await tollgateHere(words, { ...environment, TOLLGATE_CONFIG: again });
    expect({ words, code }).toEqual({ words, code: 2 });
    expect(stderr).toMatch(/providers\[0\]\.api_key: is a masked key, .*; write the key itself/);
  }
});

it("a header with a variable after its scheme is printed unmasked, and the printed file is valid", async () => {
  const file = join(directory, "collector.yaml");
  const header = 'authorization: "Bearer ${COLLECTOR_TOKEN}"';
  writeFileSync(
    file,
    `telemetry: { otlp_endpoint: https://x/otlp, otlp_headers: { ${header} } }\n`,
  );
  const environment = { COLLECTOR_TOKEN: "collector-0123456789", TOLLGATE_CONFIG: file };
  const { file: again, said } = await printed(environment);
  expect([said, readFileSync(again, "utf8")]).toEqual([
    "",
    expect.stringMatching(/authorization: "?Bearer \$\{COLLECTOR_TOKEN\}/),
  ]);
  const { code } = await tollgateHere(["config", "check"], {
    ...environment,
    TOLLGATE_CONFIG: again,
  });
  expect(code).toBe(0);
});

it("config print mentions the sandbox's models, which no file can contain", async () => {
  const environment = { TOLLGATE_DATA_DIR: join(directory, "none"), OPENAI_API_KEY: "" };
  const { stdout } = await tollgateHere(["config", "print"], environment);
  expect(stdout).toMatch(/^# Beside this the sandbox's models are served\./);
});
