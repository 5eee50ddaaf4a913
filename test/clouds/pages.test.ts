/** The pages on clouds, followed word by word with the simulated vendors. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { checkConfig, formatMistakes } from "../../src/catalog/index.ts";
import { useCloud } from "./support.ts";

const pages = ["azure", "vertex", "bedrock"];

/** The first code block of a language. */
const block = (page: string, language: string): string =>
  new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page)![1]!;

const exportsOf = (page: string, sandboxUrl: string): Record<string, string> =>
  Object.fromEntries(
    [...block(page, "sh").matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [
      name!,
      value!
        .replace("http://127.0.0.1:8081", sandboxUrl)
        .replace("127.0.0.1:8081", new URL(sandboxUrl).host),
    ]),
  );

interface File {
  readonly models: readonly { id: string; offers: readonly { provider: string }[] }[];
}

describe.each(pages)("docs/%s.md", (name) => {
  const page = readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), "utf8");
  const config = block(page, "yaml");
  const cloud = useCloud(
    () => config,
    (url) => exportsOf(page, url),
  );

  const offers = (parse(config) as File).models.flatMap(({ id, offers: all }) =>
    all
      // Azure's library keeps the first machine identity of a process for good, so azure.test.ts tests it.
      .filter(({ provider }) => provider !== "azure-identity")
      .map(({ provider }) => [id, provider] as const),
  );

  it("has a valid configuration", () => {
    const result = checkConfig(config, { environment: exportsOf(page, "http://127.0.0.1:1") });
    expect("mistakes" in result ? formatMistakes(result.mistakes) : "").toBe("");
  });

  it.each(offers)("%s is answered by %s", async (model, provider) => {
    const answer = await cloud.gateway.post("/v1/chat/completions", {
      model: `${model}:${provider}`,
      messages: [{ role: "user", content: "Hi" }],
    });
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 200,
      body: { model, choices: [{ finish_reason: "stop" }] },
    });
    const id = answer.headers.get("x-request-id");
    const logged = await cloud.world.logged((row) => row.id === id);
    expect(logged).toMatchObject({ status: "succeeded", usage_source: "upstream", provider });
  });
});
