/** Shared by the tests of single steps of a call: a catalogue from the text of a file, a caller, and a call. */
import { systemClock } from "../../src/base/clock.ts";
import { ByteBudget, type ByteLease } from "../../src/base/byte-budget.ts";
import { startRecord, type CallRecord } from "../../src/calls/record.ts";
import type { InFlightCall } from "../../src/calls/in-flight.ts";
import { Health } from "../../src/routing/index.ts";
import type { Caller } from "../../src/tenancy/index.ts";

/** A provider as a row of YAML. */
export const providerRow = (id: string, url = "https://api.example.com/v1"): string =>
  `  - { id: ${id}, dialect: openai-compatible, base_url: "${url}", api_key: key-of-${id}, tier: community }`;

/** A text model as rows of YAML. Each offer is in flow style, without a price unless it has its own. */
export const textRow = (id: string, offers: readonly string[], more = ""): string => `
  - id: ${id}
    kind: text
    context_length: 100000
    max_output_tokens: 8000
    ${more}
    offers:
${offers.map((offer) => `      - { upstream_model: up, ${offer} }`).join("\n")}`;

export const price = (usd: string): string => `price: { input: "${usd}", output: "${usd}" }`;

export const newHealth = (): Health =>
  new Health({ clock: systemClock, nowMs: () => 0, random: () => 0 });

const layer = { modelAllowlist: [], routing: { mode: "inherit" } };

/** A caller that may call everything. */
export const anyCaller = {
  keyId: "key_1",
  workspaceId: "ws_1",
  organizationId: null,
  memberId: null,
  keyRotation: 0,
  expiresAt: null,
  limits: [],
  allowRequestOverride: true,
  organization: null,
  workspace: layer,
  key: layer,
} as unknown as Caller;

/** The lease of `bytes` that a call holds of a large budget. */
export function leaseOf(bytes: number): ByteLease {
  const lease = new ByteBudget(2 ** 30).lease();
  lease.add(bytes);
  return lease;
}

/** The record of a chat completions call that began at `startedMs`. */
export const recordAt = (startedMs: number): CallRecord =>
  startRecord({
    id: "req_1",
    startedMs,
    protocol: "chat",
    stream: false,
    workspaceId: "ws_1",
    keyId: "key_1",
    model: "acme/talk",
  });

/** An entry of the list of calls in flight. */
export const callUnderWay = (id: string, stop?: (isLast: boolean) => void): InFlightCall => ({
  id,
  stoppable: stop && { stop },
  place: -1,
});
