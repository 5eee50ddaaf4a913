/** The lists of models that strangers read: AUTH-06, MODELS. They cost the gateway nothing once they are made. */
import { expect, it } from "vitest";
import { listModels } from "../../src/calls/index.ts";
import type { Catalog } from "../../src/catalog/index.ts";
import { geminiShape, listsOfStrangers, openShape } from "../../src/http/text/listed.ts";
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

it("AUTH-06: a list is made once for all strangers, and anew with a new catalogue", () => {
  const lists = listsOfStrangers();
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
