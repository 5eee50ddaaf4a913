/**
 * Every member of a whole answer in the vendors' SDK types, at every place. It changes the answer for callers of other protocols,
 * or a table gives the reason why it is lost. New members of newer SDKs need a decision there. CONV-701 to CONV-717.
 */
import { describe, expect, it } from "vitest";
import { noUsage } from "../../src/base/usage.ts";
import { protocolNames, type JsonObject, type ProtocolName } from "../../src/protocols/index.ts";
import { routeOf } from "../conversion/route.ts";
import { requestWith } from "../conversion/tool-wire.ts";
import { answerCases } from "./answers.ts";
import { lostIn, lostOfAnswers } from "./lost.ts";

/** Converts an answer for a caller. Returns the converted answer or its failure, as text. */
function givenBy(caller: ProtocolName, upstream: ProtocolName): (answer: unknown) => string {
  const route = routeOf(caller, upstream, requestWith[caller]("look"));
  return (said) => {
    const answer = structuredClone(said) as JsonObject;
    const failure = route.failure(answer);
    if (failure) return JSON.stringify(failure);
    return JSON.stringify([route.usage(answer), route.answer(answer, [], noUsage)]);
  };
}

describe.each(protocolNames)("the members of an answer of %s", (upstream) => {
  const cases = answerCases(upstream);
  const reasons = lostOfAnswers[upstream];
  const isLost = lostIn(reasons);
  const open = cases.filter(({ place }) => !isLost(place));
  it("are read from its SDK types", () => {
    expect(open.length).toBeGreaterThan(4);
  });

  const callers = protocolNames.filter((name) => name !== upstream);

  it("stand in the table of losses only if they are lost", () => {
    const lostCases = callers.flatMap((caller) => {
      const given = givenBy(caller, upstream);
      const same = cases.filter((one) => given(one.with) === given(one.without));
      return same.map(({ place }) => ({ place, caller }));
    });
    const idle = reasons.filter(
      ([, places, only]) =>
        !lostCases.some(({ place, caller }) => (only ?? caller) === caller && places.test(place)),
    );
    expect(idle.map(([why]) => why)).toEqual([]);
  });

  it.each(callers)("reach the caller, or stand in the table of losses (%s)", (caller) => {
    const given = givenBy(caller, upstream);
    const lostCases = open.filter(
      (one) => !isLost(one.place, caller) && given(one.with) === given(one.without),
    );
    const places = lostCases.map(({ place, value }) => `${place}: ${JSON.stringify(value)}`);
    expect([...new Set(places)]).toEqual([]);
  });
});
