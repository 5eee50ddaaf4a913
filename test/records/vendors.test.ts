/** Every built-in model, and every parameter of every protocol: only what the record allows is sent. docs/models.md; MODELS-07, ERR-12. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownModels } from "../../src/catalog/vendors.ts";
import { protocolNames } from "../../src/protocols/index.ts";
import { shortOrLong } from "../support/long.ts";
import { faultsOf } from "./allows.ts";
import { anyRequest, fullRequest } from "./requests.ts";
import { faultsSent, routeOf } from "./sent.ts";

/** Our own records. list.test.ts tests those of the public list. */
const models = ["openai", "anthropic", "google", "xai", "dashscope", "ark"].flatMap(ownModels);
const offers = models.flatMap((model) => model.offers.map((offer) => [model, offer] as const));

describe.each(offers)("$id", (model, { protocol }) => {
  it.each(protocolNames)(
    "receives only what its record allows from a request with every parameter of %s, and dropped ones are reported",
    (caller) => {
      const { route, notes } = routeOf(model, [caller, protocol], fullRequest(caller));
      expect(faultsOf(protocol, route.body, model)).toEqual([]);
      // The gateway reports every part that its own vendor would refuse and that was not sent. Faults without a space are names.
      const refused = caller === protocol ? faultsOf(protocol, fullRequest(caller), model) : [];
      const names = refused.filter((fault) => !fault.includes(" "));
      expect(notes.map(({ param }) => param)).toEqual(expect.arrayContaining(names));
    },
  );

  it.each(protocolNames)(
    "receives only what its record allows from requests with random parameters of %s",
    (caller) => {
      fc.assert(
        fc.property(anyRequest(caller), (body) => {
          expect(faultsSent(model, [caller, protocol], body)).toEqual([]);
        }),
        { numRuns: shortOrLong(60, 2000) },
      );
    },
  );
});

describe("the records of the built-in models", () => {
  it("state the modalities and the reasoning of every model", () => {
    const incomplete = models.filter(
      ({ reasoning, inputModalities, outputModalities }) =>
        !reasoning || !inputModalities || !outputModalities,
    );
    expect(models.length).toBeGreaterThan(5);
    expect(incomplete.map(({ id }) => id)).toEqual([]);
  });
});
