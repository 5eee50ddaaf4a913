/** Every model of the list of a vendor that has a preset, and every parameter of every protocol. docs/models.md; MODELS-07, ERR-12. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  environmentCatalog,
  listedModels,
  shippedList,
  vendorRows,
  type Model,
  type TextModel,
} from "../../src/catalog/index.ts";
import { presetsIn } from "../../src/catalog/presets.ts";
import { protocolNames } from "../../src/protocols/index.ts";
import { shortOrLong } from "../support/long.ts";
import { anyRequest, fullRequest } from "./requests.ts";
import { faultsSent } from "./sent.ts";

/** The variables of all vendors. */
const variables = presetsIn({}).flatMap(({ variable, missing }) => [variable, ...missing]);
const environment = Object.fromEntries(variables.map((name) => [name, "key"]));
const isText = (model: Model): model is TextModel => model.kind === "text";
const models = [...environmentCatalog(environment).models.values()].filter(isText);

describe("the models of the public list", () => {
  it("are more than 3,000, of every vendor for which the list has prices", () => {
    expect(models.length).toBeGreaterThan(3_000);
    const vendors = new Set(vendorRows().map(({ id }) => id));
    const priced = listedModels(shippedList(), vendors).filter(({ price }) => price !== undefined);
    const served = new Set(models.flatMap(({ offers }) => offers.map(({ provider }) => provider)));
    expect(served.size).toBeGreaterThan(100);
    expect(priced.filter(({ vendor }) => !served.has(vendor))).toEqual([]);
  });

  it.each(protocolNames)(
    "receive only what their record allows from a request with every parameter of %s",
    (caller) => {
      const faults = models.flatMap((model) =>
        model.offers.flatMap(({ protocol }) =>
          faultsSent(model, [caller, protocol], fullRequest(caller)).map(
            (fault) => `${model.id}: ${fault}`,
          ),
        ),
      );
      expect(faults).toEqual([]);
    },
  );

  it.each(protocolNames)(
    "receive only what their record allows from requests with random parameters of %s",
    (caller) => {
      fc.assert(
        fc.property(fc.constantFrom(...models), anyRequest(caller), (model, body) => {
          for (const { protocol } of model.offers)
            expect({ [model.id]: faultsSent(model, [caller, protocol], body) }).toEqual({
              [model.id]: [],
            });
        }),
        { numRuns: shortOrLong(2_000, 100_000) },
      );
    },
  );
});
