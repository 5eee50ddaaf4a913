/** Each SDK on its own protocol, with its calls converted through the canonical form: the SDK sees no difference. CONV. */
import { describe, it } from "vitest";
import {
  failsAs,
  failureNames,
  leavesInMidStream,
  scenarios,
  stopsAtSequence,
} from "../sdk/scenarios.ts";
import { useWorld } from "../sdk/support.ts";
import { protocols, sdks, systemOf, worldOf } from "./support.ts";

describe("calls within one protocol that are converted anyway", () => {
  const world = useWorld({ forceConversion: true });

  describe.each(protocols)("%s", (protocol) => {
    const sdk = { ...sdks[protocol], system: (text: string) => systemOf(protocol, text) };
    const targetWorld = () => worldOf(world, protocol);

    it.each(scenarios)("$title", ({ run }) => run(targetWorld(), sdk));
    it("leaving in mid-stream stops the upstream at once and is charged", () =>
      leavesInMidStream(targetWorld(), sdk));
    it.each(failureNames)("%s is thrown as the SDK's own error", (name) =>
      failsAs(targetWorld(), sdk, name),
    );
  });

  const stopping = protocols.filter((protocol) => protocol !== "responses");
  it.each(stopping)("%s: stop sequences end the text", (protocol) =>
    stopsAtSequence(worldOf(world, protocol), sdks[protocol]),
  );
});
