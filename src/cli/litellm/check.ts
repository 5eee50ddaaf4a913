/** Our own check of what was converted: of a provider alone, and of the whole file. */
import type * as Yaml from "yaml";
import { later } from "../../base/later.ts";
import { checkConfig, type Mistake } from "../../catalog/index.ts";

const yaml = later<typeof Yaml>("yaml");

/** A document as the file's text. */
export const fileText = (document: object): string => yaml().stringify(document, { lineWidth: 0 });

/** The mistakes of a text, with an address in each variable that an address begins with, and a word in the others. */
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

/** The field of a provider that the check refuses, such as `base_url`; undefined for a sound one. */
export function providerFault(row: Readonly<Record<string, unknown>>): string | undefined {
  const [mistake] = mistakesOf(fileText({ providers: [{ id: "one", ...row }] }));
  return mistake?.path.replace(/^providers\[0\]\.?/, "");
}
