/** The model that a name in an allowlist may mean. docs/management.md. */
import { expect, it } from "vitest";
import { meantModel } from "../../src/routing/index.ts";
import { catalogOf, offer } from "./support.ts";

const plain = catalogOf([offer("a", "1")]);
const talk = plain.models.get("acme/talk")!;
const catalog = {
  ...plain,
  models: new Map([
    ["acme/talk", { ...talk, aliases: ["chatty", "gpt-*"] }],
    ["acme/other", { ...talk, id: "acme/other" }],
  ]),
  defaultModel: "acme/other",
};

it.each([
  ["an alias", "chatty", { id: "acme/talk", isAlias: true }],
  ["a name that matches a pattern", "gpt-5.5", { id: "acme/talk", isAlias: true }],
  ["a pattern", "gpt-*", { id: "acme/talk", isAlias: true }],
  ["another spelling", "ACME/Talk", { id: "acme/talk", isAlias: false }],
  ["an id without its vendor", "talk", { id: "acme/talk", isAlias: false }],
  ["swapped letters", "acme/tlak", { id: "acme/talk", isAlias: false }],
  ["an unknown name", "nope/nope", undefined],
])(
  "ALLOW-01: the model that a name may mean is found, if there is one: %s, %s",
  (_what, name, meant) => {
    expect(meantModel(name, catalog)).toEqual(meant);
    // The second lookup gives the same.
    expect(meantModel(name, catalog)).toEqual(meant);
  },
);
