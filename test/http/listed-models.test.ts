/** The lists of models for callers without a key: AUTH-06, MODELS. The gateway builds each list only once. */
import { expect, it } from "vitest";
import { listModels } from "../../src/calls/index.ts";
import type { Catalog } from "../../src/catalog/index.ts";
import {
  anthropicShape,
  geminiShape,
  publicModelLists,
  openShape,
} from "../../src/http/text/model-lists.ts";
import { catalogIn } from "../support/config-text.ts";
import { price, providerRow, textRow } from "../calls/support.ts";

const catalogWith = (id: string): Catalog =>
  catalogIn(
    [
      "providers:",
      providerRow("first"),
      "models:",
      textRow(id, [`provider: first, protocol: chat, ${price("1")}`]),
    ].join("\n"),
  );

const idsIn = (bytes: Buffer): unknown =>
  (JSON.parse(bytes.toString()) as { data: { id: string }[] }).data.map(({ id }) => id);

it("AUTH-06: a list is built once for all callers without a key, and again for a new catalogue", () => {
  const lists = publicModelLists();
  const catalog = catalogWith("acme/talk");
  const first = lists(catalog, openShape);
  expect(JSON.parse(first.toString())).toEqual({
    object: "list",
    data: JSON.parse(JSON.stringify(listModels(catalog, undefined))) as unknown,
  });
  expect(lists(catalog, openShape)).toBe(first);
  const gemini = JSON.parse(lists(catalog, geminiShape).toString()) as { models: unknown[] };
  expect(gemini.models).toMatchObject([{ name: "models/acme/talk" }]);
  expect(idsIn(lists(catalogWith("acme/other"), openShape))).toEqual(["acme/other"]);
  expect(idsIn(lists(catalog, openShape))).toEqual(["acme/talk"]);
});

it("Anthropic's list shows a model's deprecation, also for aliases, and falls back to 1970 for an impossible creation time", () => {
  const offer = `provider: first, protocol: chat, ${price("1")}`;
  const catalog = catalogIn(
    [
      "providers:",
      providerRow("first"),
      "models:",
      textRow("acme/old", [offer]),
      "    aliases: [older]",
      "    lifecycle: { stage: deprecated, retires_at: 2027-06-01 }",
      textRow("acme/odd", [offer]),
      "    created: 9007199254740991",
      "    lifecycle: { stage: preview }",
    ].join("\n"),
  );
  const { data } = JSON.parse(publicModelLists()(catalog, anthropicShape).toString()) as {
    data: unknown[];
  };
  const old = { lifecycle: "deprecated", retires_at: "2027-06-01T00:00:00.000Z" };
  expect(data).toMatchObject([
    { id: "acme/old", ...old },
    { id: "older", ...old },
    {
      id: "acme/odd",
      lifecycle: "active",
      retires_at: null,
      created_at: "1970-01-01T00:00:00.000Z",
    },
  ]);
});
