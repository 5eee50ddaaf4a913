/** Checks converted configuration with our own check: a single provider, or the whole file. */
import type * as Yaml from "yaml";
import { lazyRequire } from "../../base/lazy-require.ts";
import { checkConfig, type Mistake } from "../../catalog/index.ts";

const yaml = lazyRequire<typeof Yaml>("yaml");

/** Returns a document as the file's text. */
export const yamlText = (document: object): string => yaml().stringify(document, { lineWidth: 0 });

/** Returns the mistakes in a text. Variables that begin a `base_url` are checked as an address, all others as a word. */
export function mistakesOf(config: string): readonly Mistake[] {
  const names = [...config.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!);
  const environment = Object.fromEntries(
    names.map((name) => [
      name,
      config.includes(`base_url: \${${name}}`) ? "https://example.com/v1" : "value",
    ]),
  );
  const result = checkConfig(config, { environment });
  return "mistakes" in result ? result.mistakes : [];
}

/** Returns the field of a provider that the check refuses, such as `base_url`; undefined for a valid one. */
export function providerFault(row: Readonly<Record<string, unknown>>): string | undefined {
  const [mistake] = mistakesOf(yamlText({ providers: [{ id: "one", ...row }] }));
  return mistake?.path.replace(/^providers\[0\]\.?/, "");
}
