/** A configuration that is not YAML: the error names the place and shows nothing of the file, which contains keys. */
import { expect, it } from "vitest";
import { parseLitellm } from "../../src/cli/litellm/file.ts";
import { mistakesIn } from "../support/config-text.ts";

const row = "providers:\n  - id: a\n";

it("a token out of place is one mistake, whatever follows it", () => {
  const text = `${row}    paths: {chat: /a/{model}/c}\n    api_key: sk-77412\nmodels: []\nlimits: {}`;
  expect(mistakesIn(text, {})).toEqual([
    "tollgate.yaml:3:22 not valid YAML: Unexpected flow-map-start at node end; mend this place, or put the value in quotes; what follows was not read",
  ]);
});

it.each([
  "{a: /b/{c}/d}\n    api_key: sk-77412",
  "/{a}/{b}\n  } api_key: sk-77412",
  "*sk-77412",
  "|sk-77412",
  "]\nsk-77412",
  "!!sk-77412 a",
])("the mistake quotes no key of the file: %j", (value) => {
  const text = `${row}    paths: ${value}\n`;
  expect(mistakesIn(text, {})).not.toEqual([]);
  expect(mistakesIn(text, {}).join("\n")).not.toContain("77412");
});

it("the mistake of a LiteLLM file quotes no key either", () => {
  const refusal = (text: string): string => {
    try {
      parseLitellm(text, "config.yaml");
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  for (const value of ["|sk-77412", "*sk-77412"]) {
    const message = refusal(`model_list:\n  - api_key: ${value}\n`);
    expect(message).toMatch(/^config\.yaml is not valid YAML: ./);
    expect(message).not.toContain("77412");
  }
});
